#pragma once
/// What training, evaluation and measuring share: a plan's executor, its data, and a pass over
/// batches.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/pipeline.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sampler.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {

/// Means over the samples of a pass. values[0] is the loss, then the plan's metrics.
struct Means {
    std::vector<double> values;
    std::int64_t samples = 0;

    explicit Means(std::size_t count = 1) : values(count, 0.0) {}
};

/// "loss" and the plan's metrics.
std::vector<std::string> measure_names(const plan::Plan& plan);

/// A program with the addresses of what the loop writes and reads.
struct BatchProgram {
    BoundProgram* program = nullptr;
    void* source = nullptr;
    std::int32_t* labels = nullptr;     ///< may be null
    void* learning_rate = nullptr;      ///< may be null
    std::int64_t* step = nullptr;       ///< may be null
    std::int64_t* update = nullptr;     ///< updates before this one; may be null
    void* batch_weight = nullptr;       ///< only with accumulation
    std::vector<const void*> measures;  ///< in the order of measure_names

    /// measures[i] of the batch that was run last, in the plan's floating type.
    double measure(std::size_t i, plan::DType dtype) const;
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

    /// The program for batches of this size, ready to run.
    const BatchProgram& train_program(std::int64_t batch) const;
    const BatchProgram& evaluate_program(std::int64_t batch) const;

    /// The means over these samples of a split. Stops early, with what it has, when a stop is
    /// requested.
    Means evaluate(Split split, std::span<const std::int64_t> order);

  private:
    BatchProgram ready(const std::string& kind, std::int64_t batch);

    Executor executor_;
    std::unique_ptr<SampleSource> source_;
    Sampler sampler_;
    Pipeline pipeline_;
    std::vector<BatchProgram> train_;
    std::vector<BatchProgram> evaluate_;
};

}  // namespace dtnn::runtime
