#pragma once
/// The batch script of a run for Slurm, or of a sweep's runs as an array of jobs. Its shell gets
/// Slurm's signal before the time limit, hands it to the ranks, and puts the job back into the
/// queue when they have stopped cleanly.

#include <cstdint>
#include <string>
#include <vector>

namespace dtnn::tools {

struct SlurmCommand {
    int ranks = 0;            ///< 0: the plan's
    int nodes = 0;            ///< 0: left to Slurm
    int signal_before = 120;  ///< seconds between the signal and the time limit
    bool requeue = true;      ///< a job that stopped after a checkpoint goes back into the queue
    std::string time, partition, account;
    std::string setup, constraint, qos;  ///< empty: the machine's
    int restarts = 0;                    ///< of ranks that died, inside the allocation
    int idle_requeues = 3;               ///< in a row without a newer checkpoint
    std::string mpi = "pmi2";  ///< how srun wires the ranks up; empty: as Slurm is configured
    std::string run;           ///< the run's folder; empty: runs/NAME
    int at_once = 0;           ///< most jobs of an array that run at a time; 0: Slurm's choice
};

/// The request of a run's ranks to Slurm.
struct SlurmRequest {
    int ranks = 1;
    int threads = 1;
    int cores = 1;            ///< of each rank
    std::int64_t memory = 0;  ///< bytes of each rank, by its plan
    bool devices = false;     ///< a device for each rank
};

/// A run of the script.
struct SlurmRun {
    std::string plan;    ///< absolute path
    std::string folder;  ///< absolute path
    SlurmRequest request;
};

/// The script of one run, or, with `array`, of an array with a job for each. It begins in the
/// folder `here`.
std::string slurm_script(const std::string& name, const std::string& here,
                         const std::vector<SlurmRun>& runs, bool array,
                         const SlurmCommand& command);

/// A name for Slurm and for comments: what else there is becomes `_`.
std::string plain_name(const std::string& text);

}  // namespace dtnn::tools
