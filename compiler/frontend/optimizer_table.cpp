// The optimizers and their fields. `learning_rate` is every optimizer's; the other fields reach the
// plan as its optimizer_attributes.

#include "compiler/frontend/components.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& sgd_fields() {
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

const FieldTable& adam_fields() {
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

const ComponentSet& optimizers() {
    static const ComponentSet set = {
        "optimizer",
        "optimizers",
        "an optimizer",
        {{"sgd", "Stochastic gradient descent with momentum (Sutskever et al., 2013).",
          "kind: training\noptimizer: {sgd: {learning_rate: 0.1, momentum: 0.9}}\n", &sgd_fields()},
         {"adam", "Adaptive moment estimation (Kingma and Ba, 2015).",
          "kind: training\noptimizer: {adam: {learning_rate: 0.001}}\n", &adam_fields()}}};
    return set;
}

}  // namespace dtnn::compiler
