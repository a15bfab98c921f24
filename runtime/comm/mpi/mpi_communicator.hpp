#pragma once
/// Ranks that are processes, joined by MPI.

#include <memory>

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/mpi_flavour.hpp"

namespace dtnn::runtime::mpi {

/// Begins MPI, of this flavour. `parted` is called at the communicator's end, when all ranks have
/// come to it; after an error (an exception is under way, or an operation has failed) MPI is left
/// as it is, and the job is to be aborted.
///
/// All calls come from the thread that called this one.
std::unique_ptr<Communicator> join_ranks(double seconds, void (*parted)(),
                                         const MpiFlavour& flavour);

}  // namespace dtnn::runtime::mpi
