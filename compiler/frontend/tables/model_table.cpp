#include "base/tensor/choices.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kOtherSamples = "what the samples are decides every shape";
constexpr std::string_view kExpanded =
    "what it expands to counts, and that is compared layer by layer; the layers it adds or changes "
    "change the mathematics";

std::vector<std::string_view> type_names(std::span<const ParameterType> types) {
    std::vector<std::string_view> names;
    for (const ParameterType& type : types)
        names.push_back(type.name);
    return names;
}

}  // namespace

const FieldTable& model_table() {
    static const FieldTable table = {
        kind_field("model"),
        name_field("the model's name; the file's name when not given", "it names the model"),
        extends_field("a model that this one is merged over, field by field"),
        description_field("what the model is, for people"),
        allow_field(),
        plain_field(FieldType::mapping, "parameters", kMayBeAbsent,
                    "constants by name (integers, numbers, true or false, texts), in reach of "
                    "every expression of the model: {depth: 18, width: 1.0}",
                    mathematics("layers are computed from it")),
        plain_field(
            FieldType::mapping, "defaults", kMayBeAbsent,
            "values for fields that layers do not give, by type of layer: {conv2d: {bias: false}}",
            mathematics("layers that do not give the field take it from here")),
        plain_field(FieldType::variant, "input", kMustBeGiven,
                    "what the model reads: {shape: [channels, height, width]}, or {shape: [steps, "
                    "features]}, {shape: [features]}, or other `axes`; a job's model without it "
                    "reads what the dataset gives, whose number of classes, or of values, is "
                    "`classes` in its expressions",
                    mathematics("the shape of the samples decides every other shape")),
        plain_field(FieldType::mapping, "inputs", kMayBeAbsent,
                    "in place of `input`, what it reads by names that layers say in `from`: "
                    "{image: {shape: [1, 28, 28]}, table: {shape: [7]}, word: {shape: [1], dtype: "
                    "i32, values: 1000}}; `input` is the first of them",
                    mathematics(kOtherSamples)),
        plain_field(FieldType::mapping, "blocks", kMayBeAbsent,
                    "lists of layers with parameters, by name, which layers use like operators",
                    mathematics("the layers that use the block become other layers")),
        plain_field(FieldType::mapping, "operators", kMayBeAbsent,
                    "formulas with parameters, by name, which layers use like operators: {swish: "
                    "{forward: \"x * sigmoid(x)\"}}; or the names of operator specs, as a list, or "
                    "under names of your own: {gate: swish_beta}",
                    mathematics("the layers that use the operator compute another formula")),
        plain_field(FieldType::layers, "layers", kMustBeGiven,
                    "the layers, in order; each reads the one before unless it says `from`",
                    mathematics("the layers are the function that is trained")),
    };
    return table;
}

const FieldTable& input_table() {
    static const FieldTable table = {
        number_field(
            FieldType::integer_list, "shape", kMustBeGiven, between(1, 65536),
            "extents of a sample: channels, height and width, steps and features, or features",
            mathematics("the shape of the samples decides every other shape")),
        plain_field(FieldType::text_list, "axes", kMayBeAbsent,
                    "what each extent counts: channel, space, step or feature; by their number "
                    "when not given: [feature], [step, feature], [channel, space, space]",
                    mathematics("layers work along axes by what these count")),
    };
    return table;
}

