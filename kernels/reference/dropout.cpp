#include "kernels/arguments/dropout.hpp"

#include "kernels/philox.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

template <class T>
void dropout_apply_reference(const DropoutApplyArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.layout;
    std::uint64_t i = 0;  // of the logical row-major order
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t c = 0; c < image.channels; ++c) {
            for (std::int64_t h = 0; h < image.height; ++h) {
                for (std::int64_t w = 0; w < image.width; ++w, ++i) {
                    const bool keep = philox::word(a.key, std::uint64_t(*a.step), i) >= a.threshold;
                    const std::int64_t at = image.at(n, c, h, w);
                    a.dst[at] = keep ? a.src[at] * a.scale : T(0);
                }
            }
        }
    }
}
DTNN_REFERENCE(dropout_apply, DropoutApplyArguments)

}  // namespace dtnn::kernels::reference
