#include "runtime/comm/mpi_flavour.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dtnn::runtime {

const std::vector<MpiFlavour>& mpi_flavours() {
    static const std::vector<MpiFlavour> flavours = {
        {Mpi::mpich,
         "mpich",
         "MPICH",
         "libdtnn_mpich.so",
         "install MPICH (Debian: apt-get install mpich libmpich-dev)",
         {"mpiexec.mpich", "mpiexec.hydra", "mpiexec"},
         {},
         {},
         "--bind-to core:",
         "pmi2",
         false},
        {Mpi::openmpi,
         "openmpi",
         "Open MPI",
         "libdtnn_openmpi.so",
         "install Open MPI (Debian: apt-get install openmpi-bin libopenmpi-dev)",
         {"mpiexec.openmpi", "mpirun.openmpi", "mpiexec"},
         {"--oversubscribe", "--bind-to", "none", "--allow-run-as-root"},
         {"(OpenRTE)", "(Open MPI)"},
         "--bind-to core --map-by slot:PE=",
         "pmix",
         true},
    };
    return flavours;
}

const MpiFlavour& flavour_of(Mpi mpi) {
    return mpi_flavours().at(std::size_t(mpi));
}

const MpiFlavour& flavour_of_launcher(std::string_view version) {
    for (const MpiFlavour& flavour : mpi_flavours()) {
        const auto& signs = flavour.version_signs;
        if (std::any_of(signs.begin(), signs.end(), [version](std::string_view sign) {
                return version.find(sign) != std::string_view::npos;
            }))
            return flavour;
    }
    return flavour_of(Mpi::mpich);
}

std::string how_to_start_ranks(const MpiFlavour& flavour) {
    return fmt::format("start the ranks with dtnn-run --ranks N, {} -n N or srun --mpi={} -n N",
                       flavour.launchers.front(), flavour.srun);
}

}  // namespace dtnn::runtime
