#pragma once
/// How a run fails: one exception type with what is printed and the exit code.

#include <stdexcept>
#include <string>
#include <utility>

namespace dtnn::runtime {

enum class Exit : int {
    done = 0,
    failed = 1,       ///< the run failed: files, data, memory
    usage = 2,        ///< the command line or the environment
    mismatch = 5,     ///< plan, machine or weights do not match
    diverged = 6,     ///< not-a-number
    internal = 70,    ///< our mistake
    interrupted = 75  ///< stopped cleanly, the weights are saved
};

/// The remedy where the system starts no more processes or threads.
inline constexpr const char* kMoreProcesses =
    "raise the limit of processes and threads (ulimit -u), or have fewer of them "
    "(OMP_NUM_THREADS)";

/// `what()` states the observed fact, in lower case and without a full stop; `detail` (may be
/// empty) says where the run stood; `help` (may be empty) names the remedy.
class RunError : public std::runtime_error {
  public:
    RunError(Exit exit, const std::string& fact, std::string help = "", std::string detail = "")
        : std::runtime_error(fact),
          exit_(exit),
          help_(std::move(help)),
          detail_(std::move(detail)) {}

    Exit exit() const { return exit_; }
    const std::string& help() const { return help_; }
    const std::string& detail() const { return detail_; }

    /// The text that goes to stderr, each line ended, names in it made harmless for a terminal:
    ///     dtnn-run: FACT
    ///       DETAIL
    ///     help: HELP
    /// `who`, if any, is the rank: "dtnn-run: rank 3 (node17, process 42): FACT".
    std::string render(bool color, const std::string& who = "") const;

  private:
    Exit exit_;
    std::string help_;
    std::string detail_;
};

/// A file, or a place in one, that is not what it must be: "PLACE: FACT", the run fails.
inline RunError bad_file(const std::string& place, const std::string& fact,
                         const std::string& help) {
    return RunError(Exit::failed, place + ": " + fact, help);
}

}  // namespace dtnn::runtime
