// The metrics and their fields: what is measured besides the loss. How they are joined over a pass:
// plan/metrics.def.

#include "compiler/frontend/tables/components.hpp"
#include "plan/metrics.hpp"

namespace dtnn::compiler {
namespace {

Field threshold_field() {
    return {.name = "threshold",
            .type = FieldType::real,
            .fallback = 0.5,
            .doc =
                "where samples have any number of classes: the probability above which a class "
                "is predicted"};
}

const FieldTable& top_k_fields() {
    static const FieldTable table = {
        {.name = "k",
         .type = FieldType::integer,
         .fallback = std::int64_t{5},
         .doc = "how many of the largest predictions count",
         .minimum = 1,
         .maximum = 1'000'000},
    };
    return table;
}

const FieldTable& threshold_fields() {
    static const FieldTable table = {threshold_field()};
    return table;
}

const FieldTable& rate_fields() {
    static const FieldTable table = {
        {.name = "average",
         .type = FieldType::choice,
         .fallback = std::string("macro"),
         .doc = "macro: the mean over the classes; micro: of all classes' counts together; "
                "per_class: a list",
         .choices = {"macro", "micro", "per_class"}},
        threshold_field(),
    };
    return table;
}

const FieldTable& area_fields() {
    static const FieldTable table = {
        {.name = "average",
         .type = FieldType::choice,
         .fallback = std::string("macro"),
         .doc = "macro: the mean over the classes; micro: all predictions as one question",
         .choices = {"macro", "micro"}},
    };
    return table;
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
         {"hinge", "The hinge loss, as a metric.", "kind: training\nmetrics: [hinge]\n",
          &hinge_fields()},
         {"mean_squared_error",
          "The mean of the squared differences of predictions and targets, over all numbers.",
          "kind: training\nmetrics: [mean_squared_error]\n", &no_fields()},
         {"mean_absolute_error",
          "The mean of the absolute differences of predictions and targets, over all numbers.",
          "kind: training\nmetrics: [mean_absolute_error]\n", &no_fields()},
         {"precision",
          "Of what was predicted to be a class, the share that is; 0 where nothing was.",
          "kind: training\nmetrics: [{precision: {average: micro}}]\n", &rate_fields()},
         {"recall", "Of what is a class, the share that was predicted; 0 where nothing is.",
          "kind: training\nmetrics: [recall]\n", &rate_fields()},
         {"f1", "The harmonic mean of precision and recall.",
          "kind: training\nmetrics: [{f1: {average: per_class}}]\n", &rate_fields()},
         {"confusion_matrix",
          "How many samples of each class (rows) were predicted to be each class (columns); where "
          "samples have any number of classes, for each class true negatives, false positives, "
          "false negatives and true positives.",
          "kind: training\nmetrics: [confusion_matrix]\n", &threshold_fields()},
         {"roc_auc",
          "The area under the curve of true over false positives, each class against the rest. "
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
