#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kOtherSamples = "what the samples are decides every shape";
constexpr std::string_view kExpanded =
    "what it expands to counts, and that is compared layer by layer; the layers it adds or changes "
    "change the mathematics";

/// Losses and operators by formula take the first two, which are plain numbers.
constexpr ParameterType kParameterTypes[] = {
    {"integer", FieldType::integer, true},
    {"real", FieldType::real, true},
    {"boolean", FieldType::boolean},
    {"text", FieldType::text},
    {"integer_pair", FieldType::integer_pair, true},
    {"padding", FieldType::padding, true},
    {"initializer", FieldType::initializer},
};

std::vector<std::string_view> type_names(std::span<const ParameterType> types) {
    std::vector<std::string_view> names;
    for (const ParameterType& type : types)
        names.push_back(type.name);
    return names;
}

}  // namespace

std::span<const ParameterType> parameter_types() {
    return kParameterTypes;
}

const FieldTable& model_table() {
    static const FieldTable table = {
        kind_field("model"),
        name_field("the model's name; the file's name when not given", "it names the model"),
        extends_field("a model that this one is merged over, field by field"),
        description_field("what the model is, for people"),
        allow_field(),
        {.name = "parameters",
         .type = FieldType::mapping,
         .doc = "constants by name (integers, numbers, true or false, texts), in reach of every "
                "expression of the model: {depth: 18, width: 1.0}",
         .change = mathematics("layers are computed from it"),
         .optional = true},
        {.name = "defaults",
         .type = FieldType::mapping,
         .doc = "values for fields that layers do not give, by type of layer: {conv2d: {bias: "
                "false}}",
         .change = mathematics("layers that do not give the field take it from here"),
         .optional = true},
        {.name = "input",
         .type = FieldType::variant,
         .doc = "what the model reads: {shape: [channels, height, width]}, or {shape: [steps, "
                "features]}, {shape: [features]}, or other `axes`",
         .change = mathematics("the shape of the samples decides every other shape")},
        {.name = "inputs",
         .type = FieldType::mapping,
         .doc = "in place of `input`, what it reads by names that layers say in `from`: {image: "
                "{shape: [1, 28, 28]}, table: {shape: [7]}, word: {shape: [1], dtype: i32, values: "
                "1000}}; `input` is the first of them",
         .change = mathematics(kOtherSamples),
         .optional = true},
        {.name = "blocks",
         .type = FieldType::mapping,
         .doc = "lists of layers with parameters, by name, which layers use like operators",
         .change = mathematics("the layers that use the block become other layers"),
         .optional = true},
        {.name = "operators",
         .type = FieldType::mapping,
         .doc = "formulas with parameters, by name, which layers use like operators: {swish: "
                "{forward: \"x * sigmoid(x)\"}}; or the names of operator specs, as a list, or "
                "under names of your own: {gate: swish_beta}",
         .change = mathematics("the layers that use the operator compute another formula"),
         .optional = true},
        {.name = "layers",
         .type = FieldType::layers,
         .doc = "the layers, in order; each reads the one before unless it says `from`",
         .change = mathematics("the layers are the function that is trained")},
    };
    return table;
}

const FieldTable& input_table() {
    static const FieldTable table = {
        {.name = "shape",
         .type = FieldType::integer_list,
         .doc = "extents of a sample: channels, height and width, steps and features, or features",
         .change = mathematics("the shape of the samples decides every other shape"),
         .minimum = 1,
         .maximum = 65536},
        {.name = "axes",
         .type = FieldType::text_list,
         .doc =
             "what each extent counts: channel, space, step or feature; by their number when not "
             "given: [feature], [step, feature], [channel, space, space]",
         .change = mathematics("layers work along axes by what these count"),
         .optional = true},
    };
    return table;
}

