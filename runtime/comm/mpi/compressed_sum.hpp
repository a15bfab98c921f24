#pragma once
/// Compressed sums (GradientCompression) between ranks that are
/// processes. Every part, or every place, has an owner, to whom all ranks send what they have of it
/// and who sends all ranks the sum: each number travels twice, whatever the number of ranks. Owners
/// add in the order of the ranks, so time has no part in the result.

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/mpi/transfer.hpp"

namespace dtnn::runtime::mpi {

/// bf16 and fp16. `comm` may carry other sums and rings, not by the same number.
std::unique_ptr<Transfer> make_rounded_sum(MPI_Comm comm, const GradientCompression& compression,
                                           float* data, std::int64_t elements);

/// top_k. `comm` carries nothing else while this one is under way: it has collectives of its own,
/// which begin when messages have come.
std::unique_ptr<Transfer> make_selected_sum(MPI_Comm comm, const GradientCompression& compression,
                                            float* data, std::int64_t elements);

}  // namespace dtnn::runtime::mpi
