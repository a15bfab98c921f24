#include "runtime/base/folders.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "runtime/base/files.hpp"

namespace dtnn::runtime {
namespace {

namespace fs = std::filesystem;

/// Zero, or the errno.
int exchange(const std::string& a, const std::string& b) {
#ifdef RENAME_EXCHANGE
    if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return 0;
    return errno;
#else
    static_cast<void>(a), static_cast<void>(b);
    return ENOSYS;
#endif
}

}  // namespace

void flush_folder(const std::string& path) {
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
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

void put_folder(const std::string& aside, const std::string& place) {
    flush_folder(aside);
    int error = ::rename(aside.c_str(), place.c_str()) == 0 ? 0 : errno;
    if (error == ENOTEMPTY || error == EEXIST) {
        error = exchange(aside, place);
        if (error != 0) {
            // What is moved away is removed with it below, or by the next run that comes here.
            const std::string old = aside + std::string(kMovedAway);
            remove_folder(old);
            error = ::rename(place.c_str(), old.c_str()) == 0 ? 0 : errno;
            if (error == 0) {
                error = ::rename(aside.c_str(), place.c_str()) == 0 ? 0 : errno;
                // The old one is better than none.
                if (error != 0 && ::rename(old.c_str(), place.c_str()) == 0)
                    throw system_error("write", place, error);
            }
            remove_folder(old);
        }
    }
    if (error != 0) throw system_error("write", place, error);
    flush_folder(fs::path(place).parent_path().string());
    remove_folder(aside);
}

}  // namespace dtnn::runtime
