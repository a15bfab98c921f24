#pragma once
/// The mean along an axis, which the result lacks: y = 1/E sum over e of x[e]; and its gradient,
/// diff_src[e] = diff_dst / E for all E elements.

#include <tuple>

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

/// The views of `whole` and of `part`, which lacks the axis.
inline std::tuple<AxisView, AxisView> mean_views(const Problem& problem, const TensorType& whole,
                                                 const TensorType& part) {
    const AxisRange axis = axis_of(problem);
    return std::tuple_cat(views_of(axis, whole, with_axis(part, axis.first)));
}

template <class T>
struct MeanArguments : FromOperands {
    AxisView src_view, dst_view;  ///< dst has one element along the axis
    const T* src = o.source("src");
    T* dst = o.result("dst");
    std::byte* workspace = o.scratch();  ///< of devices

    explicit MeanArguments(const Operands& operands) : FromOperands(operands) {
        std::tie(src_view, dst_view) =
            mean_views(o.problem, *o.source("src").type(), *o.result("dst").type());
    }
};

template <class T>
struct MeanBackwardArguments : FromOperands {
    AxisView diff_src_view, diff_dst_view;
    const T* diff_dst = o.source("diff_dst");
    T* diff_src = o.result("diff_src");

    explicit MeanBackwardArguments(const Operands& operands) : FromOperands(operands) {
        std::tie(diff_src_view, diff_dst_view) =
            mean_views(o.problem, *o.result("diff_src").type(), *o.source("diff_dst").type());
    }
};

}  // namespace dtnn::kernels
