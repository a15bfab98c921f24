#pragma once
/// What training, evaluation and measuring share: a plan's executor, its data, and a pass over
/// batches.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/pipeline.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sampler.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/train/metrics.hpp"

namespace dtnn::runtime {

class NumberCheck;

/// The loss and the metrics of a pass over samples.
struct PassValues {
    std::vector<MetricValue> values;  ///< the loss first, then the plan's metrics
    std::int64_t samples = 0;         ///< zero: there was no pass

    double loss() const { return values.front().number(); }
    /// Null when there is none of this name.
    const MetricValue* find(const std::string& name) const;
};

/// A program with the addresses of what the loop writes and reads.
struct BatchProgram {
    BoundProgram* program = nullptr;
    BatchInputs inputs;
    void* learning_rate = nullptr;   ///< may be null
    std::int64_t* step = nullptr;    ///< may be null
    std::int64_t* update = nullptr;  ///< updates before this one; may be null
    void* batch_weight = nullptr;    ///< only with accumulation
    BatchOutputs outputs;

    /// Of the batch that was run last.
    double loss() const { return outputs.batch_loss(); }
    void set_learning_rate(double value, plan::DType dtype) const;
    /// The batch's share of the samples that one update adds up.
    void set_batch_weight(double value, plan::DType dtype) const;
};

/// Everything is allocated and bound by the constructor; parameters have their first values.
class Session {
  public:
    Session(const plan::Plan& plan, int threads, std::unique_ptr<SampleSource> source);

    const plan::Plan& plan() const { return executor_.plan(); }
    Executor& executor() { return executor_; }
    Pipeline& pipeline() { return pipeline_; }
    Sampler& sampler() { return sampler_; }
    const SampleSource& source() const { return *source_; }

    /// The program for batches of this size, ready to run. With `update` it ends its group of
    /// batches; without, its gradients wait for the batch that does.
    const BatchProgram& train_program(std::int64_t batch, bool update = true) const;
    const BatchProgram& evaluate_program(std::int64_t batch) const;

    /// The loss and metrics over these samples of a split. Stops early, with what it has, when a
    /// stop is requested, or when `check` (may be null) or the loss meets what is no number.
    PassValues evaluate(Split split, std::span<const std::int64_t> order,
                        NumberCheck* check = nullptr);
    /// The same over the validation samples; none, without a pass, when there are none.
    PassValues validate(NumberCheck* check = nullptr);

  private:
    BatchProgram ready(const std::string& kind, std::int64_t batch);

    Executor executor_;
    std::unique_ptr<SampleSource> source_;
    Sampler sampler_;
    Pipeline pipeline_;
    std::vector<BatchProgram> train_;
    std::vector<BatchProgram> accumulate_;
    std::vector<BatchProgram> evaluate_;
    std::optional<MetricSet> evaluation_;  ///< made by the first evaluation
};

}  // namespace dtnn::runtime
