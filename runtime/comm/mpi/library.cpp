#include "runtime/comm/mpi/library.hpp"

#include <mpi.h>

#include "runtime/comm/mpi/mpi_communicator.hpp"

#ifdef DTNN_MPI_IS_OPEN_MPI
#ifndef OPEN_MPI
#error "mpi.h is not Open MPI's: see DTNN_MPI and OPEN_MPI_INCLUDE_DIR"
#endif
#else
#ifndef MPICH_VERSION
#error "mpi.h is not MPICH's: see DTNN_MPI and MPICH_INCLUDE_DIR"
#endif
#endif

extern "C" {

int dtnn_mpi_version() {
    return dtnn::runtime::mpi::kVersion;
}

dtnn::runtime::Communicator* dtnn_mpi_open(double seconds, void (*parted)()) {
    return dtnn::runtime::mpi::join_ranks(seconds, parted).release();
}

void dtnn_mpi_abort(int code) {
    int begun = 0, over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    if (begun != 0 && over == 0) MPI_Abort(MPI_COMM_WORLD, code);
}
}
