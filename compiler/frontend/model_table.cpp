#include "compiler/frontend/tables.hpp"

namespace dtnn::compiler {

const FieldTable& model_table() {
    static const FieldTable table = {
        {.name = "kind",
         .type = FieldType::choice,
         .doc = "the kind of spec",
         .choices = {"model"},
         .optional = true},
        {.name = "name",
         .type = FieldType::text,
         .doc = "the model's name; the file's name when not given",
         .optional = true},
        {.name = "extends",
         .type = FieldType::reference,
         .doc = "a model that this one is merged over, field by field",
         .optional = true},
        {.name = "input",
         .type = FieldType::variant,
         .doc = "what the model reads: {shape: [channels, height, width]}"},
        {.name = "layers",
         .type = FieldType::layers,
         .doc = "the layers, in order; each reads the one before unless it says `from`"},
    };
    return table;
}

const FieldTable& input_table() {
    static const FieldTable table = {
        {.name = "shape",
         .type = FieldType::integer_list,
         .doc = "channels, height and width of a sample",
         .minimum = 1,
         .maximum = 65536},
    };
    return table;
}

const FieldTable& layer_table() {
    static const FieldTable table = {
        {.name = "name",
         .type = FieldType::text,
         .doc = "the layer's name, for `from`, weights and reports; made of type and number when "
                "not given",
         .optional = true},
        {.name = "from",
         .type = FieldType::text_list,
         .doc = "the layer, or the list of layers, to read instead of the one before; `input` is "
                "the model's input",
         .optional = true},
    };
    return table;
}

const FieldTable& branches_table() {
    static const FieldTable table = {
        {.name = "branches",
         .type = FieldType::branches,
         .doc = "lists of layers that all read the layer before; an empty one is identity",
         .optional = true},
    };
    return table;
}

}  // namespace dtnn::compiler
