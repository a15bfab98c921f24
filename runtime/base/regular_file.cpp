#include "runtime/base/regular_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"

namespace dtnn::runtime {

RegularFile::RegularFile(std::string path, Exit exit)
    : path_(std::move(path)), exit_(exit), file_(path_) {
    check("open", file_.fault());
}

void RegularFile::check(const std::string& action, const ReadFault& fault) const {
    if (fault.error != 0) throw system_error(action, path_, fault.error, exit_);
    if (fault) throw RunError(exit_, fmt::format("{} {}", path_, fault.fact), fault.remedy);
}

void RegularFile::read(std::int64_t offset, std::span<char> bytes) const {
    check("read", file_.read(offset, bytes));
}

std::string RegularFile::read_all(std::int64_t most, std::string_view what) const {
    std::string bytes;
    check("read", file_.read_all(most, what, bytes, [&] { stop_before("reading " + path_); }));
    return bytes;
}

std::string read_file(const std::string& path, std::int64_t most, std::string_view what,
                      Exit exit) {
    return RegularFile(path, exit).read_all(most, what);
}

}  // namespace dtnn::runtime
