#pragma once
/// Optimizer state that ranks have in parts (plan::Shard), made whole for checkpoints. These know
/// no parts, so that a run goes on from them on another number of ranks.

#include <cstddef>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

class Executor;

/// The state of one parameter, as an optimizer that is not shared has it: with the parameter's dims
/// and arrangement, or one number.
struct ShardTensor {
    std::string name;         ///< "conv2d_1.weights.velocity"
    std::size_t weights = 0;  ///< index into Plan::parameters
    std::size_t state = 0;    ///< likewise: the shard's state that it is a piece of
};
/// One for every shard, state and parameter.
std::vector<ShardTensor> shard_tensors(const plan::Plan& plan);
/// Indices of the parameters that are no state of a shard.
std::vector<std::size_t> unsharded_parameters(const plan::Plan& plan);

/// Indices of the parameters that are no state in parts. A shard's state that is one number is
/// among them.
std::vector<std::size_t> whole_parameters(const plan::Plan& plan);

/// The states of a plan's shards, those of all ranks. Empty, and without memory, except between
/// where they are filled and where they are used.
class ShardStates {
  public:
    explicit ShardStates(const plan::Plan& plan) : plan_(&plan) {}

    bool empty() const { return stretches_.empty(); }
    /// Whether the plan has any.
    bool wanted() const { return !states().empty(); }
    void clear() { stretches_.clear(); }
    /// Zeros, to be filled from what a checkpoint holds.
    void make_room();
    /// All parts of a state by rank, one after the other. Not empty().
    std::byte* stretch(std::size_t state) { return stretches_[slot(state)].data(); }
    const std::byte* stretch(std::size_t state) const { return stretches_[slot(state)].data(); }

    /// Together: rank 0's become what all ranks have in the executor; the others' stay empty.
    void gather(const Executor& executor, Communicator& communicator);
    /// Together: every rank's parts in the executor become those of rank 0's, if it is not empty;
    /// it is afterwards. The checksum of what this rank was sent, the same on all; empty: nothing.
    std::string scatter(const Executor& executor, Communicator& communicator);

  private:
    std::vector<std::size_t> states() const;
    std::size_t slot(std::size_t state) const;
    std::size_t part_bytes(std::size_t state) const;

    const plan::Plan* plan_;
    std::vector<std::vector<std::byte>> stretches_;  ///< in the order of states()
};

}  // namespace dtnn::runtime
