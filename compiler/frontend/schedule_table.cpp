// The schedules: what changes the learning rate, stops the training or keeps weights, as it goes.
// A field called `metric` is what a schedule watches: "loss" or a metric's name, of the training
// samples or, behind "validation.", of the validation's; that it is computed is checked for every
// schedule alike (validation_training.cpp).

#include "compiler/frontend/components.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& cosine_fields() {
    static const FieldTable table = {
        {.name = "epochs",
         .type = FieldType::integer,
         .doc = "epochs over which the learning rate falls; afterwards it stays",
         .minimum = 1,
         .maximum = 1'000'000,
         .unit = "epochs"},
        {.name = "minimum",
         .type = FieldType::real,
         .fallback = 0.0,
         .doc = "the factor at the end, as a share of the optimizer's learning rate",
         .minimum = 0,
         .maximum = 1},
    };
    return table;
}

}  // namespace

const ComponentSet& schedules() {
    static const ComponentSet set = {
        "schedule",
        "schedules",
        "a schedule",
        {{"cosine",
          "The learning rate falls along half a cosine, batch by batch: the factor is minimum + (1 "
          "- minimum) (1 + cos(pi t / T)) / 2, where t of T are the batches of its epochs that are "
          "done (Loshchilov and Hutter, 2017).",
          "kind: training\nepochs: 20\nschedules: [{cosine: {epochs: 20}}]\n", &cosine_fields()}}};
    return set;
}

}  // namespace dtnn::compiler
