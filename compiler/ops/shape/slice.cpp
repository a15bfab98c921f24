#include <fmt/format.h>

#include "compiler/ops/axis.hpp"
#include "compiler/ops/shape/resampling.hpp"

namespace dtnn::compiler {
namespace {

void slice_shape(ShapeContext& c) {
    fallback(c, "begin");
    const Type& src = c.input(0);
    const auto name = axis_name_of(c.attributes());
    const bool of_image = name == AxisName::height || name == AxisName::width;
    if (of_image && !expect_image(c, "slice")) return;
    // Kernels know the axes of images by their words.
    const auto axis = of_image ? expect_axis(c, "slice") : settle_axis(c, "slice");
    if (!axis) return;
    const std::int64_t extent = src.dims[*axis], begin = c.integer("begin");
    fallback(c, "end", extent);
    const std::int64_t end = c.integer("end");
    if (begin >= end) {
        c.fail(fmt::format("slice from {} to {} is empty: {} - {} = {}", begin, end, end, begin,
                           end - begin),
               "`begin` is the first that stays, `end` the first that does not", "end");
        return;
    }
    if (begin < 0 || end > extent) {
        c.fail(fmt::format("slice from {} to {} does not lie in the {} {} of an input of {}", begin,
                           end, extent,
                           of_image ? std::string("cells of ") + name_of(*name)
                                    : name_of(src.axes[*axis]) + std::string("s"),
                           sample_text(src)),
               "", "end");
        return;
    }
    Type dst = src;
    dst.dims[*axis] = end - begin;
    c.result(dst);
}

/// Of the steps only the last, which every step is when it comes.
void next_of_slice(StepContext& c) {
    const Attributes& attributes = c.node().attributes;
    const std::int64_t steps = c.whole(0).dims[1];
    const auto bound = [&](const char* name) {
        return std::get<std::int64_t>(attributes.at(name));
    };
    if (bound("end") == steps && bound("begin") == steps - 1) {
        if (c.steps() == 1) return c.set(c.input(0));
        return c.set(c.emit("slice", {c.input(0)}, {{"begin", c.steps() - 1}, {"end", c.steps()}},
                            "last")[0]);
    }
    c.refuse(fmt::format("it takes steps {} to {} of {}", bound("begin"), bound("end"), steps),
             "of the steps the last alone can be taken: `last_step`");
}

}  // namespace

/// dst = what of src has begin <= index < end along the axis.
OpDef define_slice() {
    Field end = integer_field(
        "end", {}, "index after the last that stays; the extent when not given", 1, kLargestExtent);
    end.optional = true;
    return OpBuilder("slice")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .does_nothing(keeps_extents)
        .doc("A range of the channels, features, steps, rows or columns.")
        .layer("- slice: {axis: channels, begin: 0, end: 16}")
        .field(choice_field("axis", "channels", words_of<AxisName>(),
                            "axis of which a range is taken"))
        .field(integer_field("begin", 0, "index of the first that stays", 0, kLargestExtent))
        .field(end)
        .shape(slice_shape)
        .same_step(spares_steps)
        .next_step(next_of_slice)
        .gradient([](GradientContext& g) {
            emit_resampling_backward(g, "slice_backward", {"axis", "begin", "end"});
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
