#include "kernels/arguments/mask_steps.hpp"

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(mask_steps, MaskStepsArguments) {
    for (std::int64_t n = 0; n < a.batch; ++n) {
        const std::int64_t length = a.length(n);
        for (std::int64_t t = 0; t < a.steps; ++t) {
            for (std::int64_t f = 0; f < a.features; ++f)
                a.dst[(n * a.steps + t) * a.features + f] =
                    t < length ? T(double(a.row(n, t, length)[f]) * a.factor(length)) : a.behind();
        }
    }
}

}  // namespace dtnn::kernels::reference
