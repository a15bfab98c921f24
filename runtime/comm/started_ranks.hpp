#pragma once
/// Whether this process is one rank of several, by what its launcher has left in the environment.
/// Nothing is loaded, so that errors before the ranks have met carry the rank.

#include <string>
#include <vector>

#include "runtime/comm/mpi_flavour.hpp"

namespace dtnn::runtime {

struct StartedRanks {
    int rank = 0;
    int ranks = 1;
    /// "MPICH's mpiexec", "a launcher by PMI" (srun --mpi=pmi2), "Open MPI's mpiexec", "srun by
    /// PMIx"; empty: started by itself.
    std::string launcher;
    std::vector<Mpi> meets;  ///< whose ranks can meet by what it offers, the likeliest first
    bool srun = false;       ///< a task of a step of Slurm's
    /// Why ranks were started that cannot meet, or by a launcher that does not say how many they
    /// are, in lower case; empty: none.
    std::string problem;
};

StartedRanks started_ranks();

/// The rank's number among those on its machine, from 0; 0 where the launcher does not say.
int local_rank();

/// "rank 3 (node17, process 42)"; empty where there is one rank.
std::string started_name();

}  // namespace dtnn::runtime
