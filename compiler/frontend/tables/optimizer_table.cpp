// The optimizers and their fields. `learning_rate` is every optimizer's; the other fields reach the
// plan as its optimizer_attributes. The formulas stand in kernels/arguments/update.hpp and
// kernels/arguments/layerwise_update.hpp; docs/optimizers.md says which are PyTorch's and which
// PyDTNN's.

#include "base/tensor/choices.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kUpdateSize = "updates have another size";
constexpr std::string_view kMomentum = "updates remember another share of earlier ones";
constexpr std::string_view kMeanDecay = "the mean of the gradients reaches back otherwise";
constexpr std::string_view kSquareDecay =
    "the mean of the squared gradients reaches back otherwise";
constexpr std::string_view kDivisor = "steps are divided by another size of the gradients";
constexpr std::string_view kWeightDecay = "weights are drawn to zero by another share";
constexpr std::string_view kNorms = "the norms decide the size of updates otherwise";
constexpr std::string_view kSmallGradients = "small gradients make updates of another size";
constexpr std::string_view kNadamMomentum = "the momentum follows another formula";

/// Usually from a ten-thousandth of the default to `most`.
Field learning_rate(double fallback, double most) {
    return real_field("learning_rate", fallback, above(0).usually(fallback * 1e-4, most),
                      "step size", mathematics(kUpdateSize));
}

/// From 0 to below 1.
Field share(std::string_view name, double fallback, std::string_view doc, std::string_view reason) {
    return real_field(name, fallback, at_least(0).below(1), doc, mathematics(reason));
}

Field not_negative(std::string_view name, double fallback, std::string_view doc,
                   std::string_view reason) {
    return real_field(name, fallback, at_least(0), doc, mathematics(reason));
}

/// A field that is usually at most `most`.
Field usually(Field field, double most) {
    field.usual_most = most;
    return field;
}

Field choice_of(std::string_view name, bool fallback, std::string_view doc,
                std::string_view reason) {
    return flag_field(name, fallback, doc, mathematics(reason));
}

Field epsilon(double fallback) {
    return real_field("epsilon", fallback, above(0), "keeps the division from zero",
                      mathematics(kSmallGradients));
}

Field epsilon_inside_root() {
    return choice_of("epsilon_inside_root", false,
                     "divide by sqrt(x + epsilon), as PyDTNN does, not by sqrt(x) + epsilon",
                     kSmallGradients);
}

Field beta1() {
    return usually(share("beta1", 0.9, "decay of the first moment", kMeanDecay), 0.999);
}

Field beta2() {
    return share("beta2", 0.999, "decay of the second moment", kSquareDecay);
}

Field weight_decay(double fallback = 0) {
    return usually(
        not_negative("weight_decay", fallback,
                     "share of the weights that is added to their gradient", kWeightDecay),
        0.1);
}

/// Where there is nothing but the decoupled form.
Field own_weight_decay(double fallback) {
    return usually(
        not_negative("weight_decay", fallback,
                     "share of the weights, times the learning rate, that every update takes away",
                     kWeightDecay),
        1);
}

Field decoupled_weight_decay() {
    return choice_of("decoupled_weight_decay", false,
                     "take the decay from the weights, times the learning rate, instead of adding "
                     "it to the gradient; PyDTNN's form",
                     "the decay is part of the gradient or not");
}

Field adaptive() {
    return choice_of("adaptive", true,
                     "let the norms of weights and step decide the size of updates; false, for "
                     "biases and the like in a group: the learning rate alone",
                     kNorms);
}

const FieldTable& sgd_fields() {
    static const FieldTable table = {
        learning_rate(0.01, 2),
        usually(share("momentum", 0.9, "share of the last step that is kept", kMomentum), 0.999),
        choice_of("nesterov", false, "look ahead along the velocity",
                  "the gradient is applied ahead of the velocity or not"),
        weight_decay(),
        decoupled_weight_decay(),
    };
    return table;
}

const FieldTable& rmsprop_fields() {
    static const FieldTable table = {
        learning_rate(0.01, 0.1),
        share("rho", 0.99, "decay of the mean of squared gradients", kSquareDecay),
        epsilon(1e-8),
        epsilon_inside_root(),
        share("momentum", 0, "share of the last step that is kept", kMomentum),
        choice_of("centered", false, "divide by the gradients' deviation, not by their size",
                  kDivisor),
        weight_decay(),
        decoupled_weight_decay(),
    };
    return table;
}

const FieldTable& adam_fields() {
    static const FieldTable table = {
        learning_rate(0.001, 0.1),
        beta1(),
        beta2(),
        epsilon(1e-8),
        epsilon_inside_root(),
        choice_of("amsgrad", false,
                  "divide by the largest second moment so far (Reddi et al., 2018)", kDivisor),
        weight_decay(),
    };
    return table;
}

const FieldTable& adamw_fields() {
    static const FieldTable table = {
        learning_rate(0.001, 0.1),
        beta1(),
        beta2(),
        epsilon(1e-8),
        epsilon_inside_root(),
        choice_of("amsgrad", false,
                  "divide by the largest second moment so far (Reddi et al., 2018)", kDivisor),
        own_weight_decay(0.01),
    };
    return table;
}

