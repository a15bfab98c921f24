#pragma once
/// Whether the processes between `dtnn-run --ranks` and its ranks still run: mpiexec, its proxy,
/// and the parents that watch ranks (launch.hpp). One that is stopped (SIGSTOP) hangs the job, and
/// the ranks, whose own limits see each other, cannot know.

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dtnn {

/// A process, by /proc; nothing: there is none.
struct ProcessState {
    std::string name;
    char state = '?';  ///< as in /proc/PID/stat
    /// A process that a debugger holds (t) is not.
    bool stopped() const { return state == 'T'; }
};
std::optional<ProcessState> state_of(pid_t process);

class LauncherState {
  public:
    /// `launcher` and what is below it on this machine.
    explicit LauncherState(pid_t launcher) : launcher_(launcher) {}

    /// Looks, every `seconds`. What to say where one of them has been stopped for `limit` seconds
    /// of such looks: time in which this process was stopped itself does not count.
    std::optional<std::string> look(double seconds, double limit);

    /// Whether the last look has seen a parent that watches a rank.
    bool watches() const { return watches_; }

    /// Kills launcher, proxies, watching parents and ranks, as far as they were seen.
    void kill_all() const;

  private:
    /// Those of the last look, ranks among them.
    std::vector<pid_t> processes_;
    std::map<pid_t, double> stopped_;  ///< for how long
    bool watches_ = false;
    pid_t launcher_;
};

}  // namespace dtnn
