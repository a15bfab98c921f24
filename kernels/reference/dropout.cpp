#include "kernels/arguments/dropout.hpp"

#include "kernels/philox.hpp"
#include "kernels/reference/image_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// number(n, c, h, w): which number of the step decides over the element.
template <class T, class Number>
void drop(const DropoutApplyArguments<T>& a, Number number) {
    for_each(a.layout, [&](auto n, auto c, auto h, auto w) {
        const auto i = std::uint64_t(number(n, c, h, w));
        const bool keep = philox::word(a.key, std::uint64_t(*a.step), i) >= a.threshold;
        const std::int64_t at = a.layout.at(n, c, h, w);
        a.dst[at] = keep ? a.src[at] * a.scale : T(0);
    });
}

}  // namespace

template <class T>
void dropout_apply_reference(const DropoutApplyArguments<T>& a, ThreadTeam&) {
    std::int64_t i = 0;  // of the logical row-major order
    drop(a, [&](auto, auto, auto, auto) { return i++; });
}

template <class T>
void spatial_dropout2d_apply_reference(const DropoutApplyArguments<T>& a, ThreadTeam&) {
    drop(a, [&](auto n, auto c, auto, auto) { return n * a.layout.channels + c; });
}

DTNN_REFERENCE(dropout_apply, DropoutApplyArguments)
DTNN_REFERENCE(spatial_dropout2d_apply, DropoutApplyArguments)

}  // namespace dtnn::kernels::reference
