#include "runtime/comm/mpi/library.hpp"

#include <mpi.h>

#include "runtime/comm/mpi/mpi_communicator.hpp"

extern "C" {

int dtnn_mpi_version() {
    return dtnn::runtime::mpi::kVersion;
}

dtnn::runtime::Communicator* dtnn_mpi_open(double seconds, void (*parted)()) {
    return dtnn::runtime::mpi::join_ranks(seconds, parted).release();
}

void dtnn_mpi_abort(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
}
}
