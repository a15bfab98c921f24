#pragma once
/// Blocks of the random number generator (../philox.hpp), side by side in the lanes of vectors.

#include <cstdint>

#include "kernels/cpu/simd.hpp"
#include "kernels/philox.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Words generated at a time: sixteen blocks of the generator, one per lane.
constexpr int kBlocks = 16, kWords = 4 * kBlocks;

/// words[j] = word first + j of the sequence (key, epoch), for j in [0, kWords); first is a
/// multiple of 4. The same numbers as philox::word, with the lanes' blocks side by side.
void generate(std::uint64_t key, std::uint64_t epoch, std::uint64_t first, std::uint32_t* words) {
    std::uint32_t c0[kBlocks], c1[kBlocks], c2[kBlocks], c3[kBlocks];
    for (int lane = 0; lane < kBlocks; ++lane) {
        const std::uint64_t block = first / 4 + std::uint64_t(lane);
        c0[lane] = std::uint32_t(block);
        c1[lane] = std::uint32_t(block >> 32);
        c2[lane] = std::uint32_t(epoch);
        c3[lane] = std::uint32_t(epoch >> 32);
    }
    auto key0 = std::uint32_t(key), key1 = std::uint32_t(key >> 32);
    for (int round = 0; round < philox::kRounds; ++round) {
#pragma omp simd
        for (int lane = 0; lane < kBlocks; ++lane) {
            const std::uint64_t product0 = std::uint64_t(philox::kMultiplier0) * c0[lane];
            const std::uint64_t product1 = std::uint64_t(philox::kMultiplier1) * c2[lane];
            c0[lane] = std::uint32_t(product1 >> 32) ^ c1[lane] ^ key0;
            c1[lane] = std::uint32_t(product1);
            c2[lane] = std::uint32_t(product0 >> 32) ^ c3[lane] ^ key1;
            c3[lane] = std::uint32_t(product0);
        }
        key0 += philox::kWeyl0;
        key1 += philox::kWeyl1;
    }
    for (int lane = 0; lane < kBlocks; ++lane) {
        words[4 * lane] = c0[lane];
        words[4 * lane + 1] = c1[lane];
        words[4 * lane + 2] = c2[lane];
        words[4 * lane + 3] = c3[lane];
    }
}

/// The place of a batch's numbers among all.
struct Numbers {
    std::uint64_t key, epoch;
    std::uint64_t first;  ///< the word of the batch's number 0
};

/// Calls body(words, begin, end) so that words[i] is the batch's number `begin + i`, over [begin,
/// end) in pieces.
template <class Body>
DTNN_INLINE void for_words(const Numbers& numbers, std::int64_t begin, std::int64_t end,
                           Body body) {
    alignas(64) std::uint32_t words[kWords];
    while (begin < end) {
        const std::uint64_t word = numbers.first + std::uint64_t(begin);
        const auto skipped = std::int64_t(word % 4);
        const std::int64_t last = begin - skipped + kWords < end ? begin - skipped + kWords : end;
        generate(numbers.key, numbers.epoch, word - std::uint64_t(skipped), words);
        body(words + skipped, begin, last);
        begin = last;
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
