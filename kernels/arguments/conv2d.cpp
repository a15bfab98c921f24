#include "kernels/arguments/conv2d.hpp"

#include "kernels/packed_weights.hpp"

namespace dtnn::kernels {

ProductArguments::ProductArguments(const Operands& operands) : FromOperands(operands) {
    shape = product_shape(o.problem);
    if (!is_dense(o.problem)) {
        strides = conv_strides(o.problem);
        return;
    }
    strides = channels_last_strides(shape);
    if (const std::int64_t block = packed_block(o.problem); block > 0) pack(strides, shape, block);
}

}  // namespace dtnn::kernels
