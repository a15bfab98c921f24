#pragma once
/// The MPIs that ranks meet by, and everything in which they differ for us: the one home of such
/// facts. What is called of them is MPI 3.1, the same of all. Which of them a process takes:
/// mpi_choice.hpp.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn::runtime {

enum class Mpi { mpich, openmpi };

struct MpiFlavour {
    Mpi mpi;
    const char* word;     ///< what the environment's DTNN_MPI and CMake's call it
    const char* name;     ///< "MPICH", "Open MPI"
    const char* library;  ///< ours that is built for it, and for all of its ABI
    const char* install;  ///< what a user does to get it, as in "install MPICH (...)"
    /// Programs that start its ranks on this machine, the surest name first: `mpiexec` may be
    /// another MPI's.
    std::vector<const char*> launchers;
    /// Options of the launcher beside `-n N`: ranks may be more than cores and keep all cores, and
    /// root may start them, as with MPICH's.
    std::vector<const char*> launcher_options;
    /// What tells its mpiexec by the answer to --version; none: any that is no other's, for many
    /// share MPICH's ABI.
    std::vector<std::string_view> version_signs;
    const char*
        own_cores;     ///< option that gives each rank so many cores of its own: a number follows
    const char* srun;  ///< how Slurm's srun wires its ranks up: the word of --mpi=
    /// At SIGTERM and SIGINT the launcher kills the ranks by itself; SIGUSR1 it hands to them.
    bool kills_at_term;
};

/// All, in the order in which they are tried.
const std::vector<MpiFlavour>& mpi_flavours();
const MpiFlavour& flavour_of(Mpi mpi);

/// Whose mpiexec gives this answer to --version.
const MpiFlavour& flavour_of_launcher(std::string_view version);

/// "start the ranks with dtnn-run --ranks N, mpiexec.mpich -n N or srun --mpi=pmi2 -n N"
std::string how_to_start_ranks(const MpiFlavour& flavour);

}  // namespace dtnn::runtime
