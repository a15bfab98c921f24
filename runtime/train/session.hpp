#pragma once
/// A session, which training, evaluation and measuring share: a plan's executor, its data, and a
/// pass over batches.
///
/// With several ranks each has a session, and all call what is marked "together" at the same
/// places. Weights, optimizer state (but for states in parts, of which each rank has its own) and
/// averages of weights are the same bits on every rank. Moving
/// statistics (of batch norm, and averages of them) are each rank's own while it trains; those of
/// rank 0 count: they are what is evaluated with, on every rank, and what a checkpoint holds.
/// Training reads none of them, so a run that goes on from a checkpoint makes the same bits.
///
/// Ranks that move weights of their own (plan/rules/local_steps.hpp) differ in everything until
/// they synchronise; then weights, moving statistics and averages are the same bits again, and the
/// optimizer's state stays each rank's own.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/rules/local_steps.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/data/pipeline.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/data/sampler.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/train/agreement.hpp"
#include "runtime/train/metrics.hpp"

namespace dtnn::runtime {

class NumberCheck;

/// The loss and the metrics of a pass over samples.
struct PassValues {
    std::vector<MetricValue> values;  ///< the loss first, then the plan's metrics
    std::int64_t samples = 0;         ///< zero: there was no pass
    bool stopped = false;             ///< it was cut short by a request to stop

    double loss() const { return values.front().number(); }
    /// The value of this name; null: there is none.
    const MetricValue* find(const std::string& name) const;
};

/// A loss on the split that is NaN or infinite is a RunError (exit 6).
void require_number(const PassValues& values, const std::string& split = "test");

/// A program with the addresses of what the loop writes and reads.
struct BatchProgram {
    BoundProgram* program = nullptr;
    BatchInputs inputs;
    void* learning_rate = nullptr;     ///< may be null
    std::int64_t* update = nullptr;    ///< updates before this one; may be null
    std::int64_t* position = nullptr;  ///< may be null
    void* batch_weight = nullptr;      ///< only with accumulation or several ranks
    BatchOutputs outputs;

    /// The loss of the batch that was run last.
    double loss() const { return outputs.batch_loss(); }
    void set_learning_rate(double value, DType dtype) const;
    /// The batch's share of the samples that one update adds up, over all ranks.
    void set_batch_weight(double value, DType dtype) const;
    /// The epoch, from 0, and the place of the batch's first sample in the epoch's order: what
    /// dropout draws follows from them.
    void set_position(std::int64_t epoch, std::int64_t first_sample) const;
};

/// How the inputs of one sample lie in memory. The batch is their outermost axis, and all programs
/// agree (checked when the plan was loaded).
std::vector<Arrangement> sample_arrangements(const plan::Plan& plan);

/// The inputs that batches for the program go to.
BatchInputs batch_inputs(const BoundProgram& program);

/// Whether a session draws the first values of its parameters, or somebody loads weights into it,
/// which would replace them: they are zeros.
enum class FirstValues : std::uint8_t { drawn, loaded };

/// Everything is allocated and bound by the constructor; parameters have their first values.
class Session {
  public:
    /// A session without other ranks.
    Session(const plan::Plan& plan, int threads, std::unique_ptr<SampleSource> source,
            FirstValues first = FirstValues::drawn);
    /// Together. The communicator outlives the session.
    Session(const plan::Plan& plan, int threads, std::unique_ptr<SampleSource> source,
            Communicator& communicator, FirstValues first = FirstValues::drawn);
    /// Together, on this device.
    Session(const plan::Plan& plan, std::unique_ptr<Device> device,
            std::unique_ptr<SampleSource> source, Communicator& communicator,
            FirstValues first = FirstValues::drawn);

    Communicator& communicator() const { return communicator_; }
    int rank() const { return communicator_.rank(); }
    int ranks() const { return communicator_.ranks(); }
    Agreement& agreement() { return agreement_; }

    const plan::Plan& plan() const { return executor_.plan(); }
    Executor& executor() { return executor_; }
    Pipeline& pipeline() { return pipeline_; }
    Sampler& sampler() { return sampler_; }
    const SampleSource& source() const { return *source_; }

