#pragma once
/// What stands for the content of a file that is not read as a whole.

#include "runtime/base/regular_file.hpp"
#include "runtime/data/formats/content_hash.hpp"

namespace dtnn::runtime {

/// Adds the file's bytes, or where there are more than 64 MiB of them its name and size; whether it
/// was the bytes.
bool add_file(const RegularFile& file, ContentHash& hash);

}  // namespace dtnn::runtime
