#pragma once
/// Philox4x32-10, the counter-based random number generator of Salmon, Moraes, Dror and Shaw,
/// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A number is a pure function of (key,
/// counter), so that what a run draws depends neither on threads, ranks nor history.
///
/// The numbers that are drawn, exactly:
///   key      = key_of(seed, purpose, stream), 64 bits
///   word i of the sequence (key, step) is word i % 4 of the block with key `key` and counter (i /
///   4, step),
///              both as 64-bit numbers, low half first
///   uniform_float  = (word >> 8) * 2^-24, in [0, 1)
///   uniform_double = (word i >> 5, word i+1 >> 6) as 53 bits * 2^-53, in [0, 1)
///   keep(word, rate): word * 2^-32 >= rate, in integers, the same for every floating type

#include <cstddef>
#include <cstdint>

#include "base/device.hpp"

namespace dtnn::kernels::philox {

/// Four words; no std::array, whose functions are the host's alone.
struct Block {
    std::uint32_t words[4];

    DTNN_DEVICE constexpr std::uint32_t operator[](std::size_t i) const { return words[i]; }
    bool operator==(const Block&) const = default;
};

/// Why numbers are drawn; sequences of different purposes never meet.
enum class Purpose : std::uint32_t {
    split = 1,
    shuffle = 2,
    initialise = 3,
    dropout = 4,
    data = 5,
    augment = 6,
    generate = 7
};

inline constexpr std::uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
inline constexpr std::uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
inline constexpr int kRounds = 10;

/// The generator itself, in the words of the paper.
DTNN_DEVICE constexpr Block generate(Block counter, std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t product0 = std::uint64_t(kMultiplier0) * counter[0];
        const std::uint64_t product1 = std::uint64_t(kMultiplier1) * counter[2];
        counter = {std::uint32_t(product1 >> 32) ^ counter[1] ^ key0, std::uint32_t(product1),
                   std::uint32_t(product0 >> 32) ^ counter[3] ^ key1, std::uint32_t(product0)};
        key0 += kWeyl0;
        key1 += kWeyl1;
    }
    return counter;
}

/// Seed, purpose and stream in one key: block (purpose, stream) of the generator keyed by the seed,
/// its first half.
DTNN_DEVICE constexpr std::uint64_t key_of(std::uint64_t seed, Purpose purpose,
                                           std::uint64_t stream = 0) {
    const Block block =
        generate({std::uint32_t(stream), std::uint32_t(stream >> 32), std::uint32_t(purpose), 0u},
                 std::uint32_t(seed), std::uint32_t(seed >> 32));
    return std::uint64_t(block[0]) | std::uint64_t(block[1]) << 32;
}

DTNN_DEVICE constexpr Block block(std::uint64_t key, std::uint64_t step, std::uint64_t index) {
    return generate({std::uint32_t(index), std::uint32_t(index >> 32), std::uint32_t(step),
                     std::uint32_t(step >> 32)},
                    std::uint32_t(key), std::uint32_t(key >> 32));
}

DTNN_DEVICE constexpr std::uint32_t word(std::uint64_t key, std::uint64_t step, std::uint64_t i) {
    return block(key, step, i / 4)[i % 4];
}

DTNN_DEVICE constexpr float uniform_float(std::uint32_t word) {
    return float(word >> 8) * 0x1p-24f;
}

DTNN_DEVICE constexpr double uniform_double(std::uint32_t first, std::uint32_t second) {
    return double(std::uint64_t(first >> 5) << 26 | std::uint64_t(second >> 6)) * 0x1p-53;
}

/// The least word that is kept at this rate: ceil(rate * 2^32). A rate of 0 keeps all, of 1 none.
DTNN_DEVICE constexpr std::uint64_t keep_threshold(double rate) {
    const double scaled = rate * 0x1p32;
    if (!(scaled > 0)) return 0;
    if (scaled >= 0x1p32) return std::uint64_t(1) << 32;
    const auto whole = std::uint64_t(scaled);
    return double(whole) < scaled ? whole + 1 : whole;
}

/// A whole number in [0, bound), bound > 0: the high half of a 64-bit word times the bound. What it
/// favours is less than bound / 2^64.
DTNN_DEVICE constexpr std::uint64_t below(std::uint32_t first, std::uint32_t second,
                                          std::uint64_t bound) {
    const std::uint64_t bits = std::uint64_t(first) << 32 | second;
    // 64 x 64 -> high 64 bits, by halves: a 128-bit integer is no standard type.
    const std::uint64_t a = bits >> 32, b = bits & 0xFFFFFFFFu;
    const std::uint64_t c = bound >> 32, d = bound & 0xFFFFFFFFu;
    const std::uint64_t middle = a * d + (b * d >> 32);
    const std::uint64_t other = b * c + (middle & 0xFFFFFFFFu);
    return a * c + (middle >> 32) + (other >> 32);
}

}  // namespace dtnn::kernels::philox
