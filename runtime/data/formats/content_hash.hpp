#pragma once
/// XXH3 (64 bits) over pieces that are told apart.

#include <xxhash.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace dtnn::runtime {

class ContentHash {
  public:
    ContentHash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }

    /// Each piece counts with its length: "ab", "c" differs from "a", "bc".
    ContentHash& add(std::string_view bytes) {
        add(std::uint64_t(bytes.size()));
        XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
        return *this;
    }
    ContentHash& add(std::uint64_t value) {
        unsigned char bytes[8];
        for (unsigned char& byte : bytes) {
            byte = static_cast<unsigned char>(value);
            value >>= 8;
        }
        XXH3_64bits_update(state_.get(), bytes, sizeof bytes);
        return *this;
    }
    std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

  private:
    struct Free {
        void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
    };
    std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace dtnn::runtime
