#pragma once
/// Many words of a sequence of the random number generator (philox.hpp) at a time, in the widest
/// vectors that this machine has. The same words on every machine.

#include <cstdint>
#include <span>

namespace dtnn::kernels {

/// words[j] = philox::word(key, step, first + j). `first` is a multiple of 4.
void draw_words(std::uint64_t key, std::uint64_t step, std::uint64_t first,
                std::span<std::uint32_t> words);

}  // namespace dtnn::kernels
