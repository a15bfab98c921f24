#include "tools/dtnn_run/job_notes.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace dtnn {
namespace {

constexpr const char* kVariable = "DTNN_JOB_NOTES";

}  // namespace

NotesFile::NotesFile() {
    const char* folder = std::getenv("TMPDIR");
    std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/dtnn-run-job-XXXXXX";
    const int file = mkostemp(path.data(), O_CLOEXEC);
    if (file < 0) return;
    close(file);
    path_ = path;
    setenv(kVariable, path_.c_str(), 1);
}

NotesFile::~NotesFile() {
    if (!path_.empty()) unlink(path_.c_str());
}

void NotesFile::clear() const {
    if (!path_.empty() && truncate(path_.c_str(), 0) != 0) std::perror("dtnn-run: the job's notes");
}

Notes NotesFile::read() const {
    Notes notes;
    notes.begun = path_.empty();  // nobody will say so
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
        const std::size_t blank = line.find(' ');
        if (blank == std::string::npos) continue;
        const std::string key = line.substr(0, blank), value = line.substr(blank + 1);
        if (key == "code") {
            int code = 0;
            const auto [end, error] =
                std::from_chars(value.data(), value.data() + value.size(), code);
            if (error == std::errc() && end == value.data() + value.size()) notes.code = code;
        }
        if (key == "begun") notes.begun = true;
        if (key == "run") notes.run = value;
        if (key == "killed" && notes.killed.empty()) notes.killed = value;
        if (key == "watcher" && notes.watcher.empty()) notes.watcher = value;
        if (key == "error" && notes.error.empty()) notes.error = value;
    }
    return notes;
}

bool NotesFile::released_within(double seconds) const {
    if (path_.empty()) return true;
    const int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return true;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(seconds));
    bool free = flock(file, LOCK_EX | LOCK_NB) == 0;
    while (!free && Clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        free = flock(file, LOCK_EX | LOCK_NB) == 0;
    }
    close(file);
    return free;
}

int open_notes() {
    const char* path = std::getenv(kVariable);
    // Only where that process made it: not on another node.
    return path == nullptr ? -1 : open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

void leave_note(const std::string& key, const std::string& value) {
    const int file = open_notes();
    if (file < 0) return;
    std::string line = key + " " + value;
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    if (write(file, line.data(), line.size()) < 0) std::perror("dtnn-run: the job's notes");
    close(file);
}

void hold_notes() {
    const char* path = std::getenv(kVariable);
    if (path == nullptr) return;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0) close(file);
    // Left open: the system drops the lock with the last process that has it.
}

}  // namespace dtnn
