#include "compiler/frontend/tables/tables.hpp"

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
        {.name = "description",
         .type = FieldType::text,
         .doc = "what the model is, for people",
         .optional = true},
        allow_field(),
        {.name = "parameters",
         .type = FieldType::mapping,
         .doc = "constants by name (integers, numbers, true or false, texts), in reach of every "
                "expression of the model: {depth: 18, width: 1.0}",
         .optional = true},
        {.name = "defaults",
         .type = FieldType::mapping,
         .doc = "values for fields that layers do not give, by type of layer: {conv2d: {bias: "
                "false}}",
         .optional = true},
        {.name = "input",
         .type = FieldType::variant,
         .doc = "what the model reads: {shape: [channels, height, width]}"},
        {.name = "inputs",
         .type = FieldType::mapping,
         .doc = "in place of `input`, what it reads by names that layers say in `from`: {image: "
                "{shape: [1, 28, 28]}, table: {shape: [7]}, word: {shape: [1], dtype: i32, values: "
                "1000}}; `input` is the first of them",
         .optional = true},
        {.name = "blocks",
         .type = FieldType::mapping,
         .doc = "lists of layers with parameters, by name, which layers use like operators",
         .optional = true},
        {.name = "operators",
         .type = FieldType::mapping,
         .doc = "formulas with parameters, by name, which layers use like operators: {swish: "
                "{forward: \"x * sigmoid(x)\"}}; or the names of operator specs, as a list, or "
                "under names of your own: {gate: swish_beta}",
         .optional = true},
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