const FieldTable& named_input_table() {
    static const FieldTable table = [] {
        FieldTable fields = input_table();
        const FieldTable own = {
            {.name = "dtype",
             .type = FieldType::choice,
             .doc = "what its elements are: `f32`, real numbers of the training's dtype; `i32`, "
                    "integers",
             .change = mathematics(kOtherSamples),
             .choices = {"f32", "i32"},
             .optional = true},
            {.name = "values",
             .type = FieldType::integer,
             .doc = "of integers: how many values they may have, from 0",
             .change = mathematics(kOtherSamples),
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
         .change = kOfLayer,
         .optional = true},
        {.name = "from",
         .type = FieldType::text_list,
         .doc = "the layer, or the list of layers, to read instead of the one before; `input` is "
                "the model's input, and inputs with names go by these",
         .change = kOfLayer,
         .optional = true},
    };
    return table;
}

const FieldTable& branches_table() {
    static const FieldTable table = {
        {.name = "branches",
         .type = FieldType::branches,
         .doc = "lists of layers that all read the layer before; an empty one is identity",
         .change = kOfLayer,
         .optional = true},
    };
    return table;
}

const FieldTable& block_table() {
    static const FieldTable table = {
        description_field("what the block is, for people"),
        {.name = "parameters",
         .type = FieldType::mapping,
         .doc = "what a use of the block gives it: {filters: integer, stride: {type: integer, "
                "default: 1}}",
         .change = mathematics(kExpanded),
         .optional = true},
        {.name = "layers",
         .type = FieldType::layers,
         .doc = "the block's layers, in order; `input` is what the block reads",
         .change = mathematics(kExpanded)},
    };
    return table;
}

const FieldTable& operator_table() {
    static const FieldTable table = {
        kind_field("operator"),
        name_field("the operator's name; the file's name when not given", "it names the operator"),
        extends_field("an operator that this one is merged over, field by field"),
        description_field("what the operator is, for people"),
        {.name = "parameters",
         .type = FieldType::mapping,
         .doc = "numbers that a use gives it, by which the formula reads them: {beta: {type: real, "
                "default: 1}}; with `trainable` they are learned",
         .change = mathematics("the formula reads them"),
         .optional = true},
        {.name = "forward",
         .type = FieldType::text,
         .doc = "what becomes of every number x: arithmetic over x and the parameters, as in "
                "`elementwise`",
         .change = mathematics("the layers that use it compute another formula")},
    };
    return table;
}

const FieldTable& loss_operator_table() {
    static const FieldTable table = {
        kind_field("loss",
                   "the kind of spec; among a model's operators it tells a loss from a layer"),
        name_field("the loss's name; the file's name when not given", "it names the loss"),
        extends_field("a loss that this one is merged over, field by field"),
        description_field("what the loss is, for people"),
        {.name = "parameters",
         .type = FieldType::mapping,
         .doc = "numbers that a training gives it, by which the formula reads them: {delta: {type: "
                "real, default: 1}}",
         .change = mathematics("the formula reads them"),
         .optional = true},
        {.name = "forward",
         .type = FieldType::text,
         .doc = "arithmetic over every prediction p, its target t, which of labels is 0 or 1, and "
                "the parameters; the mean of it is the loss",
         .change = mathematics("the trainings that use it minimise another loss")},
        {.name = "over",
         .type = FieldType::choice,
         .fallback = std::string("elements"),
         .doc = "what the sum of all is divided by: all numbers, or the samples (of pixels: these)",
         .change = mathematics("another loss is minimised"),
         .choices = {"elements", "rows"}},
    };
    return table;
}

const FieldTable& block_parameter_table() {
    static const FieldTable table = {
        {.name = "type",
         .type = FieldType::choice,
         .doc = "the type of its values",
         .change = performance("it says what values are accepted; the values count"),
         .choices = type_names(parameter_types())},
        {.name = "default",
         .type = FieldType::any,
         .doc = "its value in uses that do not give it; may read parameters above it and the shape "
                "of the block's input",
         .change = mathematics("uses that do not give it take it from here"),
         .optional = true},
        {.name = "minimum",
         .type = FieldType::real,
         .doc = "the least value of a number",
         .change = performance("it is a limit that is checked; the values count"),
         .optional = true},
        {.name = "maximum",
         .type = FieldType::real,
         .doc = "the largest value of a number",
         .change = performance("it is a limit that is checked; the values count"),
         .optional = true},
        {.name = "doc",
         .type = FieldType::text,
         .doc = "what it is, for people",
         .change = performance("it is text for people"),
         .optional = true},
    };
    return table;
}

const FieldTable& loss_parameter_table() {
    static const FieldTable table = [] {
        FieldTable fields = block_parameter_table();
        for (Field& field : fields)
            if (field.name == "type") field.choices = type_names(parameter_types().first(2));
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
                          .change = mathematics("the number is learned or stays what it is"),
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
         .change = mathematics(kExpanded),
         .minimum = 0},
        {.name = "layers",
         .type = FieldType::layers,
         .doc = "the layers of one repetition; the first reads the last of the repetition before",
         .change = mathematics(kExpanded)},
        {.name = "index",
         .type = FieldType::text,
         .fallback = std::string("index"),
         .doc = "the name by which expressions read the number of the repetition, from 0",
         .change = performance("it names a number inside expressions; their values count")},
        {.name = "name",
         .type = FieldType::text,
         .doc = "gives the layers of the repetitions names of their own, below NAME_1, NAME_2, "
                "...; without it they are numbered on",
         .change = performance("it names layers"),
         .optional = true},
        {.name = "from",
         .type = FieldType::text_list,
         .doc = "the layer to read instead of the one before",
         .change = mathematics("the layers read others"),
         .optional = true},
    };
    return table;
}

const FieldTable& if_table() {
    static const FieldTable table = {
        {.name = "condition",
         .type = FieldType::boolean,
         .doc =
             "an expression, such as \"${stride != 1}\"; it may depend on the shape of the input",
         .change = mathematics(kExpanded)},
        {.name = "then",
         .type = FieldType::layers,
         .doc = "the layers when it is true",
         .change = mathematics(kExpanded)},
        {.name = "else",
         .type = FieldType::layers,
         .doc = "the layers when it is false; none when not given",
         .change = mathematics(kExpanded),
         .optional = true},
        {.name = "from",
         .type = FieldType::text_list,
         .doc = "the layer to read instead of the one before",
         .change = mathematics("the layers read others"),
         .optional = true},
    };
    return table;
}

}  // namespace dtnn::compiler
