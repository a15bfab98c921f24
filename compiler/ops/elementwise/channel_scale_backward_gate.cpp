#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/elementwise/channel_gate.hpp"

namespace dtnn::compiler {

/// diff_gate[n,c] = sum over all other axes of src[n,c,...] * diff_dst[n,c,...].
OpDef define_channel_scale_backward_gate() {
    return OpBuilder("channel_scale_backward_gate")
        .family(Family::join)
        .kernel_class(KernelClass::memory)
        .doc("Gradient of channel_scale by its gate.")
        .shape([](ShapeContext& c) {
            const char* name = "channel_scale_backward_gate";
            if (!settle_features(c, name)) return;
            if (!expect_dims(c, "diff_dst", c.input(0).dims)) return;
            Type gate{c.input(0).dtype, c.integers("gate_shape"), {}, usual_axes(1)};
            if (gate.dims == ones_of_gate(c.input(0))) {
                gate.order = c.input(0).order;
                gate.axes = c.input(0).axes;
            }
            if (!gates(gate, c.input(0))) {
                c.fail(fmt::format("{}: {} has not one number per channel of {}", name, print(gate),
                                   print(c.input(0))));
                return;
            }
            c.result(std::move(gate));
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 2 * in[0].elements();
        });
}

}  // namespace dtnn::compiler
