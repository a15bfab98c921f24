#pragma once
/// Reductions and gathers by MPI's own calls: small arrays, and many ranks.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "plan/plan.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/comm/mpi/transfer.hpp"

namespace dtnn::runtime::mpi {

/// MPI's name of a type that ranks add. Any other type is an internal RunError that names `name`.
MPI_Datatype type_of(DType dtype, const std::string& name);

/// `elements` are those of the array, or of one rank's part. MPI moves parts by one call: parts of
/// more than INT_MAX numbers are a RunError (exit 5) that names `name`.
std::unique_ptr<Transfer> make_library_reduction(MPI_Comm comm, TransferKind kind, void* data,
                                                 std::int64_t elements, DType dtype,
                                                 Reduction reduction, const std::string& name);

}  // namespace dtnn::runtime::mpi
