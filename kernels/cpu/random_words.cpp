#include <cstring>

#include "kernels/cpu/philox_blocks.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// As kernels::draw_words, where `first` is a multiple of 4.
template <class Word>
void draw_blocks(std::uint64_t key, std::uint64_t step, std::uint64_t first, Word* words,
                 std::size_t count) {
    std::size_t i = 0;
    for (; i + kWords <= count; i += kWords)
        generate(key, step, first + i, words + i);
    if (i == count) return;
    Word rest[kWords];
    generate(key, step, first + i, rest);
    std::memcpy(words + i, rest, (count - i) * sizeof(Word));
}

template void draw_blocks(std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t*, std::size_t);

}  // namespace dtnn::kernels::DTNN_ISA
