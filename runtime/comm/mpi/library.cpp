#include "runtime/comm/mpi/library.hpp"

#include <mpi.h>

#include "runtime/comm/mpi/mpi_communicator.hpp"
#include "runtime/comm/mpi_flavour.hpp"

namespace {

using dtnn::runtime::Mpi;

#if defined OPEN_MPI
constexpr Mpi kMpi = Mpi::openmpi;
#elif defined MPICH_VERSION
constexpr Mpi kMpi = Mpi::mpich;
#else
#error "mpi.h is neither MPICH's nor Open MPI's: see MPICH_INCLUDE_DIR and OPEN_MPI_INCLUDE_DIR"
#endif
static_assert(kMpi == Mpi::DTNN_PLUGIN_MPI,
              "mpi.h is another MPI's: see MPICH_INCLUDE_DIR and OPEN_MPI_INCLUDE_DIR");

}  // namespace

extern "C" {

int dtnn_mpi_version() {
    return dtnn::runtime::mpi::kVersion;
}

dtnn::runtime::Communicator* dtnn_mpi_open(double seconds, void (*parted)()) {
    return dtnn::runtime::mpi::join_ranks(seconds, parted, dtnn::runtime::flavour_of(kMpi))
        .release();
}

void dtnn_mpi_abort(int code) {
    int begun = 0, over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    if (begun != 0 && over == 0) MPI_Abort(MPI_COMM_WORLD, code);
}
}
