#pragma once
/// The content of a file, for tests that look into what was written.

#include <string>

#include "runtime/base/regular_file.hpp"

namespace dtnn::runtime {

inline std::string file_text(const std::string& path, Exit exit = Exit::failed) {
    return read_file(path, std::int64_t{1} << 30, "a file of a test", exit);
}

}  // namespace dtnn::runtime
