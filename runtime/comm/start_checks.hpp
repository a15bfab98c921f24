#pragma once
/// Whether the plan's threads and memory fit what the ranks have got, by the facts that all ranks
/// have gathered. Decides only: nothing is read from the system here.

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/base/surroundings.hpp"
#include "runtime/comm/mpi_flavour.hpp"

namespace dtnn::runtime {

/// One mismatch. `fact` names rank and host, in lower case; with one rank it names neither.
struct Finding {
    bool refused = false;  ///< it cannot work (exit 5); else it costs speed
    std::string fact;
    std::string remedy;
    bool operator==(const Finding&) const = default;
};

/// The plan's needs of each rank.
struct Needs {
    int threads = 1;             ///< that the plan is laid out for
    std::int64_t memory = 0;     ///< bytes, samples in memory among them
    std::int64_t allocated = 0;  ///< the bytes that are allocated and written in any case
    bool shared = false;         ///< the plan may have several ranks
    std::string machine;         ///< the machine that the plan names, if any
    int machine_cores = 0;       ///< cores of a node of that machine
    std::vector<int> running;    ///< threads that each rank runs with, by rank
    /// Whose launcher starts the ranks, or would.
    const MpiFlavour* mpi = &mpi_flavours().front();
};

Needs needs_of(const plan::Plan& plan, std::vector<int> running);

/// At most one finding of each kind, which names the worst rank or group of ranks:
/// - memory: more than the control group or the machine has is refused; more than Slurm was asked
///   for is a warning;
/// - cores: a rank, or the ranks of a host whose masks overlap, have fewer than threads;
/// - the control group's or Slurm's processors, where the mask shows no want;
/// - threads: fewer than the plan's by OMP_NUM_THREADS, or not the same on all ranks;
/// - tasks: one rank where Slurm has allocated several, more ranks than Slurm was asked for.
/// `ranks` and `needs.running` are by rank, and as many.
std::vector<Finding> check_start(const Needs& needs, const std::vector<Surroundings>& ranks);

}  // namespace dtnn::runtime
