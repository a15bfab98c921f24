#pragma once
/// Elementwise expressions: dst[i] = f(x0[i], x1[i], ...). See docs/operators.md for the text of an
/// expression. Sources that it reads as c1, c2, ... have one number for each place along the axis
/// of x0 (axis_of), its channel, or one for all; they are never in 16 bits.

#include <vector>

#include "base/device.hpp"
#include "base/expression/postfix.hpp"
#include "kernels/arguments/arguments.hpp"
#include "kernels/arguments/expression_steps.hpp"

namespace dtnn::kernels {

/// For each source of the problem: how many numbers it has where the expression reads it by
/// channel, else 0.
std::vector<std::int64_t> numbers_by_channel(const Postfix& expression, const Problem& problem);

template <class T>
struct ElementwiseArguments {
    std::int64_t count = 0;
    std::vector<const T*> sources;      ///< those read by channel point to Wide<T>
    std::vector<std::int64_t> periods;  ///< numbers_by_channel; empty: no source is read so
    std::int64_t channel_stride = 1;    ///< elements between neighbours along the channels of x0
    T* tiles = nullptr;  ///< workspace of the fast version, where sources are read so
    T* dst = nullptr;    ///< may be one of the sources
    Postfix expression;
    ExpressionSteps steps;                   ///< where there is no loop
    LoopFunction loop = nullptr;             ///< made for the expression, or null
    const void* const* functions = nullptr;  ///< that the loop calls

    /// The sources, the expression and the code for it.
    void read(const Operands& o);
    /// Without the sources, which the kernel makes itself.
    void read_terms(const Problem& problem);
    /// Where a source has what element i of x0 meets.
    DTNN_DEVICE static std::int64_t place(std::int64_t i, std::int64_t period,
                                          std::int64_t channel_stride) {
        return period == 1 ? 0 : i / channel_stride % period;
    }
    ElementwiseArguments() = default;
    explicit ElementwiseArguments(const Operands& o)
        : count(o.result("dst").elements()), tiles(o.scratch<T>()), dst(o.result("dst")) {
        read(o);
    }
};

}  // namespace dtnn::kernels
