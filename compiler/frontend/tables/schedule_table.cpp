// The schedules: what changes the learning rate, stops the training or keeps weights, as it goes.
// A field called `metric` is what a schedule watches: "loss" or a metric's name, of the training
// samples or, behind "validation.", of the validation's; that it is computed is checked for every
// schedule alike (validation_training.cpp). What they do: runtime/train/learning_rates.hpp and
// watchers.hpp.

#include <fmt/format.h>

#include "compiler/frontend/tables/components.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/enums.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kRate = "the learning rate changes in another way";
constexpr std::string_view kEnd = "the training may end at another point";
constexpr std::string_view kKept = "other weights are kept, beside the training";

constexpr double kMostEpochs = 1'000'000;

Field epochs_field(std::string_view doc, std::int64_t fallback, double least = 0) {
    return integer_field("epochs", fallback, between(least, kMostEpochs).in("epochs"), doc,
                         mathematics(kRate));
}

Field begin_field() {
    return integer_field("begin", 0, between(0, kMostEpochs).in("epochs"),
                         "epochs before it begins, while the factor is 1: those of a warm_up, say",
                         mathematics(kRate));
}

Field minimum_field() {
    return real_field("minimum", 0.0, at_least(0), "a learning rate that is not gone below",
                      mathematics(kRate));
}

Field factor_field(double fallback) {
    return real_field("factor", fallback, above(0).up_to(1),
                      "what the learning rate is multiplied with", mathematics(kRate));
}

Field metric_field(FieldChange change) {
    return text_field("metric", "validation.loss",
                      "what is watched: loss, the name of a metric, or either behind `validation.`",
                      change);
}

Field direction_field(FieldChange change) {
    return choice_field("direction", "auto", words_of<plan::Direction>(),
                        "what is better; auto: more of accuracies, precision, recall, f1, mean_iou "
                        "and roc_auc, less of all else",
                        change);
}

Field patience_field(std::string_view doc, std::int64_t fallback, double least,
                     FieldChange change) {
    return integer_field("patience", fallback, between(least, kMostEpochs).in("epochs"), doc,
                         change);
}

constexpr std::int64_t kWarmUpEpochs = 5;

