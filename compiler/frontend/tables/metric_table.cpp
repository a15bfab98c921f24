// The metrics and their fields: what is measured besides the loss. How they are joined over a pass:
// plan/metrics.def.

#include <fmt/format.h>

#include "base/expression/expression.hpp"
#include "base/tensor/choices.hpp"
#include "compiler/frontend/formula/environment.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/ops/expression/formula_fault.hpp"
#include "compiler/ops/expression/parse_infix.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/metrics.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kMeasured =
    "metrics are measured beside the training and do not change it";

/// Those of the loss of that name.
const FieldTable& measured_hinge_fields() {
    static const FieldTable table = [] {
        FieldTable fields = hinge_fields();
        for (Field& field : fields)
            field.change = performance(kMeasured);
        return fields;
    }();
    return table;
}

Field threshold_field() {
    return real_field("threshold", 0.5, Bounds{},
                      "where samples have any number of classes: the probability above which a "
                      "class is predicted",
                      performance(kMeasured));
}

const FieldTable& top_k_fields() {
    static const FieldTable table = {
        integer_field("k", 5, between(1, 1'000'000), "how many of the largest predictions count",
                      performance(kMeasured)),
    };
    return table;
}

const FieldTable& threshold_fields() {
    static const FieldTable table = {threshold_field()};
    return table;
}

const FieldTable& rate_fields() {
    static const FieldTable table = {
        choice_field("average", "macro", {"macro", "micro", "per_class"},
                     "macro: the mean over the classes; micro: of all classes' counts together; "
                     "per_class: a list",
                     performance(kMeasured)),
        threshold_field(),
    };
    return table;
}

const FieldTable& area_fields() {
    static const FieldTable table = {
        choice_field("average", "macro", {"macro", "micro"},
                     "macro: the mean over the classes; micro: all predictions as one question",
                     performance(kMeasured)),
    };
    return table;
}

const FieldTable& measured_formula_fields() {
    static const FieldTable table = {
        text_field("name", kMustBeGiven, "what it is called in histories, reports and schedules",
                   only_names(kMeasured)),
        {.name = "expression",
         .type = FieldType::expression,
         .doc = "of every prediction p, as the model gives it, and its target t, which of labels "
                "is 0 or 1",
         .change = performance(kMeasured),
         .choices = {"p", "t"}},
        choice_field("over", "elements", words_of<MeanOver>(), kOverDoc, performance(kMeasured)),
        choice_field("better", "lower", {"lower", "higher"},
                     "which values are, for schedules that watch it",
                     mathematics("schedules that watch it decide by it")),
    };
    return table;
}

/// The name stands beside those of all metrics, and of the loss.
void check_measured_formula(const ReadComponent& read, Diagnostics& diagnostics) {
    const std::string name = read.text("name");
    if (!is_variable_name(name)) {
        diagnostics.error(Code::bad_name, read.span_of("name"),
                          fmt::format("the metric's name is `{}`; it must be a letter, then "
                                      "letters, digits and `_`, and no word of expressions",
                                      name),
                          "choose another name");
    } else if (name == plan::kLossName || plan::find_metric(name) != nullptr) {
        diagnostics.error(Code::bad_name, read.span_of("name"),
                          fmt::format("the metric's name is `{}`, which is {}", name,
                                      name == plan::kLossName ? "the loss" : "a metric"),
                          "choose another name");
    }
    const Expression formula = parse_infix(read.text("expression"), {"p", "t"});
    if (const auto fault = constants_fault(formula))
        diagnostics.error(Code::elementwise_syntax, read.span_of("expression"), fault->text,
                          fault->help);
    if (reads(formula, 0)) return;
    diagnostics.error(Code::elementwise_syntax, read.span_of("expression"),
                      "`expression` of formula does not read p: nothing would be measured",
                      "p is a prediction, t its target");
}

}  // namespace

