#pragma once
/// Every rank's part of an epoch, without its arithmetic: whether the ranks of a job would meet in
/// every exchange, take every sample once, and weight their batches as one global batch.
///
/// Per rank and step the loop's choices are made as the loop makes them (plan/rules/parallel.hpp):
/// which samples, which program, which weight. Every rank has a null communicator, which writes
/// down what the steps of its program begin and wait for; the records of all ranks of a step must
/// be equal, whatever programs they run. Ranks that begin the same exchanges in the same order, and
/// wait only for what they have begun, cannot wait for one another for ever, so that rules deadlock
/// out.

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::runtime {

struct DryRun {
    int ranks = 1;
    std::int64_t steps = 0;             ///< steps of the epoch, on every rank
    std::int64_t updates = 0;           ///< how often weights move
    std::int64_t samples = 0;           ///< taken by all ranks together
    std::int64_t rank_steps = 0;        ///< that were walked: ranks times steps
    std::int64_t idle_rank_steps = 0;   ///< those without a sample
    std::int64_t exchanges = 0;         ///< a rank's in the epoch
    std::int64_t exchanged_bytes = 0;   ///< a rank's in the epoch, as they lie in memory
    std::int64_t memory = 0;            ///< a rank's: arena, batches ahead, samples
    std::vector<std::string> programs;  ///< that ran, in the plan's order
    /// The mistakes that would come, the first of each kind; empty: none.
    std::vector<std::string> findings;
};

/// `ranks` are at least one, and the plan does not refuse them (plan::refuses_ranks).
DryRun dry_run(const plan::Plan& plan, int ranks);

std::string dry_run_text(const DryRun& result, const plan::Plan& plan);
std::string dry_run_json(const DryRun& result, const plan::Plan& plan);

}  // namespace dtnn::runtime