const FieldTable& warm_up_fields() {
    static const FieldTable table = {
        epochs_field("epochs over which the learning rate rises", kWarmUpEpochs),
        integer_field("batches", 0, between(0, 1'000'000'000).in("batches"),
                      "batches over which it rises, in place of epochs; 0: epochs count",
                      mathematics(kRate)),
        real_field("from", 0.1, between(0, 1), "the factor of the first batch", mathematics(kRate)),
    };
    return table;
}

const FieldTable& cosine_fields() {
    static const FieldTable table = {
        begin_field(), epochs_field("epochs over which it falls; 0: all that are left", 0),
        minimum_field()};
    return table;
}

const FieldTable& polynomial_fields() {
    static const FieldTable table = {
        begin_field(), epochs_field("epochs over which it falls; 0: all that are left", 0),
        real_field("power", 1.0, above(0),
                   "of the share of the epochs that is left; 1: along a line", mathematics(kRate)),
        minimum_field()};
    return table;
}

const FieldTable& exponential_fields() {
    static const FieldTable table = {begin_field(), factor_field(0.9), minimum_field()};
    return table;
}

const FieldTable& multistep_fields() {
    static const FieldTable table = {
        number_field(
            FieldType::integer_list, "epochs", kMustBeGiven, between(1, kMostEpochs).in("epochs"),
            "epochs done when the learning rate is reduced, in rising order", mathematics(kRate)),
        factor_field(0.1),
    };
    return table;
}

const FieldTable& reduce_every_n_epochs_fields() {
    static const FieldTable table = {epochs_field("epochs between two reductions", 5, 1),
                                     factor_field(0.1), minimum_field()};
    return table;
}

const FieldTable& one_cycle_fields() {
    static const FieldTable table = {
        epochs_field("epochs of the cycle; 0: all of the training", 0),
        real_field("rise", 0.3, between(0, 1),
                   "share of the cycle in which the learning rate rises", mathematics(kRate)),
        real_field("start_divisor", 25.0, at_least(1),
                   "the cycle begins at the optimizer's learning rate divided by this",
                   mathematics(kRate)),
        real_field("end_divisor", 1e4, at_least(1),
                   "it ends at the learning rate that it began with divided by this",
                   mathematics(kRate)),
        choice_field("shape", "cosine", words_of<plan::CycleShape>(), "of rise and fall",
                     mathematics(kRate)),
    };
    return table;
}

const FieldTable& formula_schedule_fields() {
    static const FieldTable table = {
        {.name = "factor",
         .type = FieldType::expression,
         .doc = "what the learning rate is multiplied with: arithmetic over epoch (epochs done), "
                "step (updates done), epochs and steps (of the whole training)",
         .change = mathematics(kRate),
         .choices = {"epoch", "step", "epochs", "steps"}},
    };
    return table;
}

const FieldTable& reduce_on_plateau_fields() {
    static const FieldTable table = {
        metric_field(mathematics(kRate)),
        direction_field(mathematics(kRate)),
        real_field("factor", 0.1, above(0).below(1), "what the learning rate is multiplied with",
                   mathematics(kRate)),
        patience_field("epochs in a row without improvement that are accepted", 10, 0,
                       mathematics(kRate)),
        real_field("threshold", 1e-4, at_least(0),
                   "share of the best value that counts as an improvement", mathematics(kRate)),
        integer_field("cooldown", 0, between(0, kMostEpochs).in("epochs"),
                      "epochs after a reduction in which nothing is counted", mathematics(kRate)),
        minimum_field(),
    };
    return table;
}

const FieldTable& early_stopping_fields() {
    static const FieldTable table = {
        metric_field(mathematics(kEnd)),
        direction_field(mathematics(kEnd)),
        patience_field("epochs in a row without improvement after which training ends", 10, 1,
                       mathematics(kEnd)),
        real_field("threshold", 0.0, at_least(0), "an improvement is more than this",
                   mathematics(kEnd)),
        flag_field(
            "restore_best", false,
            "when training ends, for whatever reason, take back the weights of the best epoch",
            mathematics("the training ends with other weights")),
    };
    return table;
}

const FieldTable& stop_at_fields() {
    static const FieldTable table = {
        text_field("metric", kMustBeGiven,
                   "what is watched: loss, the name of a metric, or either behind `validation.`",
                   mathematics(kEnd)),
        real_field("threshold", kMustBeGiven, Bounds{}, "the value at which training ends",
                   mathematics(kEnd)),
        direction_field(mathematics(kEnd))};
    return table;
}

const FieldTable& model_checkpoint_fields() {
    static const FieldTable table = {
        metric_field(performance(kKept)),
        direction_field(performance(kKept)),
        integer_field("every_epochs", 1, between(1, kMostEpochs).in("epochs"),
                      "epochs between two looks", performance(kKept)),
        integer_field("keep", 1, between(1, 10'000), "the best so many are kept",
                      performance(kKept)),
    };
    return table;
}

void check_warm_up(const ReadComponent& read, Diagnostics& diagnostics) {
    if (read.integer("batches") == 0) return;
    const auto epochs = read.spans.find("epochs");
    // Resolved documents have all fields.
    const std::int64_t given = read.integer("epochs");
    if (epochs == read.spans.end() || given == 0 || given == kWarmUpEpochs) return;
    Diagnostic& error = diagnostics.error(
        Code::conflicting_fields, read.span_of("batches"),
        "warm_up has both `epochs` and `batches`; the learning rate rises over one of them");
    error.notes.push_back({epochs->second, "`epochs` is given here"});
}

void check_multistep(const ReadComponent& read, Diagnostics& diagnostics) {
    const auto& epochs =
        std::get<std::vector<std::int64_t>>(read.component.attributes.at("epochs"));
    if (epochs.empty())
        diagnostics.error(
            Code::out_of_range, read.span_of("epochs"),
            "`epochs` of multistep is empty; the learning rate would never be reduced",
            "such as `multistep: {epochs: [10, 15]}`, or leave multistep out");
    for (std::size_t i = 1; i < epochs.size(); ++i) {
        if (epochs[i] > epochs[i - 1]) continue;
        diagnostics.error(Code::out_of_range, read.span_of("epochs"),
                          fmt::format("`epochs` of multistep has {} behind {}; they must rise",
                                      epochs[i], epochs[i - 1]));
        return;
    }
}

}  // namespace

const ComponentSet& schedules() {
    static const ComponentSet set = {
        "schedule",
        "schedules",
        "a schedule",
        {marked(&ComponentInfo::rises,
                {"warm_up",
                 "The learning rate rises along a line, update by update, from a share of it to "
                 "all of it: the factor of batch t of T is from + (1 - from) t / T, then 1 (P. "
                 "Goyal et al., 2017; PyTorch's LinearLR).",
                 "kind: training\nschedules: [{warm_up: {epochs: 5}}]\n", &warm_up_fields(),
                 check_warm_up}),
         marked(&ComponentInfo::falls,
                {"cosine",
                 "The learning rate falls along half a cosine, update by update: what is above the "
                 "minimum is multiplied with (1 + cos(pi t / T)) / 2, where t of the T epochs are "
                 "done (I. Loshchilov and F. Hutter, 2017; PyTorch's CosineAnnealingLR). "
                 "Afterwards it stays.",
                 "kind: training\nepochs: 20\n"
                 "schedules: [{warm_up: {epochs: 2}}, {cosine: {begin: 2, minimum: 1.0e-5}}]\n",
                 &cosine_fields()}),
         marked(&ComponentInfo::falls,
                {"polynomial",
                 "The learning rate falls, update by update: what is above the minimum is "
                 "multiplied with (1 - t / T) to the power, where t of the T epochs are done "
                 "(PyTorch's PolynomialLR). Afterwards it stays.",
                 "kind: training\nepochs: 20\nschedules: [{polynomial: {power: 2}}]\n",
                 &polynomial_fields()}),
         {"exponential",
          "The learning rate is multiplied with the factor once an epoch, a part of it at every "
          "update: factor to the power t, where t epochs are done. At the beginning of epochs "
          "PyTorch's ExponentialLR.",
          "kind: training\nepochs: 20\nschedules: [{exponential: {factor: 0.8}}]\n",
          &exponential_fields()},
         {"multistep",
          "The learning rate is multiplied with the factor after each of these epochs (PyTorch's "
          "MultiStepLR).",
          "kind: training\nepochs: 20\nschedules: [{multistep: {epochs: [10, 15], factor: 0.1}}]\n",
          &multistep_fields(), check_multistep},
         {"reduce_every_n_epochs",
          "The learning rate is multiplied with the factor every so many epochs (PyTorch's "
          "StepLR). PyDTNN leaves out a reduction that would pass the minimum; here it ends at the "
          "minimum.",
          "kind: training\nepochs: 20\n"
          "schedules: [{reduce_every_n_epochs: {epochs: 5, factor: 0.5}}]\n",
          &reduce_every_n_epochs_fields()},
         marked(&ComponentInfo::rises,
                {"one_cycle",
                 "The learning rate rises to the optimizer's and falls far below where it began, "
                 "update by update (L. N. Smith and N. Topin, 2018; PyTorch's OneCycleLR with "
                 "max_lr as the optimizer's learning rate). The momentum is not cycled.",
                 "kind: training\nepochs: 20\nschedules: [{one_cycle: {rise: 0.25}}]\n",
                 &one_cycle_fields()}),
         {"formula",
          "A formula of your own: the learning rate is multiplied with what it gives, update by "
          "update.",
          "kind: training\nepochs: 20\n"
          "schedules: [{formula: {factor: \"0.5 ** floor(epoch / 10)\"}}]\n",
          &formula_schedule_fields()},
         {"reduce_on_plateau",
          "The learning rate is multiplied with the factor after more than `patience` epochs in a "
          "row without improvement (PyTorch's ReduceLROnPlateau with relative thresholds).",
          "kind: training\nepochs: 20\nvalidation_split: 0.1\n"
          "schedules: [{reduce_on_plateau: {metric: validation.loss, patience: 3}}]\n",
          &reduce_on_plateau_fields()},
         {"early_stopping",
          "Training ends after `patience` epochs in a row without improvement (L. Prechelt, "
          "\"Early stopping - but when?\", 1998).",
          "kind: training\nepochs: 100\nvalidation_split: 0.1\n"
          "schedules: [{early_stopping: {patience: 5, restore_best: true}}]\n",
          &early_stopping_fields()},
         {"stop_at", "Training ends after the epoch in which the metric reaches the threshold.",
          "kind: training\nepochs: 100\n"
          "schedules: [{stop_at: {metric: categorical_accuracy, threshold: 0.99}}]\n",
          &stop_at_fields()},
         {"model_checkpoint",
          "Keeps the weights of the best epochs in the run's folder, under best/. They are the "
          "weights that the metric was measured with: the averages, where the training keeps them.",
          "kind: training\nepochs: 20\nvalidation_split: 0.1\n"
          "schedules: [{model_checkpoint: {metric: validation.categorical_accuracy, keep: 3}}]\n",
          &model_checkpoint_fields()}}};
    return set;
}

}  // namespace dtnn::compiler
