#include "kernels/arguments/mean.hpp"

#include "kernels/reference/axis_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(mean, MeanArguments) {
    const AxisView &from = a.src_view, &to = a.dst_view;
    for_lines(from, [&](auto o, auto i) {
        double sum = 0;
        for (std::int64_t e = 0; e < from.extent; ++e)
            sum += double(a.src[from.at(o, e, i)]);
        a.dst[to.at(o, 0, i)] = T(sum / double(from.extent));
    });
}

DTNN_REFERENCE(mean_backward, MeanBackwardArguments) {
    const AxisView &from = a.diff_dst_view, &to = a.diff_src_view;
    for_lines(to, [&](auto o, auto i) {
        const double share = double(a.diff_dst[from.at(o, 0, i)]) / double(to.extent);
        for (std::int64_t e = 0; e < to.extent; ++e)
            a.diff_src[to.at(o, e, i)] = T(share);
    });
}

}  // namespace dtnn::kernels::reference
