#pragma once
/// The communicator that a process was started for.

#include <memory>

#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

/// `self` where one rank was started; else opens our library for the MPI by which the ranks meet
/// (mpi_choice.hpp), and joins the other ranks. Call it early: a rank that
/// fails before it has joined is noticed later. A rank that waits longer than `seconds` (0: no
/// limit) for the others to join ends the job; later waits have the same limit until
/// set_time_limit. RunError where MPI is missing, where
/// its ranks cannot meet by this launcher, or where MPI finds another number of ranks than it has
/// started.
///
/// One at a time, and one in the life of a process: MPI can be begun once.
std::unique_ptr<Communicator> make_communicator(double seconds = 300);

/// For main, when a rank has failed and has said why: ends the whole job with this code. Returns
/// where there is one rank, or the ranks have parted in good order.
void end_job(int code);

}  // namespace dtnn::runtime
