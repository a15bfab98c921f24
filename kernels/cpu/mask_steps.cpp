/// Steps that a sample has, and one number for those that it has not: rows that are copied, or
/// scaled.

#include "kernels/arguments/mask_steps.hpp"

#include <algorithm>

#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(mask_steps_rows, MaskStepsArguments) {
    constexpr std::int64_t kGrain = 4096;  // numbers that are worth a thread
    const std::int64_t features = a.features, grain = (kGrain + features - 1) / features;
    const auto bytes = std::size_t(features) * sizeof(T);
    team.for_pieces(a.batch * a.steps, grain, [&](auto begin, auto end, int) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t n = i / a.steps, t = i % a.steps, length = a.length(n);
            T* const to = a.dst + i * features;
            if (t >= length) {
                std::fill(to, to + features, a.behind());
                continue;
            }
            const T* const from = a.row(n, t, length);
            if (a.form != StepMask::mean) {
                __builtin_memcpy(to, from, bytes);
                continue;
            }
            const T factor = T(a.factor(length));
            for_channels<T>(features, [&](auto lanes, std::int64_t f) {
                using V = decltype(lanes);
                V::store(to + f, V::load(from + f) * factor);
            });
        }
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
