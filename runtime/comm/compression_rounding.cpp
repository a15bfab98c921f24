#include "runtime/comm/compression_rounding.hpp"

#include <algorithm>
#include <cstring>

#include "plan/rules/compression.hpp"

namespace dtnn::runtime {
namespace {

using plan::kCompressionBlock;

/// 16 bits of a block at most: the power of two, and the numbers.
constexpr std::int64_t kBlockWords = kCompressionBlock + 1;

const std::byte* block_at(Rounding rounding, const std::byte* packed, std::int64_t first) {
    return packed +
           2 * (rounding == Rounding::fp16 ? first / kCompressionBlock * kBlockWords : first);
}

std::byte* block_at(Rounding rounding, std::byte* packed, std::int64_t first) {
    return packed +
           2 * (rounding == Rounding::fp16 ? first / kCompressionBlock * kBlockWords : first);
}

/// 2^power in two factors: f32 has no powers beyond 127, and both products of a number that comes
/// out normal are exact.
struct Scale {
    explicit Scale(int power) : half(two_to(power / 2)), rest(two_to(power - power / 2)) {}
    static float two_to(int power) {
        return std::bit_cast<float>(std::uint32_t(power + 127) << 23);
    }
    float half, rest;
};

/// The power of two by which a block is multiplied.
int power_of(const float* from, std::int64_t count) {
    std::int32_t most = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto size = std::int32_t(std::bit_cast<std::uint32_t>(from[i]) & 0x7fffffffU);
        const std::int32_t finite = size < 0x7f800000 ? size : 0;
        most = finite > most ? finite : most;
    }
    if (most == 0) return 0;
    const int exponent =
        most >= 0x800000 ? (most >> 23) - 127 : std::bit_width(std::uint32_t(most)) - 150;
    return 14 - exponent;
}

void pack_block(Rounding rounding, const float* from, std::int64_t count, std::byte* block) {
    std::uint16_t words[kBlockWords];
    if (rounding == Rounding::bf16) {
        for (std::int64_t i = 0; i < count; ++i)
            words[i] = bf16_of(from[i]);
        std::memcpy(block, words, std::size_t(count) * 2);
        return;
    }
    const int power = power_of(from, count);
    const Scale scale(power);
    words[0] = std::uint16_t(power + 256);
    for (std::int64_t i = 0; i < count; ++i)
        words[i + 1] = fp16_of(from[i] * scale.half * scale.rest);
    std::memcpy(block, words, std::size_t(count + 1) * 2);
}

/// Calls use(numbers, first, count) for each block.
template <typename Use>
void for_blocks(Rounding rounding, const std::byte* block, std::int64_t count, Use use) {
    std::uint16_t words[kBlockWords];
    float numbers[kCompressionBlock];
    for (std::int64_t at = 0; at < count; at += kCompressionBlock) {
        const std::int64_t size = std::min(kCompressionBlock, count - at);
        if (rounding == Rounding::bf16) {
            std::memcpy(words, block, std::size_t(size) * 2);
            for (std::int64_t i = 0; i < size; ++i)
                numbers[i] = from_bf16(words[i]);
            block += size * 2;
        } else {
            std::memcpy(words, block, std::size_t(size + 1) * 2);
            // Whatever comes is a power that Scale knows.
            const Scale scale(std::clamp(256 - int(words[0]), -250, 250));
            for (std::int64_t i = 0; i < size; ++i)
                numbers[i] = from_fp16(words[i + 1]) * scale.half * scale.rest;
            block += (size + 1) * 2;
        }
        use(numbers, at, size);
    }
}

}  // namespace

void pack(Rounding rounding, const float* from, std::int64_t first, std::int64_t count,
          std::byte* packed) {
    for (std::int64_t at = first; at < first + count; at += kCompressionBlock)
        pack_block(rounding, from + at, std::min(kCompressionBlock, first + count - at),
                   block_at(rounding, packed, at));
}

void unpack(Rounding rounding, const std::byte* packed, std::int64_t first, std::int64_t count,
            float* to) {
    for_blocks(rounding, block_at(rounding, packed, first), count,
               [&](const float* numbers, std::int64_t at, std::int64_t size) {
                   std::memcpy(to + first + at, numbers, std::size_t(size) * sizeof(float));
               });
}

void add_packed(Rounding rounding, const std::byte* packed, std::int64_t count, float* sum) {
    for_blocks(rounding, packed, count,
               [&](const float* numbers, std::int64_t at, std::int64_t size) {
                   float* const into = sum + at;
                   for (std::int64_t i = 0; i < size; ++i)
                       into[i] += numbers[i];
               });
}

std::int64_t first_of_part(std::int64_t elements, int rank, int ranks) {
    const std::int64_t blocks = (elements + kCompressionBlock - 1) / kCompressionBlock;
    return std::min(elements, blocks * rank / ranks * kCompressionBlock);
}

}  // namespace dtnn::runtime
