#include "base/folders.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.hpp"

namespace dtnn {
namespace {

namespace fs = std::filesystem;

int rename_folder(const std::string& from, const std::string& to) {
    return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

int exchange_folders(const std::string& a, const std::string& b) {
#ifdef RENAME_EXCHANGE
    if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return 0;
    return errno;
#else
    static_cast<void>(a), static_cast<void>(b);
    return ENOSYS;
#endif
}

/// The folder that is moved away is removed with `aside`, or by the next process that comes here.
int exchange_by_hand(const std::string& aside, const std::string& place) {
    const std::string old = aside + std::string(kMovedAway);
    remove_folder(old);
    int error = rename_folder(place, old);
    if (error == 0) {
        error = rename_folder(aside, place);
        // The old one is better than none.
        if (error != 0 && rename_folder(old, place) == 0) return error;
    }
    remove_folder(old);
    return error;
}

}  // namespace

int flush_folder(const std::string& path) {
    const Descriptor folder(
        ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // A folder that may be written to and not be read cannot be flushed.
    if (folder.number() < 0) return errno == EACCES ? 0 : errno;
    return flush_to_disk(folder.number());
}

bool remove_folder(const std::string& path) {
    std::error_code error;
    fs::remove_all(path, error);
    return !error;
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        names.push_back(entry->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

int put_folder(const std::string& aside, const std::string& place) {
    if (const int error = flush_folder(aside)) return error;
    int error = rename_folder(aside, place);
    if (error == ENOTEMPTY || error == EEXIST) {
        error = exchange_folders(aside, place);
        if (error != 0) error = exchange_by_hand(aside, place);
    }
    if (error == 0) error = flush_folder(fs::path(place).parent_path().string());
    if (error == 0) remove_folder(aside);
    return error;
}

FolderAside::FolderAside(std::string place) : place_(std::move(place)) {
    while (place_.size() > 1 && place_.ends_with('/'))
        place_.pop_back();
    do {
        error_ = name_aside(place_, aside_);
        if (error_ == 0 && ::mkdir(aside_.c_str(), 0777) != 0) error_ = errno;
    } while (error_ == EEXIST);
    if (error_ != 0) aside_.clear();
}

FolderAside::~FolderAside() {
    if (!aside_.empty()) remove_folder(aside_);
}

int FolderAside::put(Existing existing) {
    int error = 0;
    if (existing == Existing::replaced) {
        error = put_folder(aside_, place_);
    } else {
        error = flush_folder(aside_);
        if (error == 0) error = rename_folder(aside_, place_);
        if (error == 0) error = flush_folder(fs::path(place_).parent_path().string());
    }
    if (error == 0) aside_.clear();
    return error;
}

}  // namespace dtnn
