#include "compiler/frontend/tables.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& sgd_table() {
    static const FieldTable table = {
        {.name = "learning_rate",
         .type = FieldType::real,
         .fallback = 0.01,
         .doc = "step size",
         .minimum = 0,
         .exclusive_minimum = true},
        {.name = "momentum",
         .type = FieldType::real,
         .fallback = 0.9,
         .doc = "share of the last step that is kept",
         .minimum = 0,
         .maximum = 1,
         .exclusive_maximum = true},
        {.name = "nesterov",
         .type = FieldType::boolean,
         .fallback = false,
         .doc = "look ahead along the velocity"},
        {.name = "weight_decay",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc = "share of the weights that is added to their gradient",
         .minimum = 0},
    };
    return table;
}

const FieldTable& adam_table() {
    static const FieldTable table = {
        {.name = "learning_rate",
         .type = FieldType::real,
         .fallback = 0.001,
         .doc = "step size",
         .minimum = 0,
         .exclusive_minimum = true},
        {.name = "beta1",
         .type = FieldType::real,
         .fallback = 0.9,
         .doc = "decay of the first moment",
         .minimum = 0,
         .maximum = 1,
         .exclusive_maximum = true},
        {.name = "beta2",
         .type = FieldType::real,
         .fallback = 0.999,
         .doc = "decay of the second moment",
         .minimum = 0,
         .maximum = 1,
         .exclusive_maximum = true},
        {.name = "epsilon",
         .type = FieldType::real,
         .fallback = 1e-8,
         .doc = "keeps the division from zero",
         .minimum = 0,
         .exclusive_minimum = true},
        {.name = "weight_decay",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc = "share of the weights that is added to their gradient",
         .minimum = 0},
    };
    return table;
}

}  // namespace

const FieldTable& training_table() {
    static const FieldTable table = {
        {.name = "kind",
         .type = FieldType::choice,
         .doc = "the kind of spec",
         .choices = {"training"},
         .optional = true},
        {.name = "name",
         .type = FieldType::text,
         .doc = "the training's name; the file's name when not given",
         .optional = true},
        {.name = "extends",
         .type = FieldType::reference,
         .doc = "a training that this one is merged over, field by field",
         .optional = true},
        {.name = "description",
         .type = FieldType::text,
         .doc = "what the training is, for people",
         .optional = true},
        {.name = "optimizer",
         .type = FieldType::variant,
         .fallback = std::string("sgd"),
         .doc = "a name, or one name with its fields: {adam: {learning_rate: 0.001}}",
         .choices = {"sgd", "adam"}},
        {.name = "loss",
         .type = FieldType::choice,
         .fallback = std::string("categorical_cross_entropy"),
         .doc = "what is made small",
         .choices = {"categorical_cross_entropy", "negative_log_likelihood", "mean_squared_error"}},
        {.name = "metrics",
         .type = FieldType::text_list,
         .fallback = std::string("categorical_accuracy"),
         .doc = "what is measured besides the loss",
         .choices = {"categorical_accuracy"}},
        {.name = "epochs",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "passes over the training samples",
         .minimum = 1,
         .maximum = 1'000'000},
        {.name = "batch_size",
         .type = FieldType::integer,
         .fallback = std::int64_t{64},
         .doc = "samples of one step, over all ranks",
         .minimum = 1,
         .maximum = 1'000'000,
         .unit = "samples"},
        {.name = "validation_split",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc = "share of the training samples that is kept for validation",
         .minimum = 0,
         .maximum = 1,
         .exclusive_maximum = true},
        {.name = "shuffle",
         .type = FieldType::boolean,
         .fallback = true,
         .doc = "another order of the samples every epoch"},
        {.name = "seed",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "what first weights, sample order and dropout are a function of",
         .minimum = 0},
        {.name = "dtype",
         .type = FieldType::choice,
         .fallback = std::string("f32"),
         .doc = "floating-point type of weights and activations",
         .choices = {"f32", "f64"}},
        {.name = "steps_per_epoch",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "steps after which an epoch ends; 0: when the samples are used up",
         .minimum = 0,
         .maximum = 1'000'000'000,
         .unit = "steps"},
    };
    return table;
}

const FieldTable* optimizer_table(std::string_view name) {
    if (name == "sgd") return &sgd_table();
    if (name == "adam") return &adam_table();
    return nullptr;
}

std::string_view optimizer_doc(std::string_view name) {
    return name == "sgd" ? "Stochastic gradient descent with momentum (Sutskever et al., 2013)."
                         : "Adaptive moment estimation (Kingma and Ba, 2015).";
}

std::vector<std::string_view> optimizer_names() {
    return find_field(training_table(), "optimizer")->choices;
}

}  // namespace dtnn::compiler
