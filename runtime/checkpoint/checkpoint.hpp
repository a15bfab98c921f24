#pragma once
/// One checkpoint: a folder of two files.
///
///     parameters.safetensors    every parameter of the plan, with optimizer state and averages,
///                               in logical order by the plan's names; and `sums of the epoch`,
///                               bytes of the metrics' sums (MetricSet::save), rank after rank;
///                               within an epoch whose batches carry states, these of all ranks
///                               (`states between batches`)
///     state.json                {"checksum": that of the text of content, "content": {
///                                 "version": 1, "model", "plan", "training", "dataset",
///                                 "threads", "ranks", "batch_size",
///                                 "epoch", "batch", "step", "update",     done so far
///                                 "epoch_seconds", "seconds", "stop", "schedules": [[..], ..],
///                                 "history_bytes",
///                                 "files": {"parameters.safetensors": {"bytes", "checksum"}}}}
///
/// With several ranks, rank 0 writes it: weights and optimizer state are the same on all, and its
/// moving statistics are those that count (runtime/train/session.hpp). State that ranks have in
/// parts is gathered before, and stands there as an optimizer that is not shared has it: a tensor
/// for each parameter, so that any number of ranks goes on from it.
///
/// Numbers are written with the shortest digits that read back exactly; infinite ones as "inf" and
/// "-inf".

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/run_error.hpp"
#include "runtime/train/training_state.hpp"

namespace dtnn::runtime {

class Executor;

struct Checkpoint {
    TrainingState state;
    std::string model;
    std::string plan;      ///< the plan's checksum
    std::string training;  ///< training_identity of the plan; empty: one that does not say it
    std::string dataset;   ///< hash of what the samples depend on
    int threads = 1;
    std::int64_t history_bytes = 0;  ///< length of history.jsonl when it was written
};

/// The folder is no whole checkpoint: a file is missing, or is not what was written.
class DamagedCheckpoint : public RunError {
  public:
    using RunError::RunError;
};

/// Writes the two files into `folder`, which exists, and flushes them. The executor has gathered
/// what ranks have in parts.
void write_checkpoint(const std::string& folder, const Executor& executor,
                      const Checkpoint& checkpoint);

/// Verifies both files, and that the checkpoint is of this plan, or of one of the same training
/// (training_identity.hpp) or of one of `ended`, before anything is changed; then sets the
/// executor's parameters, and the whole of what ranks have in parts. A DamagedCheckpoint, or a
/// RunError (exit 5) that says how the checkpoint differs from the plan.
Checkpoint read_checkpoint(const std::string& folder, Executor& executor,
                           const std::string& plan_checksum,
                           const std::vector<std::string>& ended = {});

}  // namespace dtnn::runtime
