#pragma once
/// Ranks that are threads of one process: for tests, and for measuring overlap on a network of
/// chosen speed.

#include <memory>
#include <vector>

#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

/// A network as the alpha-beta model has it: an all_reduce of n bytes takes
/// alpha + n * seconds_per_byte from the moment the last rank has started it, and behind those
/// before it; reduce_scatter and all_gather_parts half of that, n being all parts. The time passes
/// on a thread of the network's own, beside computation.
struct Delay {
    double alpha = 0;  ///< seconds
    double seconds_per_byte = 0;
};

/// One communicator for each rank, to be used by one thread each. They may be destroyed in any
/// order. Sums are added in the order of the ranks, so they have the same bits in every run.
///
/// abort() makes every operation of all ranks throw RunError with the code and the reason. A rank
/// that waits longer than its time limit ends the others in the same way.
std::vector<std::unique_ptr<Communicator>> make_in_process(int ranks, Delay delay = {});

}  // namespace dtnn::runtime
