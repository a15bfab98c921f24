#include "kernels/arguments/dropout.hpp"

#include "kernels/philox.hpp"
#include "kernels/reference/image_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// number(n, c, h, w): which of the batch's numbers decides over the element; `first`: the word of
/// its first one.
template <class T, class Number>
void drop(const DropoutApplyArguments<T>& a, std::uint64_t first, Number number) {
    for_each(a.layout, [&](auto n, auto c, auto h, auto w) {
        const std::uint64_t i = first + std::uint64_t(number(n, c, h, w));
        const bool keep = philox::word(a.key, a.epoch(), i) >= a.threshold;
        const std::int64_t at = a.layout.at(n, c, h, w);
        a.dst[at] = keep ? a.src[at] * a.scale : T(0);
    });
}

}  // namespace

DTNN_REFERENCE(dropout_apply, DropoutApplyArguments) {
    std::int64_t i = 0;  // of the logical row-major order
    drop(a, a.first_word(a.sample_numbers), [&](auto, auto, auto, auto) { return i++; });
}

DTNN_REFERENCE(spatial_dropout2d_apply, DropoutApplyArguments) {
    const std::int64_t channels = a.layout.channels;
    drop(a, a.first_word(channels), [&](auto n, auto c, auto, auto) { return n * channels + c; });
}

}  // namespace dtnn::kernels::reference
