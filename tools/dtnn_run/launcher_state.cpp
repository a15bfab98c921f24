#include "tools/dtnn_run/launcher_state.hpp"

#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "base/quantity_text.hpp"
#include "tools/dtnn_run/launch.hpp"

namespace dtnn {
namespace {

std::vector<pid_t> children_of(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/task/{}/children", process, process));
    return {std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
}

}  // namespace

std::optional<ProcessState> state_of(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    std::string line;
    std::getline(file, line);
    // 42 (name) S ...: a name may hold anything.
    const std::size_t open = line.find('('), close = line.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close + 2 >= line.size())
        return std::nullopt;
    return ProcessState{line.substr(open + 1, close - open - 1), line[close + 2]};
}

std::optional<std::string> LauncherState::look(double seconds, double limit) {
    processes_ = {launcher_};
    watches_ = false;
    std::map<pid_t, double> stopped;
    std::optional<std::string> said;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        const pid_t process = processes_[i];
        const std::optional<ProcessState> state = state_of(process);
        if (!state) continue;
        const std::vector<pid_t> children = children_of(process);
        if (state->name == kWatcherName) {
            watches_ = true;
            // Below it is a rank, for which the other ranks have their limit.
            processes_.insert(processes_.end(), children.begin(), children.end());
            for (const pid_t rank : children)
                stopped.emplace(rank, -1);
        } else if (!stopped.contains(process)) {
            processes_.insert(processes_.end(), children.begin(), children.end());
        }
        if (!state->stopped() || stopped.contains(process)) continue;
        const auto before = stopped_.find(process);
        const double so_far = (before == stopped_.end() ? 0 : before->second) + seconds;
        stopped[process] = so_far;
        if (so_far >= limit && !said)
            said = fmt::format(
                "{} (process {}) is between this process and the ranks, and has been "
                "stopped for {}",
                state->name, process, elapsed_time_text(so_far));
    }
    std::erase_if(stopped, [](const auto& entry) { return entry.second < 0; });
    stopped_ = std::move(stopped);
    return said;
}

void LauncherState::kill_all() const {
    for (const pid_t process : processes_)
        kill(process, SIGKILL);
}

}  // namespace dtnn
