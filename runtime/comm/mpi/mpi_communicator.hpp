#pragma once
/// Ranks that are processes, joined by MPI.

#include <memory>

#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime::mpi {

/// Begins MPI. `parted` is called at the communicator's end, when all ranks have come to it; after
/// an error (an exception is under way, or an operation has failed) MPI is left as it is, and the
/// job is to be aborted.
///
/// All calls come from the thread that called this one.
std::unique_ptr<Communicator> join_ranks(double seconds, void (*parted)());

}  // namespace dtnn::runtime::mpi
