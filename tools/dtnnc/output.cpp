#include "tools/dtnnc/output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/files.hpp"
#include "base/utf8.hpp"

namespace dtnn::tools {

namespace {

[[noreturn]] void fail(const std::string& what, int error) {
    const bool descriptors = error == EMFILE || error == ENFILE;
    const std::string text =
        fmt::format("cannot write {}: {}{}", what, std::strerror(error),
                    descriptors ? "\nhelp: raise the limit of open files (ulimit -n)" : "");
    if (error == EPIPE) throw ClosedOutput(text);
    throw OutputError(text);
}

}  // namespace

void write_file(const std::string& path, std::string_view text) {
    write_file(path, [&](const std::function<void(std::string_view)>& sink) {
        sink(text);
        return FilePatch{};
    });
}

void write_file(
    const std::string& path,
    const std::function<FilePatch(const std::function<void(std::string_view)>& sink)>& make) {
    const std::string place = place_of_file(path);
    int error = 0;
    if (place.empty()) {
        // A stream that has no places to go back to gets the patched text at once.
        std::string text;
        const FilePatch patch = make([&](std::string_view piece) { text.append(piece); });
        text.replace(patch.offset, patch.text.size(), patch.text);
        error = write_into(path, [&](int file) { return write_all(file, text); });
    } else if (std::filesystem::is_directory(place)) {
        error = EISDIR;
    } else {
        error = replace_file(place, [&](int file) {
            int failure = 0;
            const FilePatch patch = make([&](std::string_view piece) {
                if (failure == 0) failure = write_all(file, piece);
            });
            if (failure != 0 || patch.text.empty()) return failure;
            if (::lseek(file, static_cast<off_t>(patch.offset), SEEK_SET) < 0) return errno;
            return write_all(file, patch.text);
        });
    }
    if (error != 0) fail(path, error);
}

void refuse_link(const std::string& path) {
    if (is_link(path))
        throw OutputError(
            fmt::format("cannot write {}: it is a link; look where it leads, or name "
                        "a file with -o",
                        path));
}

void tell_written(const std::string& path, const std::string& facts) {
    write_stderr(fmt::format("wrote {}{}{}\n", path, facts.empty() ? "" : ": ", facts));
}

void write_stdout(std::string_view text) {
    write_stdout_bytes(shown_lines(text));
}

void write_stdout_bytes(std::string_view bytes) {
    if (const int error = write_all(answer_descriptor(), bytes)) fail("standard output", error);
}

void write_stderr(std::string_view text) {
    write_stderr_bytes(shown_lines(text));
}

void write_stderr_bytes(std::string_view bytes) {
    static_cast<void>(write_all(STDERR_FILENO, bytes));
}

int output_width() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    if (const char* columns = std::getenv("COLUMNS"))
        if (int width = std::atoi(columns); width > 0) return width;
    return 120;
}

}  // namespace dtnn::tools