    /// The program for batches of this size, ready to run. With `update` it ends its group of
    /// batches; without, its gradients wait for the batch that does.
    const BatchProgram& train_program(std::int64_t batch, bool update = true) const;
    const BatchProgram& evaluate_program(std::int64_t batch) const;
    /// The program for the largest batch: a rank without samples runs it in a step of the others.
    const BatchProgram& idle_program(bool update) const;

    /// Null where ranks exchange gradients, and of one rank.
    const plan::LocalSteps* local_steps() const { return local_steps_ ? &*local_steps_ : nullptr; }
    /// Tells the training samples of each rank, where ranks have data of their own.
    void set_rank_samples(std::vector<std::int64_t> samples);
    /// Together: all that training changes, but the optimizer's state, becomes the mean over the
    /// ranks, in which each has a share of its own.
    void synchronise(double share);

    /// Together: all parameters become those of rank 0, which is verified. A state that ranks have
    /// in parts becomes what rank 0 has of the whole (ShardStates), and stays where it has nothing.
    void share_parameters();
    /// Together, before rank 0 writes a checkpoint: it has the whole of such states.
    void gather_states();
    /// Together: what each rank has of its own, on rank 0: the bytes of the parameters by rank that
    /// belong to no shard, rank after rank without rank 0. Nothing on the others.
    std::vector<std::byte> gather_own_states();
    /// Together: the same from rank 0 to the ranks whose they are; nothing: they stay as they are.
    /// Where these are another number of ranks, what exchanges keep for the next time is added up
    /// on rank 0.
    void scatter_own_states(std::span<const std::byte> all);
    /// What is carried from batch to batch becomes zeros, of training or of evaluation: before an
    /// epoch or a pass.
    void begin_states(plan::ProgramKind kind);
    /// Together, within an epoch: what training carries, on rank 0: of each state the samples of
    /// all ranks, rank after rank. Nothing on the others.
    std::vector<std::byte> gather_carried();
    /// Together: the same from rank 0 to the ranks; nothing: it stays as it is. The ranks may be
    /// others that share the same samples.
    void scatter_carried(std::span<const std::byte> all);
    /// Together: moving statistics become those of rank 0.
    void share_statistics();

    /// Together: the loss and metrics over these samples of a split, shared between the ranks; of
    /// ranks with data of their own, over what each gives of its own.
    /// Stops early, with what it has, when a stop is requested, or when `check` (may be null) or
    /// the loss meets a NaN or an infinity.
    PassValues evaluate(Split split, std::span<const std::int64_t> order,
                        NumberCheck* check = nullptr);
    /// The same over the validation samples. Where there are none, there is no pass, and there are
    /// no values.
    PassValues validate(NumberCheck* check = nullptr);
    /// Is told after each batch of these passes how many of how many are done.
    void watch_evaluation(std::function<void(std::int64_t done, std::int64_t batches)> watch) {
        watch_ = std::move(watch);
    }

  private:
    Session(const plan::Plan& plan, int threads, std::unique_ptr<SampleSource> source,
            std::unique_ptr<Communicator> own, FirstValues first);
    BatchProgram ready(plan::ProgramKind kind, std::int64_t batch);
    bool evaluate_pass(const Pass& pass, std::int64_t steps, NumberCheck* check, bool& stopped);
    void share(std::size_t parameter);
    void keep_what_is_owed(std::span<const std::byte> all, std::size_t size);

    std::unique_ptr<Communicator> own_;  ///< null: given
    Communicator& communicator_;
    Agreement agreement_;
    Executor executor_;
    std::unique_ptr<SampleSource> source_;
    Sampler sampler_;
    Pipeline pipeline_;
    std::vector<BatchProgram> train_;
    std::vector<BatchProgram> accumulate_;
    std::vector<BatchProgram> evaluate_;
    std::optional<plan::LocalSteps> local_steps_;
    BoundProgram* synchronise_ = nullptr;       ///< where ranks move weights of their own
    void* share_ = nullptr;                     ///< its input
    std::vector<std::size_t> own_states_;       ///< parameters by rank that belong to no shard
    std::vector<const plan::Tensor*> carried_;  ///< what training carries
    std::vector<std::size_t> statistics_;       ///< parameters that are moving statistics
    std::optional<MetricSet> evaluation_;       ///< made by the first evaluation
    std::function<void(std::int64_t done, std::int64_t batches)> watch_;
};

}  // namespace dtnn::runtime
