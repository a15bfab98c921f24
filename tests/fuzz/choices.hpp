#pragma once
/// A fuzzer's input read as a list of choices, which has no end: behind the bytes everything is 0.

#include <cstddef>
#include <cstdint>
#include <span>

namespace dtnn::fuzz {

class Choices {
  public:
    Choices(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

    bool over() const { return bytes_.empty(); }
    std::uint64_t number(int bytes) {
        std::uint64_t value = 0;
        for (; bytes > 0 && !bytes_.empty(); --bytes, bytes_ = bytes_.subspan(1))
            value = value << 8 | bytes_.front();
        return value;
    }
    /// One of 0 .. limit - 1.
    std::size_t below(std::size_t limit) {
        return limit == 0 ? 0 : std::size_t(number(limit > 256 ? 2 : 1)) % limit;
    }
    std::span<const std::uint8_t> rest() {
        const auto all = bytes_;
        bytes_ = {};
        return all;
    }

  private:
    std::span<const std::uint8_t> bytes_;
};

}  // namespace dtnn::fuzz
