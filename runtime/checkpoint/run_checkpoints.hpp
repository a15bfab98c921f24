#pragma once
/// The checkpoints and the best weights of a run, in its folder:
///
///     RUN/checkpoints/0000000782/      one for each step that is kept (checkpoint.hpp)
///     RUN/checkpoints/latest           the name of the newest, written last
///     RUN/best/SCHEDULE/epoch_7.safetensors
///
/// A checkpoint is written into a folder aside, flushed and renamed, so that whatever bears the
/// name of a step is whole. What could not be written leaves nothing behind, and what was there
/// before stays.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {

/// The facts that every checkpoint of a run says of it.
struct RunIdentity {
    std::string plan_checksum;
    std::string dataset;
    int threads = 1;
    /// The identities (training_identity.hpp) of trainings that this one takes over from: their
    /// checkpoints serve, too.
    std::vector<std::string> ended = {};
};

class RunCheckpoints final : public TrainingKeeper {
  public:
    /// `history` flushes the run's history to the disk and gives its length in bytes.
    RunCheckpoints(std::string run_folder, Executor& executor, RunIdentity identity,
                   std::function<std::int64_t()> history);

    void checkpoint(TrainingState state) override;
    /// Keeps what is to be restored: all weights and statistics, and averages beside them.
    /// Otherwise keeps what evaluation reads, under the names of weights, as --weights takes it.
    void keep_best(const BestWeights& best) override;
    void take_back(const BestWeights& best) override;
    void forget_others(const std::vector<KeptWeights>& kept) override;

    /// The newest checkpoint that is whole, with its parameters in the executor; nothing when the
    /// run has no checkpoint. Damaged ones that are newer are told to `warn` and set aside. When
    /// all are damaged, nothing is changed and that is a RunError; so is a checkpoint of another
    /// plan, and one that cannot be read.
    std::optional<Checkpoint> load_newest(const std::function<void(const std::string&)>& warn);

    /// Removes what an earlier process has left half done, and puts back what it had moved away.
    void clean();

    /// Removes the best weights that better ones have replaced. Happens with every checkpoint:
    /// until then an older one names them.
    void forget_dropped();

    std::string folder() const { return folder_ + "/checkpoints"; }

  private:
    std::vector<std::string> steps() const;  ///< names, the newest last
    void remove_old() const;
    std::string best_path(const BestWeights& best, std::int64_t epoch) const;

    std::string folder_;
    Executor& executor_;
    RunIdentity identity_;
    std::function<std::int64_t()> history_;
    std::vector<std::string> dropped_;  ///< files of best weights
};

}  // namespace dtnn::runtime
