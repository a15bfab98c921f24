#pragma once
/// mask_steps: what becomes of steps that a sample does not have. Operands are [N, steps, ...],
/// row-major; L = lengths[n], as length_of takes it. By `form` (StepMask)
///
///     zeros       dst[n, t] = src[n, t]
///     mean        dst[n, t] = src[n, t] * steps / L, whose mean over all steps is that over L
///     reversed    dst[n, t] = src[n, L - 1 - t]
///     lowest      dst[n, t] = src[n, t]
///
/// for t < L; behind, minus infinity where the form is `lowest`, else zeros. Each is its own
/// gradient, but for `lowest`, whose is `zeros`.

#include <cmath>

#include "base/tensor/choices.hpp"
#include "kernels/arguments/arguments.hpp"
#include "kernels/arguments/step_place.hpp"

namespace dtnn::kernels {

template <class T>
struct MaskStepsArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t batch = o.source("src").type()->dims[0], steps = o.source("src").type()->dims[1],
                 features = o.source("src").elements() / (batch * steps);
    StepMask form = o.problem.chosen<StepMask>("form");
    const T* src = o.source("src");
    const std::int32_t* lengths = o.source("lengths");
    T* dst = o.result("dst");

    /// The steps that sample n has.
    DTNN_DEVICE std::int64_t length(std::int64_t n) const { return length_of(lengths, n, steps); }
    /// What row t of sample n is made of, which is of its `length` steps.
    DTNN_DEVICE const T* row(std::int64_t n, std::int64_t t, std::int64_t length) const {
        return src + (n * steps + (form == StepMask::reversed ? length - 1 - t : t)) * features;
    }
    /// What its numbers are multiplied by.
    DTNN_DEVICE double factor(std::int64_t length) const {
        return form == StepMask::mean ? double(steps) / double(length) : 1.0;
    }
    /// What stands behind the steps of a sample.
    DTNN_DEVICE T behind() const { return T(form == StepMask::lowest ? -double(INFINITY) : 0.0); }
};

}  // namespace dtnn::kernels