const ComponentSet& metrics() {
    static const ComponentSet set = {
        "metric",
        "metrics",
        "a metric",
        {{"categorical_accuracy",
          "The share of samples whose largest prediction is the label's; among equals the first "
          "counts.",
          "kind: training\nmetrics: [categorical_accuracy]\n", &no_fields()},
         {"top_k_accuracy",
          "The share of samples whose label is among the k largest predictions; among equals the "
          "first count.",
          "kind: training\nmetrics: [{top_k_accuracy: {k: 3}}]\n", &top_k_fields()},
         {"binary_accuracy",
          "The share of right answers, yes or no, of every class by itself, for samples of any "
          "number of classes.",
          "kind: training\nloss: binary_cross_entropy\nmetrics: [binary_accuracy]\n",
          &threshold_fields()},
         {"cross_entropy",
          "The mean of -log of the probability that the label was given, in nats: what the loss is "
          "without smoothing and weights of classes.",
          "kind: training\nmetrics: [cross_entropy]\n", &no_fields()},
         {"perplexity",
          "e to the power of the cross-entropy: among how many labels, all alike, one would be as "
          "unsure. Of text, of the next token.",
          "kind: training\nmetrics: [perplexity]\n", &no_fields()},
         {"bits_per_token",
          "The cross-entropy in bits: of text whose tokens are bytes, bits per byte.",
          "kind: training\nmetrics: [bits_per_token]\n", &no_fields()},
         {"hinge", "The hinge loss, as a metric.", "kind: training\nmetrics: [hinge]\n",
          &measured_hinge_fields()},
         {"mean_squared_error",
          "The mean of the squared differences of predictions and targets, over all numbers.",
          "kind: training\nmetrics: [mean_squared_error]\n", &no_fields()},
         {"mean_absolute_error",
          "The mean of the absolute differences of predictions and targets, over all numbers.",
          "kind: training\nmetrics: [mean_absolute_error]\n", &no_fields()},
         {"formula",
          "A formula of your own, of every prediction p and its target t: the mean of it, under a "
          "name that you give. Labels become rows of zeros and a one.",
          "kind: training\nmetrics: [{formula: {name: surprise, expression: \"select(t == 0, 0, "
          "-t * log(p))\", over: rows}}]\n",
          &measured_formula_fields(), check_measured_formula},
         {"label_error_rate",
          "Of sequences of labels (loss ctc): how many labels must be put in, taken out and "
          "replaced so that the best path, the largest class of each step without repetitions and "
          "blanks, becomes the labels, over the number of labels of all samples.",
          "kind: training\nloss: ctc\nmetrics: [label_error_rate]\n", &no_fields()},
         {"precision",
          "Of what was predicted to be a class, the share that is; 0 where nothing was.",
          "kind: training\nmetrics: [{precision: {average: micro}}]\n", &rate_fields()},
         {"recall", "Of what is a class, the share that was predicted; 0 where nothing is.",
          "kind: training\nmetrics: [recall]\n", &rate_fields()},
         {"f1", "The harmonic mean of precision and recall.",
          "kind: training\nmetrics: [{f1: {average: per_class}}]\n", &rate_fields()},
         {"mean_iou",
          "The intersection over the union of what is a class and what was predicted to be it, the "
          "mean over the classes: true positives / (true and false positives and false negatives), "
          "counted over the whole pass.",
          "kind: training\nmetrics: [mean_iou, {mean_iou: {average: per_class}}]\n",
          &rate_fields()},
         {"confusion_matrix",
          "How many samples of each class (rows) were predicted to be each class (columns); where "
          "samples have any number of classes, for each class true negatives, false positives, "
          "false negatives and true positives.",
          "kind: training\nmetrics: [confusion_matrix]\n", &threshold_fields()},
         {"roc_auc",
          "The area under the curve of true over false positives, each class against the rest; "
          "not a number where all samples are of one class. "
          "Measured where a model is evaluated, not on training batches.",
          "kind: training\nmetrics: [roc_auc]\n", &area_fields()}}};
    return set;
}

plan::Metric metric_of(const plan::Component& metric) {
    return plan::make_metric(metric, plan::LabelKind::classes);
}

bool is_of_training(const plan::Metric& metric) {
    const plan::MetricInfo* info = plan::find_metric(metric.type);
    return info && info->join != plan::MetricJoin::scores;
}

}  // namespace dtnn::compiler
