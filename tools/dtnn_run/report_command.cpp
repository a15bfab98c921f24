#include <fmt/format.h>

#include <filesystem>

#include "base/file_limits.hpp"
#include "plan/json/json.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/report/history_reader.hpp"
#include "runtime/report/html_report.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

int report_command(const Options& options) {
    const std::string& folder = options.plan;
    std::error_code ignored;
    const std::string plan_path = folder + "/plan.json";
    if (!std::filesystem::exists(plan_path, ignored)) {
        throw RunError(Exit::usage, fmt::format("{} is no folder of a run", folder),
                       "name the folder that dtnn-run wrote: it has plan.json and history.jsonl");
    }
    const plan::ReadResult read = plan::read_plan(read_file(plan_path, kMostPlanBytes, "a plan"));
    if (!read.plan) throw RunError(Exit::mismatch, fmt::format("{}: {}", plan_path, read.error));
    const RunHistory history = read_history(folder + "/history.jsonl");
    const std::string times = folder + "/operator_times.txt";
    const std::string table = std::filesystem::exists(times, ignored)
                                  ? read_file(times, kMostSmallFileBytes, "a table of times")
                                  : std::string();
    const std::string page = html_report({&*read.plan, &history, folder, table});
    if (options.output == "-") {
        print_out(page);
        return int(Exit::done);
    }
    const std::string path = options.output.empty() ? folder + "/report.html" : options.output;
    write_file(path, page);
    tell_written(path);
    return int(Exit::done);
}

}  // namespace dtnn
