#include "runtime/report/run_folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "runtime/base/clock.hpp"
#include "runtime/base/files.hpp"
#include "runtime/report/run_files.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

/// Creates runs/NAME-STAMP or the first free NAME-STAMP-N: two runs that begin in the same second
/// do not meet, because creating a folder that is there tells.
std::string create_dated(const std::string& name) {
    create_folders("runs");
    const std::string base = fmt::format("runs/{}-{}", as_folder_name(name), local_time_stamp());
    for (int number = 1; number < 10000; ++number) {
        std::string path = number == 1 ? base : fmt::format("{}-{}", base, number);
        std::error_code error;
        if (fs::create_directory(path, error)) return path;
        if (error) throw system_error("create the folder", path, error.value());
    }
    throw RunError(Exit::failed, fmt::format("{} and its numbered neighbours are all taken", base),
                   "name a folder with --output");
}

std::string without_end_slashes(std::string path) {
    while (path.size() > 1 && path.back() == '/')
        path.pop_back();
    return path;
}

}  // namespace

std::string as_folder_name(const std::string& name) {
    std::string result;
    for (const char c : name) {
        const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        result += fine ? c : '_';
    }
    if (result.size() > 100) result.resize(100);
    if (result.empty() || result.front() == '.') result.insert(0, "run");
    return result;
}

RunFolder::RunFolder(const std::string& existing) : path_(without_end_slashes(existing)) {}

RunFolder::RunFolder(const std::string& output, const LoadedPlan& plan, bool replace) {
    if (output.empty()) {
        path_ = create_dated(plan.plan.name);
    } else {
        path_ = without_end_slashes(output);
        create_folders(path_);
        refuse_links(path_);
    }
    for (const std::string& file : {history(), weights()}) {
        std::error_code ignored;
        // An empty history has told of nothing yet.
        if (!fs::exists(file, ignored) || fs::file_size(file, ignored) == 0) continue;
        if (!replace) {
            throw RunError(Exit::failed,
                           fmt::format("the folder {} holds a run already ({})", path_, file),
                           "name another folder with --output, go on with that run with --resume, "
                           "or replace it with --force");
        }
    }
    // A run that is writing here keeps its history locked: another one is refused before it changes
    // anything.
    const LineFile lock(history(), replace ? LineFile::Begin::empty : LineFile::Begin::as_it_is);
    // Files that another run has left would be gone on from.
    if (replace) remove_run(path_);
    write_plan(plan);
}

void RunFolder::write_plan(const LoadedPlan& plan) const {
    write_file(this->plan(), plan.text);
    write_file(resolved(), plan.plan.resolved_spec);
}

}  // namespace dtnn::runtime
