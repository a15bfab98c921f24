#include "runtime/report/run_files.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "runtime/base/files.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

/// As fnmatch has them with FNM_PATHNAME, below the run's folder.
constexpr const char* kKept[] = {"plan.json", "resolved.yaml", "history.jsonl"};
constexpr const char* kRemoved[] = {
    "history.csv",
    "report.html",
    "operator_times.txt",
    "weights.safetensors",
    "weights_average.safetensors",
    "ended/epoch_*.json",
    "checkpoints/latest",
    "checkpoints/*/state.json",
    "checkpoints/*/parameters.safetensors",
    "best/*/epoch_*.safetensors",
    "tensorboard/events.out.tfevents.*",
};
/// What name_aside() (base/files.hpp) adds to a name.
constexpr const char* kAside = ".????????????????.part";
/// A page is written by `report`, beside a run or after it: one of this age is nobody's any more.
constexpr std::chrono::minutes kOldPage{10};

bool fits(const std::string& path, const std::string& pattern) {
    // `.writing-12` begins with a point, which a `*` may stand for here.
    return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

bool is_half_written(const std::string& path) {
    const auto is = [&](const char* pattern) { return fits(path, std::string(pattern) + kAside); };
    return std::any_of(std::begin(kKept), std::end(kKept), is) ||
           std::any_of(std::begin(kRemoved), std::end(kRemoved), is);
}

bool is_removed(const std::string& path) {
    return is_half_written(path) || std::any_of(std::begin(kRemoved), std::end(kRemoved),
                                                [&](auto* pattern) { return fits(path, pattern); });
}

/// Whether the path, or one below it, is one that is written.
bool is_of_run(const std::string& path) {
    const auto begins = [&](const char* pattern) {
        const std::string_view first =
            std::string_view(pattern).substr(0, std::string_view(pattern).find('/'));
        return std::string_view(path).substr(0, path.find('/')) == first;
    };
    return is_removed(path) || std::any_of(std::begin(kKept), std::end(kKept), begins) ||
           std::any_of(std::begin(kRemoved), std::end(kRemoved), begins);
}

/// Every entry of the run's, with its path below the run's folder; those of a folder before it.
/// Links are entries, and never followed.
void walk(const std::string& folder, const std::string& below,
          const std::function<void(const fs::directory_entry&, const std::string&)>& visit) {
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(below.empty() ? folder : folder + "/" + below, error), end;
         !error && at != end; at.increment(error))
        entries.push_back(*at);
    for (const fs::directory_entry& entry : entries) {
        const std::string name = entry.path().filename().string();
        const std::string path = below.empty() ? name : below + "/" + name;
        if (!is_of_run(path)) continue;
        std::error_code ignored;
        if (entry.symlink_status(ignored).type() == fs::file_type::directory)
            walk(folder, path, visit);
        visit(entry, path);
    }
}

}  // namespace

void refuse_link(const std::string& path) {
    if (is_link(path))
        throw RunError(Exit::failed,
                       fmt::format("{} is a link, and what it leads to would be written", path),
                       "look where it leads, and remove it");
}

void refuse_links(const std::string& run_folder) {
    walk(run_folder, "", [&](const fs::directory_entry& entry, const std::string&) {
        refuse_link(entry.path().string());
    });
}

void remove_run(const std::string& run_folder) {
    const auto is_folder = [](const fs::directory_entry& entry) {
        std::error_code ignored;
        return entry.symlink_status(ignored).type() == fs::file_type::directory;
    };
    walk(run_folder, "", [&](const fs::directory_entry& entry, const std::string& path) {
        const bool kept = std::any_of(std::begin(kKept), std::end(kKept),
                                      [&](auto* pattern) { return fits(path, pattern); });
        if (kept || is_folder(entry) || is_removed(path)) return;
        throw RunError(
            Exit::failed,
            fmt::format("{}/{} is no file of a run, and --force would remove it", run_folder, path),
            "move it away, or name another folder with --output");
    });
    walk(run_folder, "", [&](const fs::directory_entry& entry, const std::string& path) {
        if (!is_folder(entry) && !is_removed(path)) return;
        std::error_code error;
        fs::remove(entry.path(), error);
        if (error) throw system_error("remove", entry.path().string(), error.value());
    });
}

void remove_half_written(const std::string& run_folder) {
    walk(run_folder, "", [&](const fs::directory_entry& entry, const std::string& path) {
        if (!is_half_written(path)) return;
        std::error_code ignored;
        const bool young =
            fs::file_time_type::clock::now() - entry.last_write_time(ignored) < kOldPage;
        if (path.starts_with("report.html") && young) return;
        fs::remove(entry.path(), ignored);
    });
}

}  // namespace dtnn::runtime
