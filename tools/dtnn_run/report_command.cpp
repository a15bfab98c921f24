/// dtnn-run report: the page of one run, or of several beside each other.

#include <fmt/format.h>

#include <filesystem>

#include "base/file_limits.hpp"
#include "plan/json/json.hpp"
#include "plan/sweep_index.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/report/comparison_page.hpp"
#include "runtime/report/comparison_table.hpp"
#include "runtime/report/history_reader.hpp"
#include "runtime/report/html_report.hpp"
#include "runtime/report/run_comparison.hpp"
#include "runtime/report/run_files.hpp"
#include "runtime/report/run_folder.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/start.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

bool is_there(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

std::string page_of_run(const std::string& folder) {
    const std::string plan_path = folder + "/plan.json";
    const plan::ReadResult read = plan::read_plan(read_file(plan_path, kMostPlanBytes, "a plan"));
    if (!read.plan) throw RunError(Exit::mismatch, fmt::format("{}: {}", plan_path, read.error));
    const RunHistory history = read_history(folder + "/history.jsonl");
    const std::string times = folder + "/operator_times.txt";
    const std::string table =
        is_there(times) ? read_file(times, kMostSmallFileBytes, "a table of times") : std::string();
    return html_report(
        {&*read.plan, &history, folder, table, is_there(folder + "/checkpoints/latest")});
}

/// The path of the page when nobody says one.
std::string usual_path(const std::string& folder, bool one_run, std::size_t given) {
    const bool has_room = one_run || (given == 1 && is_there(folder + "/" + plan::kSweepIndex));
    return has_room ? folder + "/report.html" : "comparison.html";
}

}  // namespace

int report_command(const Options& options) {
    const std::string folder = RunFolder(options.runs.front()).path();
    const bool one_run = options.runs.size() == 1 && is_there(folder + "/plan.json");
    if (options.report_format != tools::Format::html) {
        if (!options.output.empty() && options.output != "-")
            throw RunError(Exit::usage, "-o names the file of a page",
                           "leave out --format, or send the output to a file: > FILE");
        const Comparison comparison = compare_runs(find_runs(options.runs));
        const std::string differences = differences_text(comparison);
        print_out(options.report_format == tools::Format::json ? comparison_json(comparison)
                  : options.report_format == tools::Format::csv
                      ? comparison_csv(comparison)
                      : comparison_text(comparison) + (differences.empty() ? "" : "\n") +
                            differences);
        return int(Exit::done);
    }
    const std::string path =
        options.output.empty() ? usual_path(folder, one_run, options.runs.size()) : options.output;
    // Nobody has named the file: it is written into the run's folder, or into the current one.
    if (options.output.empty()) {
        refuse_links(folder);
        refuse_link(path);
    }
    const std::string page =
        one_run ? page_of_run(folder)
                : comparison_page(compare_runs(find_runs(options.runs)), path == "-" ? "" : path);
    if (path == "-") {
        print_out(page);
        return int(Exit::done);
    }
    write_file(path, page);
    tell_written(path);
    return int(Exit::done);
}

}  // namespace dtnn
