#include "kernels/arguments/conv2d.hpp"

#include "kernels/packed_weights.hpp"

namespace dtnn::kernels {

ProductArguments::ProductArguments(const Operands& o)
    : tf32(o.problem.flag("tf32")),
      bf16(o.problem.flag("bf16")),
      engine(int(o.problem.integer("engine", -1))),
      workspace(o.workspace) {
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
