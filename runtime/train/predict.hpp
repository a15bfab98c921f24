#pragma once
/// Predictions of a network about samples: its predict program over batches.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "plan/plan.hpp"
#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

class Executor;
class Pipeline;
class Session;

/// The form of a plan's predictions.
///     classes    a number for each class, of which the largest counts (the first of equal ones, as
///                for categorical_accuracy); per pixel where pixels have labels
///     multiple   a number for each of the labels, which a sample may have any of
///     values     real numbers
struct PredictionForm {
    plan::LabelKind kind = plan::LabelKind::classes;
    Dims dims;  ///< logical dims of a sample's predictions: [classes], [classes,H,W],
                ///< [steps,classes]
    Axes axes;  ///< what these are
    /// The axis of `dims` along which the numbers of a place are.
    std::size_t along() const { return std::size_t(std::max(0, feature_axis(axes))); }
    bool probabilities = true;  ///< what is told of samples; else scores, or values
    plan::Prediction given = plan::Prediction::probabilities;  ///< what the network's output is
};

/// A plan without a program that predicts is a RunError (exit 5).
PredictionForm prediction_form(const plan::Plan& plan);

struct PredictedBatch {
    std::int64_t first = 0;  ///< place of its first sample in the order
    std::int64_t samples = 0;
    std::span<const double> predictions;  ///< [samples, dims], row-major; exact in the plan's type
    /// The truth as the source has it: of classes `labels`, otherwise `targets`.
    std::span<const std::int32_t> labels;
    std::span<const double> targets;
    /// Steps of each sample that its predictions are of, which have a step as their first axis:
    /// those behind are zeros. None where all are.
    std::span<const std::int32_t> lengths;
};

/// The predict program of an executor, which is asked about samples of a source, once or again.
class Predictor {
  public:
    /// All of them outlive it; the pipeline is one over the source. RunError (exit 5) where the
    /// plan has no program that predicts.
    Predictor(Executor& executor, Pipeline& pipeline, const SampleSource& source);
    ~Predictor();

    /// Tells of batch after batch, as `predict` below. `prepared`: since the call before, nothing
    /// else has run in the executor and no parameter has changed, so that what depends on
    /// parameters alone need not be computed again.
    void predict(Split split, std::span<const std::int64_t> order,
                 const std::function<void(const PredictedBatch&)>& tell, bool prepared = false);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Tells of batch after batch. The last one may have fewer samples than the program takes: zeros
/// stand in for the others, which no sample's prediction depends on. Stops early when a stop is
/// requested. A prediction that is NaN or infinite is a RunError (exit 6) that names the sample.
void predict(Session& session, Split split, std::span<const std::int64_t> order,
             const std::function<void(const PredictedBatch&)>& tell);

}  // namespace dtnn::runtime
