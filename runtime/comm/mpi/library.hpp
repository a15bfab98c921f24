#pragma once
/// The entry points that libraries for an MPI and the program agree on have C names; the
/// communicator that they give is the C++ class of the same build, which the version stands for.

namespace dtnn::runtime {
class Communicator;
}

namespace dtnn::runtime::mpi {

/// Counts up with every change of Communicator, Exchange, RunError or the entry points.
constexpr int kVersion = 5;

constexpr const char* kVersionEntry = "dtnn_mpi_version";  ///< int()
/// Communicator*(double seconds, void (*parted)()): joins the other ranks; `parted` is called when
/// they have parted in good order. Throws RunError.
constexpr const char* kOpenEntry = "dtnn_mpi_open";
/// void(int code): returns only where MPI has not begun, or is over.
constexpr const char* kAbortEntry = "dtnn_mpi_abort";

}  // namespace dtnn::runtime::mpi