const FieldTable& nadam_fields() {
    static const FieldTable table = {
        learning_rate(0.002, 0.1),
        beta1(),
        beta2(),
        epsilon(1e-8),
        epsilon_inside_root(),
        choice_field(
            "variant", "dozat", words_of<NadamVariant>(),
            "dozat: momentum that grows over the updates, as PyTorch's; pydtnn: PyDTNN's formula",
            mathematics(kNadamMomentum)),
        not_negative("momentum_decay", 0.004,
                     "how fast the momentum of variant dozat grows to beta1", kNadamMomentum),
        weight_decay(),
        decoupled_weight_decay(),
    };
    return table;
}

const FieldTable& adagrad_fields() {
    static const FieldTable table = {
        learning_rate(0.01, 1),
        epsilon(1e-10),
        epsilon_inside_root(),
        not_negative("learning_rate_decay", 0,
                     "update t has the learning rate over 1 + (t - 1) times this", kUpdateSize),
        not_negative("initial_accumulator", 0, "what the sums of squared gradients begin with",
                     "the first updates have another size"),
        weight_decay(),
        decoupled_weight_decay(),
    };
    return table;
}

const FieldTable& lars_fields() {
    static const FieldTable table = {
        learning_rate(0.1, 100),
        usually(share("momentum", 0.9, "share of the last step that is kept", kMomentum), 0.999),
        real_field("trust_coefficient", 0.001, above(0),
                   "size of a step beside the size of the weights", mathematics(kNorms)),
        not_negative("epsilon", 0, "is added to the norms that the weights' norm is divided by",
                     kSmallGradients),
        weight_decay(5e-4),
        adaptive(),
    };
    return table;
}

const FieldTable& lamb_fields() {
    static const FieldTable table = {
        learning_rate(0.001, 0.1),
        beta1(),
        beta2(),
        epsilon(1e-6),
        usually(not_negative("weight_decay", 0.01, "share of the weights that is added to the step",
                             kWeightDecay),
                1),
        adaptive(),
    };
    return table;
}

void check_sgd(const ReadComponent& read, Diagnostics& diagnostics) {
    if (!read.flag("nesterov") || read.real("momentum") > 0) return;
    diagnostics.error(
        Code::conflicting_fields, read.span_of("nesterov"),
        "sgd has `nesterov`, but its `momentum` is 0; there is nothing to look ahead along",
        "give it `momentum: 0.9`, or leave `nesterov` away");
}

void check_nadam(const ReadComponent& read, Diagnostics& diagnostics) {
    if (!says(read.component.attributes, "variant", NadamVariant::pydtnn) ||
        !read.spans.contains("momentum_decay"))
        return;
    diagnostics.error(Code::conflicting_fields, read.span_of("momentum_decay"),
                      "nadam has `momentum_decay`, but its variant is `pydtnn`, whose momentum is "
                      "beta1 throughout",
                      "leave `momentum_decay` away, or take the variant `dozat`");
}

}  // namespace

const ComponentSet& optimizers() {
    static const ComponentSet set = {
        "optimizer",
        "optimizers",
        "an optimizer",
        {{"sgd", "Stochastic gradient descent with momentum (Sutskever et al., 2013).",
          "kind: training\noptimizer: {sgd: {learning_rate: 0.1, momentum: 0.9}}\n", &sgd_fields(),
          check_sgd},
         {"rmsprop",
          "Steps divided by the root of a mean of squared gradients (Tieleman and Hinton, 2012).",
          "kind: training\noptimizer: {rmsprop: {learning_rate: 0.001, rho: 0.9}}\n",
          &rmsprop_fields()},
         {"adam", "Adaptive moment estimation (Kingma and Ba, 2015).",
          "kind: training\noptimizer: {adam: {learning_rate: 0.001}}\n", &adam_fields()},
         {"adamw", "Adam with decoupled weight decay (Loshchilov and Hutter, 2019).",
          "kind: training\noptimizer: {adamw: {learning_rate: 0.001, weight_decay: 0.05}}\n",
          &adamw_fields()},
         {"nadam", "Adam with Nesterov's momentum (Dozat, 2016).",
          "kind: training\noptimizer: {nadam: {learning_rate: 0.002}}\n", &nadam_fields(),
          check_nadam},
         {"adagrad",
          "Steps divided by the root of the sum of all squared gradients (Duchi et al., 2011).",
          "kind: training\noptimizer: {adagrad: {learning_rate: 0.01}}\n", &adagrad_fields()},
         marked(&ComponentInfo::takes_norms,
                {"lars",
                 "Momentum with a rate for every parameter, by the norms of weights and gradient, "
                 "for large batches (You et al., 2017).",
                 "kind: training\noptimizer: {lars: {learning_rate: 2, weight_decay: 5.0e-5}}\n",
                 &lars_fields()}),
         marked(&ComponentInfo::takes_norms,
                {"lamb",
                 "Adam's step with a rate for every parameter, by the norms of weights and step, "
                 "for large batches (You et al., 2020).",
                 "kind: training\noptimizer: {lamb: {learning_rate: 0.002}}\n", &lamb_fields()})}};
    return set;
}

}  // namespace dtnn::compiler
