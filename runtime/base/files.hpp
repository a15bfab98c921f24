#pragma once
/// Files as a run writes them (regular_file.hpp reads them). Every failure is a RunError that names
/// the path, what the system said and the remedy.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

/// Replaces the file by the parts, one after another (FileAside of base/files.hpp). A link is
/// followed; what is no regular file (a pipe, a device) is written into.
void write_file(const std::string& path, std::span<const std::string_view> parts);
void write_file(const std::string& path, std::string_view text);

/// Creates the folder and those above it.
void create_folders(const std::string& path);

/// A file that lines are added to; each is handed to the system at once, so that a killed run keeps
/// them. One process at a time, where the file system knows locks.
class LineFile {
  public:
    enum class Begin { empty, as_it_is };
    /// Makes the file where there is none. One that another process adds lines to is a RunError,
    /// and unchanged.
    explicit LineFile(std::string path, Begin begin = Begin::empty);
    void add(std::string_view line);  ///< without its end
    /// Whether the path no longer led to this file, which has then been written there again, with
    /// all its lines. A RunError where another process writes the one that is there now.
    bool put_back();
    std::int64_t bytes() const;
    /// Drops what is behind so many bytes, and a last line that is not whole.
    void cut(std::int64_t bytes);
    /// Writes everything to the disk.
    void flush();
    /// Flushes and closes. Called once at the end of a run.
    void close();
    bool is_open() const { return file_ != nullptr; }
    const std::string& path() const { return path_; }

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    void open();
    bool is_gone() const;

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

/// Whether a process adds lines to the file by a LineFile; false where there is no such file, or
/// the file system knows no locks.
bool is_being_written(const std::string& path);

/// The program's answer: text to standard output, what may not be shown as it is (base/utf8.hpp) as
/// \xNN. A full disk is an error, a closed pipe ends the output silently.
void print_out(std::string_view text);

/// The name behind the last slash.
std::string base_name(const std::string& path);

/// The error for what the standard library could not get of the system: a thread, mostly.
RunError system_error(const std::system_error& error);

/// The error for `action` ("write") on `path` after a system call set `error` (an errno).
RunError system_error(const std::string& action, const std::string& path, int error,
                      Exit exit = Exit::failed);

}  // namespace dtnn::runtime
