// The metrics and their fields: what is measured besides the loss.

#include "compiler/frontend/components.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& no_fields() {
    static const FieldTable table;
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
          "kind: training\nmetrics: [categorical_accuracy]\n", &no_fields()}}};
    return set;
}

plan::Metric metric_of(const plan::Component& metric) {
    return {metric.type, metric.type, metric.attributes, metric.type};
}

bool is_one_number(const plan::Metric&) {
    return true;
}

}  // namespace dtnn::compiler
