#pragma once
/// Whether this process is one rank of several, by what its launcher has left in the environment.
/// Nothing is loaded, so that errors before the ranks have met carry the rank.

#include <string>

namespace dtnn::runtime {

struct StartedRanks {
    int rank = 0;
    int ranks = 1;
    /// "PMI" (MPICH's mpiexec, srun --mpi=pmi2), "srun by PMIx", "Open MPI's mpiexec"; empty:
    /// started by itself.
    std::string launcher;
    bool srun = false;  ///< a task of a step of Slurm's
    /// Why ranks were started that cannot meet, or by a launcher that does not say how many they
    /// are, in lower case, and what to do; empty: none.
    std::string problem;
    std::string remedy;
};

StartedRanks started_ranks();

/// The rank's number among those on its machine, from 0; 0 where the launcher does not say.
int local_rank();

/// "rank 3 (node17, process 42)"; empty where there is one rank.
std::string started_name();

}  // namespace dtnn::runtime
