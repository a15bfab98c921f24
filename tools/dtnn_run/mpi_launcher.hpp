#pragma once
/// The mpiexec by which this program starts its own ranks.

#include <string>

#include "runtime/comm/mpi_flavour.hpp"

namespace dtnn {

struct MpiLauncher {
    const runtime::MpiFlavour* mpi = nullptr;
    std::string program;  ///< its path
};

/// The first MPI, or the one that DTNN_MPI asks for, whose library of ours loads, and whose mpiexec
/// is in a folder of PATH. RunError (exit 1) where there is none, with what each of them lacks.
MpiLauncher find_mpi_launcher();

}  // namespace dtnn
