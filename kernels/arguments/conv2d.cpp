#include "kernels/arguments/conv2d.hpp"

#include "kernels/packed_weights.hpp"

namespace dtnn::kernels {

ProductArguments::ProductArguments(const Operands& operands) : FromOperands(operands) {
    if (!o.problem.op.starts_with("dense")) {
        shape = conv_shape(o.problem);
        strides = conv_strides(o.problem);
        return;
    }
    shape = dense_shape(o.problem);
    strides = channels_last_strides(shape);
    if (const std::int64_t block = packed_block(o.problem); block > 0) pack(strides, shape, block);
}

}  // namespace dtnn::kernels
