#pragma once
/// A network that is asked about arrays in memory, now these and then others.

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/data/pipeline.hpp"
#include "runtime/data/sources/given_samples.hpp"
#include "runtime/train/predict.hpp"

namespace dtnn::runtime {

class Executor;

/// One thread at a time, which prepares the samples as well.
class GivenPredictor {
  public:
    /// The executor outlives it. RunError (exit 5) where the plan has no program that predicts.
    explicit GivenPredictor(Executor& executor);

    /// Tells of batch after batch, as `predict` of predict.hpp, of all samples of the arrays: one
    /// for each input, which are read where they lie. What does not fit is a RunError, after which
    /// it can be asked again.
    void predict(std::vector<GivenArray> arrays,
                 const std::function<void(const PredictedBatch&)>& tell);

    /// Something else has run in the executor, or a parameter has changed: what depends on
    /// parameters alone is computed again.
    void prepare_again() { prepared_ = false; }

  private:
    GivenSamples given_;
    Pipeline batches_;
    Predictor predictor_;
    std::vector<std::int64_t> order_;  ///< 0, 1, 2 ...
    bool prepared_ = false;
};

}  // namespace dtnn::runtime
