#include "runtime/device/code_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/files.hpp"
#include "base/formats.hpp"
#include "runtime/base/checksum.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kMostHeadBytes = std::size_t{1} << 16;

/// Whether nobody but this user can have written it.
bool is_private(int file, mode_t kind) {
    struct stat status {};
    return fstat(file, &status) == 0 && (status.st_mode & S_IFMT) == kind &&
           status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// The folder, if it is private; with `make` it is made where it is not there.
int open_private_folder(const std::string& folder, bool make) {
    if (folder.empty()) return -1;
    if (make) {
        std::error_code ignored;
        std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), ignored);
        mkdir(folder.c_str(), 0700);
    }
    const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened >= 0 && !is_private(opened, S_IFDIR)) {
        close(opened);
        return -1;
    }
    return opened;
}

std::string name_of(const std::string& key) {
    std::string name = checksum_text(key) + ".o";
    return name.substr(name.find(':') + 1);
}

/// Before the code: what it was made of, and its checksum.
std::string head_of(const std::string& key, std::string_view code) {
    return fmt::format("dtnn code {}\n{}\n{}\n", formats::kCode.number, key, checksum_text(code));
}

bool has_room(int folder) {
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const list = again < 0 ? nullptr : fdopendir(again);
    if (list == nullptr) {
        if (again >= 0) close(again);
        return false;
    }
    int entries = 0;
    while (entries <= CodeCache::kMostEntries && readdir(list) != nullptr)
        ++entries;
    closedir(list);
    return entries <= CodeCache::kMostEntries;
}

}  // namespace

CodeCache::CodeCache(std::string folder, std::size_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

std::optional<std::string> CodeCache::find(const std::string& key) const {
    const Descriptor folder(open_private_folder(folder_, false));
    if (folder.number() < 0) return std::nullopt;
    // Not waiting for a pipe that someone has put there.
    const Descriptor file(openat(folder.number(), name_of(key).c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.number() < 0 || !is_private(file.number(), S_IFREG)) return std::nullopt;
    std::string text(most_bytes_ + kMostHeadBytes, '\0');
    std::size_t length = 0;
    while (length < text.size()) {
        const ssize_t bytes = read(file.number(), text.data() + length, text.size() - length);
        if (bytes < 0) return std::nullopt;
        if (bytes == 0) break;
        length += std::size_t(bytes);
    }
    if (length == text.size()) return std::nullopt;
    text.resize(length);
    const std::size_t head = head_of(key, "").size();
    if (length < head) return std::nullopt;
    std::string code = text.substr(head);
    if (!text.starts_with(head_of(key, code))) return std::nullopt;
    return code;
}

void CodeCache::put(const std::string& key, std::string_view code) const {
    if (code.size() > most_bytes_) return;
    const Descriptor folder(open_private_folder(folder_, true));
    if (folder.number() < 0 || !has_room(folder.number())) return;
    FileAside file(folder.number(), name_of(key), 0600);
    if (file.error() != 0 || write_all(file.descriptor(), head_of(key, code)) != 0 ||
        write_all(file.descriptor(), code) != 0)
        return;
    // What is lost is generated again.
    static_cast<void>(file.put(FileAside::Flush::no));
}

}  // namespace dtnn::runtime
