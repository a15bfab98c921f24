#include "plan/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include "base/saturating.hpp"
#include "base/tensor/choices.hpp"

namespace dtnn::plan {
namespace {

constexpr int kClasses = 1 << int(LabelKind::classes);
constexpr int kMultiple = 1 << int(LabelKind::multiple);
/// Real numbers: given with the samples, or the samples themselves.
constexpr int kValues = 1 << int(LabelKind::values) | 1 << int(LabelKind::input);
constexpr int kSequences = 1 << int(LabelKind::sequence);

constexpr std::array kMetrics = [] {
    // Words of the table.
    constexpr bool rows = false;
    constexpr bool elements = true;
    return std::array{
#define METRIC(name, join, over, labels, better, value, fp, fn, of_class)                         \
    MetricInfo{#name,    MetricJoin::join, over, labels, MetricBetter::better, MetricForm::value, \
               {fp, fn}, of_class},
#include "plan/metrics.def"
#undef METRIC
    };
}();

template <class Value>
Value value_of(const Attributes& attributes, const char* name, Value absent) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return absent;
    const auto* value = std::get_if<Value>(&found->second);
    return value == nullptr ? absent : *value;
}

/// The metric that a spec writes as an expression, and names.
constexpr std::string_view kFormula = "formula";

/// "" or "_0.3".
std::string threshold_suffix(const Attributes& attributes) {
    constexpr double kUsual = 0.5;
    const double threshold = value_of(attributes, "threshold", kUsual);
    return threshold == kUsual ? "" : fmt::format("_{}", threshold);
}

// Counts of an epoch, of an evaluation, as a checkpoint has them, and as the one had them that the
// run goes on from. A table at the end of an epoch: as numbers, and as the history writes them, of
// both passes.
constexpr std::int64_t kPasses = 2, kKept = 2, kNumber = 8, kWritten = 24,
                       kWhole = kNumber + kWritten;

}  // namespace

double MetricInfo::value(double mean) const {
    if (form == MetricForm::exponential) return std::exp(mean);
    return form == MetricForm::bits ? mean / std::numbers::ln2 : mean;
}

std::span<const MetricInfo> all_metrics() {
    return kMetrics;
}

const MetricInfo* find_metric(std::string_view type) {
    const auto found = std::find_if(kMetrics.begin(), kMetrics.end(),
                                    [&](const auto& m) { return m.type == type; });
    return found == kMetrics.end() ? nullptr : &*found;
}

std::string metric_name(const Component& metric) {
    const Attributes& attributes = metric.attributes;
    // The number stands inside the name, where others have theirs at the end.
    if (metric.type == "top_k_accuracy")
        return fmt::format("top_{}_accuracy", value_of(attributes, "k", std::int64_t{5}));
    if (metric.type == kFormula) return value_of(attributes, "name", std::string());
    const Averaging averaging = averaging_of(attributes);
    const std::string average =
        averaging == Averaging::macro ? "" : fmt::format("_{}", name_of(averaging));
    return metric.type + average + threshold_suffix(attributes);
}

Averaging averaging_of(const Attributes& attributes) {
    return choice<Averaging>(attributes, "average").value_or(Averaging::macro);
}

bool is_one_number(const Metric& metric) {
    const MetricInfo* info = find_metric(metric.type);
    if (info == nullptr || info->form == MetricForm::table) return false;
    return info->form != MetricForm::rate ||
           averaging_of(metric.attributes) != Averaging::per_class;
}

bool higher_is_better(const Metric& metric) {
    const MetricInfo* info = find_metric(metric.type);
    if (info == nullptr) return false;
    return choice<MetricBetter>(metric.attributes, "better").value_or(info->better) ==
           MetricBetter::higher;
}

std::string metric_output(const Component& metric, LabelKind kind) {
    const MetricInfo* info = find_metric(metric.type);
    if (info != nullptr && info->join == MetricJoin::scores) return "predictions";
    if (info != nullptr && info->join == MetricJoin::mean) return "cross_entropy";
    if (metric.type == kFormula) return fmt::format("{}.{}", kFormula, metric_name(metric));
    if (info == nullptr || info->join == MetricJoin::sum) return metric_name(metric);
    if (kind == LabelKind::classes) return "class_pairs";
    return "label_counts" + threshold_suffix(metric.attributes);
}

Metric make_metric(const Component& metric, LabelKind kind) {
    return {metric_name(metric), metric.type, metric.attributes, metric_output(metric, kind)};
}

std::int64_t metric_items(const Metric& metric, const Dataset& dataset) {
    const MetricInfo* info = find_metric(metric.type);
    const MeanOver usual =
        info != nullptr && info->over_elements ? MeanOver::elements : MeanOver::rows;
    const bool elements =
        choice<MeanOver>(metric.attributes, "over").value_or(usual) == MeanOver::elements;
    return saturating_product({element_count(dataset.target().dims),
                               elements ? std::max<std::int64_t>(dataset.target().classes, 1) : 1});
}

CountForm count_form(const Training& training, LabelKind kind, const std::string& output) {
    if (kind == LabelKind::multiple) return CountForm::all_outcomes;
    const bool table =
        std::any_of(training.metrics.begin(), training.metrics.end(), [&](const Metric& metric) {
            const MetricInfo* info = find_metric(metric.type);
            return metric.output == output && info != nullptr && info->form == MetricForm::table;
        });
    return table ? CountForm::matrix : CountForm::outcomes;
}

std::int64_t count_columns(CountForm form, std::int64_t classes) {
    switch (form) {
        case CountForm::matrix:
            return classes;
        case CountForm::outcomes:
            return 3;
        case CountForm::all_outcomes:
            break;
    }
    return 4;
}

MatrixPrice price_of_matrix(std::int64_t classes) {
    const std::int64_t entries = saturating_product({classes, classes});
    return {saturating_product({entries, (kPasses + kKept) * kNumber + kPasses * kWhole}),
            saturating_product({entries, kWritten, kPasses})};
}

std::int64_t metric_bytes(const Training& training, const Dataset& dataset, DType dtype) {
    const std::int64_t classes = dataset.target().classes;
    const bool multiple = dataset.target().kind == LabelKind::multiple;
    const std::int64_t scored =
        saturating_product({std::max(dataset.validation_samples, dataset.test_samples),
                            element_count(dataset.target().dims)});
    std::set<std::string> counted;
    std::int64_t bytes = 0;
    const auto add = [&](std::int64_t more) { bytes = saturating_sum({bytes, more}); };
    bool scores = false, together = false;
    for (const Metric& metric : training.metrics) {
        const MetricInfo* info = find_metric(metric.type);
        if (info == nullptr) continue;
        if (info->join == MetricJoin::counts) {
            const CountForm form = count_form(training, dataset.target().kind, metric.output);
            const std::int64_t entries =
                saturating_product({classes, count_columns(form, classes)});
            if (counted.insert(metric.output).second)
                add(saturating_product({kPasses + kKept, kNumber, entries}));
            if (info->form == MetricForm::table)
                add(saturating_product({kPasses, kWhole, entries}));
        }
        scores = scores || info->join == MetricJoin::scores;
        together = together || (info->join == MetricJoin::scores &&
                                averaging_of(metric.attributes) == Averaging::micro);
    }
    if (scores) {
        constexpr std::int64_t kSorted = 16;
        add(saturating_product({scored, classes, size_of(dtype)}));
        add(saturating_product({scored, multiple ? classes : size_of(DType::i32)}));
        add(saturating_product({scored, kSorted, together ? classes : 1}));
    }
    return bytes;
}

}  // namespace dtnn::plan
