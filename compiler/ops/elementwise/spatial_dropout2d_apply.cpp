#include "compiler/ops/elementwise/dropout.hpp"

namespace dtnn::compiler {

/// The number drawn for channel c of the sample at place p of the epoch is p*C + c.
OpDef define_spatial_dropout2d_apply() {
    return dropout_application("spatial_dropout2d_apply", true)
        .doc("Sets whole channels of samples to 0 at random, by counter-based random numbers.")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements() + 17 * in[0].dims[0] * in[0].dims[1];
        });
}

}  // namespace dtnn::compiler
