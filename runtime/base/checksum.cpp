#include "runtime/base/checksum.hpp"

#include <xxhash.h>

#include <new>

namespace dtnn::runtime {

struct Checksum::State {
    XXH3_state_t* state = XXH3_createState();

    State() {
        if (state == nullptr) throw std::bad_alloc();
        XXH3_128bits_reset(state);
    }
    ~State() { XXH3_freeState(state); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
};

Checksum::Checksum() : state_(std::make_unique<State>()) {}
Checksum::~Checksum() = default;

void Checksum::add(std::string_view bytes) {
    XXH3_128bits_update(state_->state, bytes.data(), bytes.size());
}

std::string Checksum::text() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_->state));
    std::string text = "xxh3:";
    for (const unsigned char byte : canonical.digest) {
        constexpr const char* kDigits = "0123456789abcdef";
        text += kDigits[byte / 16];
        text += kDigits[byte % 16];
    }
    return text;
}

std::string checksum_text(std::string_view bytes) {
    Checksum checksum;
    checksum.add(bytes);
    return checksum.text();
}

}  // namespace dtnn::runtime
