#include "compiler/ops/activation/softmax.hpp"

namespace dtnn::compiler {

/// dst_i = (src_i - max) - log(sum_j exp(src_j - max)) along the axis.
OpDef define_log_softmax() {
    return channel_distribution("log_softmax", "log_softmax_backward")
        .doc(
            "The logarithm of softmax, computed without taking the logarithm of a rounded zero; "
            "for the loss negative_log_likelihood.")
        .gives(plan::Prediction::log_probabilities);
}

}  // namespace dtnn::compiler
