#include <fmt/format.h>

#include "compiler/ops/axis.hpp"
#include "compiler/ops/sequence/lengths.hpp"

namespace dtnn::compiler {
namespace {

void mean_shape(ShapeContext& c) {
    const auto axis = expect_axis(c, "mean");
    if (!axis) return;
    write_axis(c.attributes(), *axis);
    Type dst = c.input(0);
    dst.order.clear();
    dst.dims.erase(dst.dims.begin() + std::ptrdiff_t(*axis));
    dst.axes.erase(dst.axes.begin() + std::ptrdiff_t(*axis));
    if (dst.axes == Axes{AxisKind::batch}) {
        c.fail(fmt::format("mean over the {}s of {} leaves one number of a sample",
                           name_of(c.input(0).axes[*axis]), sample_text(c.input(0))),
               "`- dense: {units: 1}` learns one", "axis");
        return;
    }
    // Channels that are last, as those of a row are, are features.
    if (dst.axes.back() == AxisKind::channel) dst.axes.back() = AxisKind::feature;
    c.result(dst);
}

/// Over the steps, of those that each sample has.
void mean_of_lengths(LengthsContext& c) {
    if (spares_steps(c.node())) return each_step(c);
    const ValueId steps = masked(c, c.input(0), StepMask::mean);
    c.set(c.emit("mean", {steps}, c.node().attributes, "dst")[0], false);
}

}  // namespace

/// dst = the mean of src along the axis, which is gone.
OpDef define_mean() {
    return OpBuilder("mean")
        .family(Family::pooling)
        .kernel_class(KernelClass::memory)
        .doc("The mean along one axis, which the result has no more: of a sequence over its steps.")
        .layer("- mean: {axis: steps}")
        .field(choice_field("axis", "steps", {"steps", "features", kChannels},
                            "axis over which the mean is taken"))
        .shape(mean_shape)
        .with_lengths(mean_of_lengths)
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            Attributes attributes = shape_attributes(g.graph().type(g.input(0)));
            write_axis(attributes, written_axis(g.node().attributes));
            g.set(0, g.emit("mean_backward", {g.diff(0)}, std::move(attributes), "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
