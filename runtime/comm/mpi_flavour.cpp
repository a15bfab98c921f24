#include "runtime/comm/mpi_flavour.hpp"

#include <fmt/format.h>

namespace dtnn::runtime {

const MpiFlavour& mpi_flavour() {
#ifdef DTNN_MPI_IS_OPEN_MPI
    static const MpiFlavour flavour = {
        "Open MPI",
        "install Open MPI (Debian: apt-get install openmpi-bin libopenmpi-dev)",
        {"mpiexec.openmpi", "mpirun.openmpi", "mpiexec"},
        {"--oversubscribe", "--bind-to", "none", "--allow-run-as-root"},
        "pmix",
        true,
        true};
#else
    static const MpiFlavour flavour = {"MPICH",
                                       "install MPICH (Debian: apt-get install mpich libmpich-dev)",
                                       {"mpiexec.mpich", "mpiexec.hydra", "mpiexec"},
                                       {},
                                       "pmi2",
                                       false,
                                       false};
#endif
    return flavour;
}

std::string how_to_start_ranks() {
    const MpiFlavour& flavour = mpi_flavour();
    return fmt::format("start the ranks with dtnn-run --ranks N, {} -n N or srun --mpi={} -n N",
                       flavour.launchers.front(), flavour.srun);
}

}  // namespace dtnn::runtime
