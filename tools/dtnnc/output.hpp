#pragma once
/// Files and standard output, written whole or not at all, and the failures that are the machine's.

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dtnn::tools {

/// A command line that cannot be carried out: exit code 2.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A file or stream that cannot be written, with the system's reason: exit code 1.
class OutputError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An output whose reader went away; nobody is left to be told.
class ClosedOutput : public OutputError {
  public:
    using OutputError::OutputError;
};

/// Writes the file aside, flushes it to the disk and renames it, so that a reader never sees half
/// of it and a failure leaves what was there. What is no regular file (a pipe, a device) is written
/// directly. Throws OutputError, and ClosedOutput for a pipe whose reader went away.
void write_file(const std::string& path, std::string_view text);

/// The same for a text that comes piece by piece: `make` hands its pieces to `sink` and returns
/// what to write over the text at last, where it was not known before (an empty text: nothing).
struct FilePatch {
    std::size_t offset = 0;
    std::string text;
};
void write_file(
    const std::string& path,
    const std::function<FilePatch(const std::function<void(std::string_view)>& sink)>& make);

/// Refuses to write through a link that nobody has named (OutputError): the path is one that the
/// program has chosen.
void refuse_link(const std::string& path);

/// The note about a file or folder that was asked for, on standard error: "wrote PATH", or "wrote
/// PATH: FACTS".
void tell_written(const std::string& path, const std::string& facts = "");

/// Text for standard output, what may not be shown as it is (base/utf8.hpp) as \xNN; forms for
/// programs, as JSON, have escapes of their own for that. Throws as `write_file`.
void write_stdout(std::string_view text);
/// The same for what is no text, or has colours of ours: every byte as it is.
void write_stdout_bytes(std::string_view bytes);

/// Text for standard error, shown likewise. Where that is closed or full nobody is left to be told,
/// and the exit code stays what it is.
void write_stderr(std::string_view text);
/// The same with colours of ours.
void write_stderr_bytes(std::string_view bytes);

/// Columns of the terminal at standard output, else of COLUMNS, else 120.
int output_width();

}  // namespace dtnn::tools
