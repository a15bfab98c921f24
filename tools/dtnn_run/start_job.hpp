#pragma once
/// Starting a job's ranks as processes, and starting them again when they die.

#include <functional>
#include <string>
#include <vector>

namespace dtnn {

struct JobRequest {
    int ranks = 1;  ///< 1: this program by itself; more: by mpiexec
    std::vector<std::string> words;
    int max_restarts = 0;
    /// Gives the words of a restart: they go on with the run in the folder `run`, or, where it has
    /// no checkpoint yet (`begun` is false), begin it again there. Not called before there is a
    /// folder.
    std::function<std::vector<std::string>(const std::string& run, bool begun)> words_again;
    std::string run;  ///< the run's folder where it is known from the beginning
    /// The ranks' answers are notes to who has asked this process: they go to standard error.
    bool answers_are_notes = false;
};

/// How a job has ended.
struct JobEnd {
    int code = 0;
    bool stop_asked = false;  ///< by a signal to this process
    std::string reason;       ///< of another code than 0: why, as far as that is known here
};

/// Runs `dtnn-run WORDS` on so many ranks, and gives the job's exit code; where mpiexec has lost
/// it, which it may after a signal, that of rank 0. Signals that reach this process meanwhile go on
/// to the ranks, and end the restarts. Before a restart all ranks of the try before it are gone.
///
/// RunError where there is no mpiexec of this build's MPI, or this process is one of several ranks
/// already.
JobEnd run_job(const JobRequest& request);

/// The same, and ends with the job's exit code.
[[noreturn]] void start_job(const JobRequest& request);

}  // namespace dtnn