const FieldTable& named_input_table() {
    static const FieldTable table = [] {
        FieldTable fields = input_table();
        fields.front().doc = "the extents of a sample; of images channels, height and width";
        const FieldTable own = {
            {.name = "dtype",
             .type = FieldType::choice,
             .doc = "what its elements are: `f32`, real numbers of the training's dtype; `i32`, "
                    "integers",
             .choices = {"f32", "i32"},
             .optional = true},
            {.name = "values",
             .type = FieldType::integer,
             .doc = "of integers: how many values they may have, from 0",
             .minimum = 1,
             .maximum = 1'000'000'000,
             .optional = true},
        };
        fields.insert(fields.end(), own.begin(), own.end());
        return fields;
    }();
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
                "the model's input, and inputs with names go by these",
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

const FieldTable& block_table() {
    static const FieldTable table = {
        {.name = "description",
         .type = FieldType::text,
         .doc = "what the block is, for people",
         .optional = true},
        {.name = "parameters",
         .type = FieldType::mapping,
         .doc = "what a use of the block gives it: {filters: integer, stride: {type: integer, "
                "default: 1}}",
         .optional = true},
        {.name = "layers",
         .type = FieldType::layers,
         .doc = "the block's layers, in order; `input` is what the block reads"},
    };
    return table;
}

const FieldTable& operator_table() {
    static const FieldTable table = {
        {.name = "kind",
         .type = FieldType::choice,
         .doc = "the kind of spec",
         .choices = {"operator"},
         .optional = true},
        {.name = "name",
         .type = FieldType::text,
         .doc = "the operator's name; the file's name when not given",
         .optional = true},
        {.name = "extends",
         .type = FieldType::reference,
         .doc = "an operator that this one is merged over, field by field",
         .optional = true},
        {.name = "description",
         .type = FieldType::text,
         .doc = "what the operator is, for people",
         .optional = true},
        {.name = "parameters",
         .type = FieldType::mapping,
         .doc = "numbers that a use gives it, by which the formula reads them: {beta: {type: real, "
                "default: 1}}; with `trainable` they are learned",
         .optional = true},
        {.name = "forward",
         .type = FieldType::text,
         .doc = "what becomes of every number x: arithmetic over x and the parameters, as in "
                "`elementwise`"},
    };
    return table;
}

const FieldTable& loss_operator_table() {
    static const FieldTable table = {
        {.name = "kind",
         .type = FieldType::choice,
         .doc = "the kind of spec; among a model's operators it tells a loss from a layer",
         .choices = {"loss"},
         .optional = true},
        {.name = "name",
         .type = FieldType::text,
         .doc = "the loss's name; the file's name when not given",
         .optional = true},
        {.name = "extends",
         .type = FieldType::reference,
         .doc = "a loss that this one is merged over, field by field",
         .optional = true},
        {.name = "description",
         .type = FieldType::text,
         .doc = "what the loss is, for people",
         .optional = true},
        {.name = "parameters",
         .type = FieldType::mapping,
         .doc = "numbers that a training gives it, by which the formula reads them: {delta: {type: "
                "real, default: 1}}",
         .optional = true},
        {.name = "forward",
         .type = FieldType::text,
         .doc = "arithmetic over every prediction p, its target t, which of labels is 0 or 1, and "
                "the parameters; the mean of it is the loss"},
        {.name = "over",
         .type = FieldType::choice,
         .fallback = std::string("elements"),
         .doc = "what the sum of all is divided by: all numbers, or the samples (of pixels: these)",
         .choices = {"elements", "rows"}},
    };
    return table;
}

const FieldTable& block_parameter_table() {
    static const FieldTable table = {
        {.name = "type",
         .type = FieldType::choice,
         .doc = "the type of its values",
         .choices = {"integer", "real", "boolean", "text", "integer_pair", "padding",
                     "initializer"}},
        {.name = "default",
         .type = FieldType::any,
         .doc = "its value in uses that do not give it; may read parameters above it and the shape "
                "of the block's input",
         .optional = true},
        {.name = "minimum",
         .type = FieldType::real,
         .doc = "the least value of a number",
         .optional = true},
        {.name = "maximum",
         .type = FieldType::real,
         .doc = "the largest value of a number",
         .optional = true},
        {.name = "doc", .type = FieldType::text, .doc = "what it is, for people", .optional = true},
    };
    return table;
}

const FieldTable& loss_parameter_table() {
    static const FieldTable table = [] {
        FieldTable fields = block_parameter_table();
        for (Field& field : fields)
            if (field.name == "type") field.choices = {"integer", "real"};
        return fields;
    }();
    return table;
}

const FieldTable& operator_parameter_table() {
    static const FieldTable table = [] {
        FieldTable fields = loss_parameter_table();
        fields.push_back({.name = "trainable",
                          .type = FieldType::choice,
                          .doc = "it is learned, beginning with its value: one number for a layer, "
                                 "or one for each channel of what the layer reads",
                          .choices = {"one", "per_channel"},
                          .optional = true});
        return fields;
    }();
    return table;
}

const FieldTable& repeat_table() {
    static const FieldTable table = {
        {.name = "times",
         .type = FieldType::integer,
         .doc = "how many times; 0 leaves the layers out. It may not depend on shapes",
         .minimum = 0},
        {.name = "layers",
         .type = FieldType::layers,
         .doc = "the layers of one repetition; the first reads the last of the repetition before"},
        {.name = "index",
         .type = FieldType::text,
         .fallback = std::string("index"),
         .doc = "the name by which expressions read the number of the repetition, from 0"},
        {.name = "name",
         .type = FieldType::text,
         .doc = "gives the layers of the repetitions names of their own, below NAME_1, NAME_2, "
                "...; without it they are numbered on",
         .optional = true},
        {.name = "from",
         .type = FieldType::text_list,
         .doc = "the layer to read instead of the one before",
         .optional = true},
    };
    return table;
}

const FieldTable& if_table() {
    static const FieldTable table = {
        {.name = "condition",
         .type = FieldType::boolean,
         .doc =
             "an expression, such as \"${stride != 1}\"; it may depend on the shape of the input"},
        {.name = "then", .type = FieldType::layers, .doc = "the layers when it is true"},
        {.name = "else",
         .type = FieldType::layers,
         .doc = "the layers when it is false; none when not given",
         .optional = true},
        {.name = "from",
         .type = FieldType::text_list,
         .doc = "the layer to read instead of the one before",
         .optional = true},
    };
    return table;
}

}  // namespace dtnn::compiler
