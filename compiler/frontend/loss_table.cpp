// The losses and their fields, which reach the plan as its loss_attributes.

#include "compiler/frontend/components.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& no_fields() {
    static const FieldTable table;
    return table;
}

}  // namespace

const ComponentSet& losses() {
    static const ComponentSet set = {
        "loss",
        "losses",
        "a loss",
        {{"categorical_cross_entropy",
          "-log of the probability that the model gives to the label, averaged over the batch. The "
          "model ends with softmax.",
          "kind: training\nloss: categorical_cross_entropy\n", &no_fields()},
         {"negative_log_likelihood",
          "The label's value with its sign changed, averaged over the batch. The model ends with "
          "log_softmax.",
          "kind: training\nloss: negative_log_likelihood\n", &no_fields()},
         {"mean_squared_error",
          "The mean of the squared differences to the labels, as rows of zeros and a one.",
          "kind: training\nloss: mean_squared_error\n", &no_fields()}}};
    return set;
}

LossInput loss_input(const plan::Component& loss) {
    if (loss.type == "categorical_cross_entropy") return LossInput::probabilities;
    if (loss.type == "negative_log_likelihood") return LossInput::log_probabilities;
    return LossInput::anything;
}

}  // namespace dtnn::compiler
