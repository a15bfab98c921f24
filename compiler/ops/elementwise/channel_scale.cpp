#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/elementwise/channel_gate.hpp"

namespace dtnn::compiler {

/// dst[n,c,...] = src[n,c,...] * gate[n,c]. diff_src is the same of the gradient; diff_gate sums
/// diff * src over all other axes.
OpDef define_channel_scale() {
    return OpBuilder("channel_scale")
        .family(Family::join)
        .kernel_class(KernelClass::memory)
        .doc("A value times one number per sample and channel.")
        .shape([](ShapeContext& c) {
            if (!settle_features(c, "channel_scale")) return;
            if (!gates(c.input(1), c.input(0))) {
                c.fail(fmt::format("channel_scale: {} has not one number per channel of {}",
                                   print(c.input(1)), print(c.input(0))));
                return;
            }
            result_like(c);
        })
        .gradient([](GradientContext& g) {
            if (g.wants(0))
                g.set(0, g.emit("channel_scale", {g.diff(0), g.input(1)}, {}, "diff_src")[0]);
            if (g.wants(1))
                g.set(1, g.emit("channel_scale_backward_gate", {g.input(0), g.diff(0)},
                                {{"gate_shape", g.graph().type(g.input(1)).dims}}, "diff_gate")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
