#pragma once
/// The loss and the metrics of a pass over data, exact over all its samples: batches are joined by
/// what each metric is made of (sums, counts of classes, scores), never as a mean of the batches'
/// values. A pass is an epoch's training batches, or an evaluation.
///
///     loss                     sum of (batch's loss * its weight) / sum of the weights; the weight
///                              of a batch is its samples, or, with class weights, their sum
///     categorical_accuracy,    right answers / rows. A row is a sample, or a pixel where pixels
///     top_k_accuracy           have labels
///     binary_accuracy          right answers / (rows * classes)
///     cross_entropy            sum of (batch's mean * its rows that count) / those of all
///     perplexity               e to the power of that; bits_per_token: that / ln 2
///     hinge                    sum over rows / rows
///     mean_squared_error,      sum over elements / (rows * classes)
///     mean_absolute_error
///     label_error_rate         changes of labels / labels of the sequences
///     precision, recall, f1,   of true and false positives and false negatives of each class.
///     mean_iou                 0 where the denominator is. macro: mean over the classes that occur
///                              (as label or as prediction), over all where a sample has any number
///                              of classes; micro: of the sums; per_class: a list
///     confusion_matrix         rows are labels, columns predictions; where a sample has any number
///                              of classes a row for each: true negatives, false positives, false
///                              negatives, true positives
///     roc_auc                  each class against the rest; ties count half (the area under the
///                              trapezoids). macro: mean over the classes that have both kinds of
///                              samples; micro: all (row, class) as one question. Not a number when
///                              no class has both. Evaluation only: a training pass has none
///
/// Memory: 8 bytes a number; for precision, recall, f1, mean_iou and confusion_matrix one list of
/// counts together, 24 C bytes, with a confusion matrix 8 C^2 (8 MB for 1000 classes; 32 C where a
/// sample has any number of classes);
/// for roc_auc the scores of the pass, plan::metric_bytes in all, whatever the number of ranks.
/// Only values() and save_counts() take more for a while: that figure includes it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/metrics.hpp"
#include "plan/plan.hpp"
#include "runtime/train/class_counts.hpp"

namespace dtnn::runtime {

class BoundProgram;
class Communicator;

enum class PassKind { training, evaluation };

/// A metric at the end of a pass.
struct MetricValue {
    enum class Form { number, list, matrix };
    std::string name;
    Form form = Form::number;
    std::vector<double> numbers;  ///< one; or one for each class; or the matrix row by row
    std::int64_t columns = 1;     ///< columns of a matrix

    double number() const { return numbers.front(); }
};

/// Those of a pass of several ranks.
struct JoinedValues {
    std::vector<MetricValue> values;
    std::int64_t samples = 0;
};

/// The outputs of a program that the metrics read. Found once for each program; the addresses stay.
struct BatchOutputs {
    struct Array {
        const void* data = nullptr;
        DType dtype = DType::f32;
        std::int64_t elements = 0;
    };
    Array loss;
    Array loss_weight;  ///< no data: the number of samples
    Array counted;      ///< how many labels count; no data: all
    std::vector<Array>
        metrics;   ///< one for each of plan.training.metrics; no data: not measured here
    Array labels;  ///< the input of the role target

    static BatchOutputs of(const plan::Plan& plan, const BoundProgram& program);
    /// The loss of the batch that was run last.
    double batch_loss() const;
};

class MetricSet {
  public:
    /// The plan outlives the set. Everything that adding takes is allocated here, for `samples` in
    /// a pass (0: the largest of the plan's splits).
    explicit MetricSet(const plan::Plan& plan, PassKind kind = PassKind::evaluation,
                       std::int64_t samples = 0);

    /// Begins a pass.
    void reset();
    /// Adds the batch that was run last.
    void add(const BatchOutputs& batch, std::int64_t samples);
    std::int64_t samples() const { return samples_; }
    /// Of the batch that was added last: its loss times its weight, and that.
    struct WeightedLoss {
        double sum = 0;
        double weight = 0;
    };
    const WeightedLoss& last_loss() const { return last_loss_; }

    /// The loss and the plan's metrics that such a pass measures, in the plan's order; names only
    /// depend on plan and kind.
    std::vector<std::string> names() const;
    std::vector<MetricValue> values() const;

    /// The measures that cost nothing to know at any time: the loss and the metrics that are one
    /// mean. For lines of progress.
    std::size_t running_count() const { return running_.size(); }
    const std::string& running_name(std::size_t i) const { return running_[i].name; }
    double running_value(std::size_t i) const;

    /// For a checkpoint in the middle of an epoch, in two parts: the samples and the sums of real
    /// numbers, a few bytes; and the counts of classes. What was saved of the same plan and kind is
    /// added, as if its batches had come behind this set's; anything else is a RunError.
    std::vector<std::byte> save_sums() const;
    std::vector<std::byte> save_counts() const;
    void add_sums(std::span<const std::byte> saved);
    void add_counts(std::span<const std::byte> saved);

    /// Together, each rank with the pass that it has added its own batches to: the values of the
    /// pass of all ranks, on all of them. Counts and the area under the ROC curve do not depend on
    /// which rank had which samples; sums of real numbers are rounded in the order of the ranks.
    /// Takes no memory that grows with the classes: counts are added up in place and then stay with
    /// rank 0, as do scores, which go to it in pieces; the other ranks have none any more, so that
    /// adding batches and joining again is exact.
    JoinedValues joined(Communicator& communicator);
    /// Together: the counts alone go to rank 0.
    void collect_counts(Communicator& communicator);

  private:
    struct Running {
        std::string name;
        std::size_t metric = 0;                  ///< its place in the plan; kLoss: the loss
        const plan::MetricInfo* info = nullptr;  ///< null: the loss
        std::int64_t items = 1;                  ///< what the sum of one sample is divided by
        double sum = 0;
    };
    /// Metrics that read one output share its counts.
    struct Counts {
        std::string output;
        std::size_t metric = 0;  ///< one of those that read it
        ClassCounts of_classes;
    };
    static constexpr std::size_t kLoss = std::size_t(-1);
    static constexpr std::size_t kNone = kLoss;

    void add_scores(const BatchOutputs& batch);
    MetricValue value_of(const plan::Metric& metric) const;
    /// visit(number) for the samples and sums of a pass, always in the same order.
    template <class Self>
    static void visit_sums(Self& self, auto visit);
    void add_up_counts(Communicator& communicator);
    void collect_rows(Communicator& communicator);
    /// visit(vector) for what a pass keeps of every row.
    template <class Self>
    static void visit_rows(Self& self, auto visit);
    const plan::Plan* plan_;
    PassKind kind_;
    std::int64_t classes_;
    bool multiple_;        ///< a sample has any number of classes
    bool ignores_;         ///< some labels do not count
    std::size_t scoring_;  ///< a metric of the plan that keeps scores
    std::int64_t samples_ = 0;
    double counted_ = 0;  ///< labels that count, where some do not
    double weight_ = 0;   ///< sum of the weights of the losses added
    WeightedLoss last_loss_;
    std::vector<Running> running_;  ///< the loss first
    std::vector<Counts> counts_;
    std::vector<float> scores_;          ///< [rows, classes] of an f32 plan
    std::vector<double> wide_scores_;    ///< likewise, for an f64 plan
    std::vector<std::int32_t> labels_;   ///< labels of the rows whose scores are kept
    std::vector<std::uint8_t> answers_;  ///< likewise [rows, classes], where there are many
    /// The areas of the metrics that keep scores, where rank 0 has told them; else empty.
    std::vector<double> areas_;
};

}  // namespace dtnn::runtime
