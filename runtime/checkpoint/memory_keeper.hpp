#pragma once
/// The keeper of a training that writes no folder: whoever runs it has its state and the executor,
/// and what is to be taken back at the end is kept in memory.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/exec/executor.hpp"
#include "runtime/train/training_state.hpp"

namespace dtnn::runtime {

class MemoryKeeper final : public TrainingKeeper {
  public:
    /// The executor outlives it.
    explicit MemoryKeeper(Executor& executor) : executor_(executor) {}

    void checkpoint(TrainingState) override {}
    /// Keeps weights, statistics and averages where they are to be restored; each schedule's best.
    void keep_best(const BestWeights& best) override;
    void forget_others(const std::vector<KeptWeights>& kept) override;
    void take_back(const BestWeights& best) override;

  private:
    /// Calls use(bytes) with the memory of every parameter that is taken back.
    template <class Use>
    void each(HostView::Access access, const Use& use);

    Executor& executor_;
    std::map<std::pair<std::string, std::int64_t>, std::vector<std::byte>> best_;
};

}  // namespace dtnn::runtime
