#include "kernels/random_words.hpp"

#include "kernels/built.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/philox.hpp"

namespace dtnn::kernels {

#define DTNN_DRAW_BLOCKS                                                                      \
    template <class Word>                                                                     \
    void draw_blocks(std::uint64_t key, std::uint64_t step, std::uint64_t first, Word* words, \
                     std::size_t count);
namespace isa_baseline {
DTNN_DRAW_BLOCKS
}
namespace isa_avx2 {
DTNN_DRAW_BLOCKS
}
namespace isa_avx512 {
DTNN_DRAW_BLOCKS
}
#undef DTNN_DRAW_BLOCKS

void draw_words(std::uint64_t key, std::uint64_t step, std::uint64_t first,
                std::span<std::uint32_t> words) {
    using Function =
        void (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t*, std::size_t);
    static constexpr Function functions[] = DTNN_EVERY_ISA(draw_blocks<std::uint32_t>);
    static const Function widest = [] {
        Function function = nullptr;
        for (std::size_t isa = 0; isa < std::size(functions); ++isa)
            if (Isa(isa) <= host_isa() && functions[isa] != nullptr) function = functions[isa];
        return function;
    }();
    if (widest != nullptr) return widest(key, step, first, words.data(), words.size());
    for (std::size_t j = 0; j < words.size(); ++j)
        words[j] = philox::word(key, step, first + j);
}

}  // namespace dtnn::kernels
