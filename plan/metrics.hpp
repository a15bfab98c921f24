#pragma once
/// The facts that compiler and runtime both know of metrics: which there are (metrics.def), how the
/// batches of a pass are joined, which outputs of the programs they read, and how much memory that
/// takes.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace dtnn::plan {

enum class MetricJoin { sum, mean, counts, scores };
enum class MetricBetter { higher, lower, neither };
constexpr auto names_of(MetricBetter) {
    return std::to_array<const char*>({"higher", "lower", "neither"});
}
enum class MetricForm { number, exponential, bits, rate, table };
/// Whether rates of classes are averaged, are those of all classes' answers together, or stay
/// apart.
enum class Averaging { macro, micro, per_class };
constexpr auto names_of(Averaging) {
    return std::to_array<const char*>({"macro", "micro", "per_class"});
}

/// A rate of a class is TP / (TP + false_positives FP + false_negatives FN), of its true positives,
/// false positives and false negatives: Tversky's index (1977), which precision (1, 0), recall
/// (0, 1), F1 (1/2, 1/2) and the intersection over the union (1, 1) are.
struct RateWeights {
    double false_positives = 0, false_negatives = 0;

    /// The rate, of a class's counts; 0 where the denominator is.
    double of(double true_positive, double false_positive, double false_negative) const {
        const double all =
            true_positive + false_positives * false_positive + false_negatives * false_negative;
        return all > 0 ? true_positive / all : 0;
    }
};

struct MetricInfo {
    std::string_view type;
    MetricJoin join;
    bool over_elements;  ///< a sum is divided by rows * classes, else by rows
    int labels;          ///< bit i: can be taken of labels of LabelKind(i)
    MetricBetter better;
    MetricForm form;
    RateWeights rate;           ///< of what has the form of a rate
    std::string_view of_class;  ///< what such a rate of one class is called

    /// What a pass's sum or mean, divided, comes to.
    double value(double mean) const;
    bool takes(LabelKind kind) const { return (labels >> int(kind)) % 2 != 0; }
};

/// The loss, which is measured as metrics are, and is no metric. It is better when smaller.
inline constexpr const char* kLossName = "loss";

std::span<const MetricInfo> all_metrics();
const MetricInfo* find_metric(std::string_view type);

/// The metric's name in histories and schedules: its type, and of the fields that are not as by
/// default those that tell it from another of its type ("top_3_accuracy", "f1_per_class",
/// "recall_0.3"; "top_k_accuracy" is always named by its k, a formula by its field `name`).
std::string metric_name(const Component& metric);

/// By a metric's field `average`.
Averaging averaging_of(const Attributes& attributes);

/// Whether its value is one number, which a schedule can watch. False of an unknown type.
bool is_one_number(const Metric& metric);
/// Whether it is better when larger. False of an unknown type.
bool higher_is_better(const Metric& metric);

/// The output of the programs that the metric reads. Metrics that share one have one output.
///     sum      the metric's name, of a formula "formula." and its name: f64, the sum over the
///              batch
///     mean     "cross_entropy": the plan's type, the mean over the rows that count of what the
///              loss of that kind is without smoothing and weights
///     counts   "class_pairs", i32 [rows, 2]: label and prediction of each row, -1 for a
///     label that
///              is no class; where samples have any number of classes "label_counts", i64 [C, 4]:
///              true negatives, false positives, false negatives, true positives of each, with the
///              threshold in its name unless it is 0.5
///     scores   "predictions"
std::string metric_output(const Component& metric, LabelKind kind);

/// The metric, with name and output.
Metric make_metric(const Component& metric, LabelKind kind);

/// How counts of classes are kept: what a program gives for each batch, added up.
enum class CountForm {
    matrix,        ///< labels by predictions, C columns: where a table shows them
    outcomes,      ///< of each class false positives, false negatives, true positives
    all_outcomes,  ///< and in front of them true negatives: samples have any number of classes
};
/// The form of the counts that the output of the programs is added up in.
CountForm count_form(const Training& training, LabelKind kind, const std::string& output);
/// Numbers of a class.
std::int64_t count_columns(CountForm form, std::int64_t classes);

/// The classes of the largest confusion matrix: 4,000,000 numbers, 32 MB at a time and up to 100 MB
/// of a line in the history.
inline constexpr std::int64_t kMostMatrixClasses = 2000;
/// What a matrix of so many classes takes: in memory, as metric_bytes() counts it, and in a line of
/// the history.
struct MatrixPrice {
    std::int64_t memory = 0, line = 0;
};
MatrixPrice price_of_matrix(std::int64_t classes);

/// The divisor of the sum of one sample.
std::int64_t metric_items(const Metric& metric, const Dataset& dataset);

/// The most that the metrics keep in memory during a pass and at its end, beside the programs:
///     counts of classes    8 bytes for each of count_columns() numbers of a class, for each
///                          threshold where samples have any number of
///                          classes; four times, for training, for evaluation, and as
///                          checkpoints that are written and read have them
///     tables               of confusion matrices as much again twice, as values, and 24 bytes an
///                          entry for the line of the history, of both passes
///     scores               of S samples of R rows, S the larger of validation and test split: R S
///                          (C size_of(dtype) + 4), or R S (C size_of(dtype) + C) where samples
///                          have any number of classes, and to sort them 16 R S for each class
///                          in turn, 16 R S C when all are one question (micro). Evaluating the
///                          training split takes as much more as it has more samples
std::int64_t metric_bytes(const Training& training, const Dataset& dataset, DType dtype);

}  // namespace dtnn::plan
