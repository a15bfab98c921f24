#pragma once
/// Code on disk, by what it was made of. The folder and what is in it belong to this user, who
/// alone may write there, or it is not used: what comes out of it is run. Nothing here ever fails:
/// what cannot be read is made again, what cannot be written is not kept.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/codegen/machine_code.hpp"

namespace dtnn::runtime {

class CodeCache {
  public:
    /// Empty: nothing is kept. `most_bytes` is how long an entry may be.
    explicit CodeCache(std::string folder = "",
                       std::size_t most_bytes = kernels::MachineCode::kMostBytes);

    /// The code that was put there under this key, whole and by this user.
    std::optional<std::string> find(const std::string& key) const;
    void put(const std::string& key, std::string_view code) const;

    const std::string& folder() const { return folder_; }
    static constexpr int kMostEntries = 4096;

  private:
    std::string folder_;
    std::size_t most_bytes_;
};

}  // namespace dtnn::runtime
