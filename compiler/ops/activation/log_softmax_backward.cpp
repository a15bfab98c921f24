#include "compiler/ops/activation/softmax.hpp"

namespace dtnn::compiler {

/// diff_src_i = diff_dst_i - exp(dst_i) * sum_j diff_dst_j along the axis.
OpDef define_log_softmax_backward() {
    return channel_distribution_backward("log_softmax_backward").doc("Gradient of log_softmax.");
}

}  // namespace dtnn::compiler
