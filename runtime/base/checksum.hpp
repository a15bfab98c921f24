#pragma once
/// The checksum of files: XXH3, 128 bits, as plans have it.

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dtnn::runtime {

class Checksum {
  public:
    Checksum();
    ~Checksum();
    Checksum(const Checksum&) = delete;
    Checksum& operator=(const Checksum&) = delete;

    void add(std::string_view bytes);
    void add(std::span<const std::byte> bytes) {
        add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    /// "xxh3:<32 hex digits>" of all bytes added.
    std::string text() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

std::string checksum_text(std::string_view bytes);

}  // namespace dtnn::runtime