const FieldTable& named_input_table() {
    static const FieldTable table = [] {
        FieldTable fields = input_table();
        const FieldTable own = {
            choice_field("dtype", kMayBeAbsent, {"f32", "i32"},
                         "what its elements are: `f32`, real numbers of the training's dtype; "
                         "`i32`, integers",
                         mathematics(kOtherSamples)),
            integer_field("values", kMayBeAbsent, between(1, 1'000'000'000),
                          "of integers: how many values they may have, from 0",
                          mathematics(kOtherSamples)),
        };
        fields.insert(fields.end(), own.begin(), own.end());
        return fields;
    }();
    return table;
}

const FieldTable& layer_table() {
    static const FieldTable table = {
        text_field("name", kMayBeAbsent,
                   "the layer's name, for `from`, weights and reports; made of type and number "
                   "when not given",
                   kOfLayer),
        plain_field(FieldType::text_list, "from", kMayBeAbsent,
                    "the layer, or the list of layers, to read instead of the one before; `input` "
                    "is the model's input, and inputs with names go by these",
                    kOfLayer),
        text_field("share", kMayBeAbsent,
                   "an earlier layer whose parameters it uses in place of its own, as far as that "
                   "has them; of a block an earlier use of it, whose layers share theirs",
                   kOfLayer),
    };
    return table;
}

const FieldTable& branches_table() {
    static const FieldTable table = {
        plain_field(FieldType::branches, "branches", kMayBeAbsent,
                    "lists of layers that all read the layer before; an empty one is identity",
                    kOfLayer),
    };
    return table;
}

const FieldTable& block_table() {
    static const FieldTable table = {
        description_field("what the block is, for people"),
        plain_field(FieldType::mapping, "parameters", kMayBeAbsent,
                    "what a use of the block gives it: {filters: integer, stride: {type: integer, "
                    "default: 1}}",
                    mathematics(kExpanded)),
        plain_field(FieldType::layers, "layers", kMustBeGiven,
                    "the block's layers, in order; `input` is what the block reads",
                    mathematics(kExpanded)),
    };
    return table;
}

const FieldTable& operator_table() {
    static const FieldTable table = {
        kind_field("operator"),
        name_field("the operator's name; the file's name when not given", "it names the operator"),
        extends_field("an operator that this one is merged over, field by field"),
        description_field("what the operator is, for people"),
        plain_field(FieldType::mapping, "parameters", kMayBeAbsent,
                    "numbers that a use gives it, by which the formula reads them: {beta: {type: "
                    "real, default: 1}}; with `trainable` they are learned",
                    mathematics("the formula reads them")),
        text_field("forward", kMustBeGiven,
                   "what becomes of every number x: arithmetic over x and the parameters, as in "
                   "`elementwise`",
                   mathematics("the layers that use it compute another formula")),
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
        plain_field(FieldType::mapping, "parameters", kMayBeAbsent,
                    "numbers that a training gives it, by which the formula reads them: {delta: "
                    "{type: real, default: 1}}",
                    mathematics("the formula reads them")),
        text_field("forward", kMustBeGiven,
                   "arithmetic over every prediction p, its target t, which of labels is 0 or 1, "
                   "and the parameters; the mean of it is the loss",
                   mathematics("the trainings that use it minimise another loss")),
        choice_field("over", "elements", words_of<MeanOver>(), kOverDoc,
                     mathematics("another loss is minimised")),
    };
    return table;
}

const FieldTable& block_parameter_table() {
    static const FieldTable table = {
        choice_field("type", kMustBeGiven, type_names(parameter_types()), "the type of its values",
                     performance("it says what values are accepted; the values count")),
        plain_field(FieldType::any, "default", kMayBeAbsent,
                    "its value in uses that do not give it; may read parameters above it and the "
                    "shape of the block's input",
                    mathematics("uses that do not give it take it from here")),
        real_field("minimum", kMayBeAbsent, Bounds{}, "the least value of a number",
                   performance("it is a limit that is checked; the values count")),
        real_field("maximum", kMayBeAbsent, Bounds{}, "the largest value of a number",
                   performance("it is a limit that is checked; the values count")),
        text_field("doc", kMayBeAbsent, "what it is, for people",
                   performance("it is text for people")),
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
        fields.push_back(choice_field("trainable", kMayBeAbsent, {"one", "per_channel"},
                                      "it is learned, beginning with its value: one number for a "
                                      "layer, or one for each channel of what the layer reads",
                                      mathematics("the number is learned or stays what it is")));
        return fields;
    }();
    return table;
}

const FieldTable& repeat_table() {
    static const FieldTable table = {
        integer_field("times", kMustBeGiven, at_least(0),
                      "how many times; 0 leaves the layers out. It may not depend on shapes",
                      mathematics(kExpanded)),
        plain_field(
            FieldType::layers, "layers", kMustBeGiven,
            "the layers of one repetition; the first reads the last of the repetition before",
            mathematics(kExpanded)),
        text_field("index", "index",
                   "the name by which expressions read the number of the repetition, from 0",
                   only_names("it names a number inside expressions; their values count")),
        text_field("name", kMayBeAbsent,
                   "gives the layers of the repetitions names of their own, below NAME_1, NAME_2, "
                   "...; without it they are numbered on",
                   only_names("it names layers")),
        flag_field("shared", false,
                   "whether all repetitions use the parameters of the first; it takes a `name`",
                   mathematics("each repetition has parameters of its own or not")),
        plain_field(FieldType::text_list, "from", kMayBeAbsent,
                    "the layer to read instead of the one before",
                    mathematics("the layers read others")),
    };
    return table;
}

const FieldTable& if_table() {
    static const FieldTable table = {
        flag_field(
            "condition", kMustBeGiven,
            "an expression, such as \"${stride != 1}\"; it may depend on the shape of the input",
            mathematics(kExpanded)),
        plain_field(FieldType::layers, "then", kMustBeGiven, "the layers when it is true",
                    mathematics(kExpanded)),
        plain_field(FieldType::layers, "else", kMayBeAbsent,
                    "the layers when it is false; none when not given", mathematics(kExpanded)),
        plain_field(FieldType::text_list, "from", kMayBeAbsent,
                    "the layer to read instead of the one before",
                    mathematics("the layers read others")),
    };
    return table;
}

}  // namespace dtnn::compiler
