#include "tools/dtnn_run/rank_command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/standard_input.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "runtime/train/agreement.hpp"
#include "tools/dtnn_run/more_epochs.hpp"
#include "tools/dtnn_run/start_job.hpp"

namespace dtnn {

namespace {

using runtime::Exit;
using runtime::RunError;
using tools::OptionInfo;
using tools::OptionList;

/// The words that have been read, without some of the options, as another process takes them.
std::vector<std::string> words_without(const std::string& command, const OptionList& list,
                                       const std::vector<std::string>& left_out) {
    std::vector<std::string> words = {command}, last;
    for (const OptionInfo& option : list.options()) {
        const std::string& name = option.is_argument() ? option.names : option.flags.back();
        if (std::find(left_out.begin(), left_out.end(), name) != left_out.end()) continue;
        for (const std::string& value : list.given(name)) {
            if (option.is_argument())
                last.push_back(value);
            else
                words.push_back(option.takes_value() ? fmt::format("{}={}", name, value) : name);
        }
    }
    if (!last.empty()) words.emplace_back("--");
    words.insert(words.end(), last.begin(), last.end());
    return words;
}

}  // namespace

std::string shared_words(const std::string& command, const OptionList& list) {
    std::string words = command;
    for (const char* name : {"--resume", "--weights"})
        if (list.has(name)) words += std::string(" ") + name;
    for (const char* name :
         {"--epochs", "--split", "--steps", "--per-step", "--synthetic-data", "--check-numbers"}) {
        const std::vector<std::string> values = list.given(name);
        if (values.empty()) continue;
        words += std::string(" ") + name;
        if (list.find(name)->takes_value()) words += "=" + values.front();
    }
    return words;
}

void start_job_if_asked(const std::string& command, const OptionList& list,
                        const Options& options) {
    if (options.ranks <= 1 && options.max_restarts <= 0) return;
    if (options.plan == kStandardInput)
        throw RunError(Exit::usage,
                       fmt::format("{} starts processes that each read the plan, and standard "
                                   "input can be read once",
                                   options.ranks > 1 ? "--ranks" : "--max-restarts"),
                       "write the plan to a file and name that");
    JobRequest request;
    request.ranks = std::max(1, options.ranks);
    request.max_restarts = options.max_restarts;
    const std::vector<std::string> ours = {"--ranks", "--max-restarts"};
    std::vector<std::string> left = ours;
    left.emplace_back("--epochs");
    request.words = words_without(command, list, left);
    // A restart asks for the same end, however far the run has come by then.
    if (!options.epochs.empty())
        request.words.insert(request.words.begin() + 1, "--epochs=" + total_epochs(options));
    request.run = options.resume;
    request.words_again = [&, ours](const std::string& run, bool begun) {
        if (!options.resume.empty()) return request.words;
        std::vector<std::string> left_out = ours;
        left_out.insert(left_out.end(), {"--output", "--force"});
        std::vector<std::string> words;
        if (begun) {
            // The run's own plan: the file may be another one by now.
            left_out.insert(left_out.end(), {"PLAN", "--weights"});
            const std::vector<std::string> of_weights = weight_option_names();
            left_out.insert(left_out.end(), of_weights.begin(), of_weights.end());
        }
        words = words_without(command, list, left_out);
        if (begun) {
            words.insert(words.begin() + 1, "--resume=" + run);
        } else {
            // It has nothing yet that could be lost.
            words.insert(words.begin() + 1, {"--output=" + run, "--force"});
        }
        return words;
    };
    start_job(request);
}

void require_own_input() {
    const runtime::StartedRanks started = runtime::started_ranks();
    if (started.ranks == 1) return;
    throw runtime::SharedRunError(
        RunError(Exit::usage,
                 fmt::format("a plan on standard input is for one process, and {} were started",
                             started.ranks),
                 "write the plan to a file that all of them can read, and name that"));
}

void require_one_process(const std::string& command) {
    const runtime::StartedRanks started = runtime::started_ranks();
    if (started.ranks == 1) return;
    throw runtime::SharedRunError(RunError(
        Exit::usage,
        fmt::format("`{}` is the work of one process, and {} were started", command, started.ranks),
        "start it without mpiexec, and without srun or with `srun -n 1`"));
}

}  // namespace dtnn
