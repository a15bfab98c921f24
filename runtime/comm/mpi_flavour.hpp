#pragma once
/// Which MPI libdtnn_mpi.so was built for (the CMake setting DTNN_MPI), and everything in which
/// that MPI differs from another for us: the one home of such facts. What the library itself calls
/// is MPI 3.1, the same of all.

#include <string>
#include <vector>

namespace dtnn::runtime {

struct MpiFlavour {
    const char* name;     ///< "MPICH", "Open MPI"
    const char* install;  ///< what a user does to get it, as in "install MPICH (...)"
    /// Programs that start its ranks on this machine, the surest name first: `mpiexec` may be
    /// another MPI's.
    std::vector<const char*> launchers;
    /// Options of the launcher beside `-n N`: ranks may be more than cores and keep all cores, and
    /// root may start them, as with MPICH's.
    std::vector<const char*> launcher_options;
    const char* srun;  ///< how Slurm's srun wires its ranks up: the word of --mpi=
    /// At SIGTERM and SIGINT the launcher kills the ranks by itself; SIGUSR1 it hands to them.
    bool kills_at_term;
    /// Whether ranks that Open MPI's mpiexec has started can meet.
    bool meets_by_open_mpi;
};

/// The flavour of this build. A build without MPI gives MPICH's: what messages recommend.
const MpiFlavour& mpi_flavour();

/// "start the ranks with dtnn-run --ranks N, mpiexec.mpich -n N or srun --mpi=pmi2 -n N"
std::string how_to_start_ranks();

}  // namespace dtnn::runtime
