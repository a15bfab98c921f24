#include "tools/dtnnc/tuning_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/files.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {
namespace {

/// Adding to a history waits so long for others that do; a write takes milliseconds.
constexpr auto kLongestWait = std::chrono::seconds(10);

/// Locks the folder of a file, so that of several processes that read the file, add to it and
/// replace it none loses what another has added. Where the file system knows no locks, or somebody
/// holds one all the time, it is as without. Returns a descriptor, with which the lock goes.
int locked_folder(const std::string& path) {
    const std::string place = place_of_file(path);
    std::string folder = std::filesystem::path(place.empty() ? path : place).parent_path();
    if (folder.empty()) folder = ".";
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const auto end = std::chrono::steady_clock::now() + kLongestWait;
    while (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
           std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return file;
}

constexpr const char* kRemedy =
    "`dtnnc tune` writes one; --tuning names another, --no-tuning does without";

}  // namespace

TuningFile tuning_file(const std::string& option) {
    if (option == "-")
        throw UsageError(
            "--tuning -: a history of tuning is read and written again\nhelp: name a file");
    if (!option.empty()) return {option, true};
    return compiler::usual_tuning_file();
}

std::optional<compiler::TuningHistory> read_tuning_file(const TuningFile& file, bool must_exist) {
    auto [history, mistake] = compiler::find_tuning(file.path, must_exist);
    if (mistake.empty()) return std::move(history);
    if (file.named) throw UsageError(fmt::format("{}\nhelp: {}", mistake, kRemedy));
    static bool warned = false;
    if (!warned)
        write_stderr(fmt::format("dtnnc: warning: {}; kernels are chosen without it\nhelp: {}\n",
                                 mistake, kRemedy));
    warned = true;
    return std::nullopt;
}

void add_to_tuning_file(const TuningFile& file, const compiler::TuningHistory& measured) {
    if (!file.named) {
        std::error_code ignored;  // what follows from it is said by writing
        std::filesystem::create_directories(std::filesystem::path(file.path).parent_path(),
                                            ignored);
    }
    const Descriptor lock(locked_folder(file.path));
    auto [history, mistake] = compiler::find_tuning(file.path);
    if (!mistake.empty()) throw UsageError(fmt::format("{}\nhelp: {}", mistake, kRemedy));
    if (!history) history.emplace();
    history->merge(measured);
    write_file(file.path, history->to_json());
}

}  // namespace dtnn::tools
