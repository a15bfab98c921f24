#include "runtime/data/sources/hashed_file.hpp"

#include <string>

#include "runtime/base/files.hpp"

namespace dtnn::runtime {

bool add_file(const RegularFile& file, ContentHash& hash) {
    constexpr std::int64_t kMostHashed = std::int64_t{64} << 20;
    if (file.size() > kMostHashed) {
        hash.add(base_name(file.path())).add(std::uint64_t(file.size()));
        return false;
    }
    hash.add(file.read_all(kMostHashed, "a text"));
    return true;
}

}  // namespace dtnn::runtime
