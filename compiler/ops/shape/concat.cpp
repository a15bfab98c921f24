#include <fmt/format.h>

#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {
namespace {

/// Says that operand i does not fit the first.
void fail_to_join(ShapeContext& c, std::size_t i, AxisKind joined) {
    const bool images = is_image(c.input(0)) && is_image(c.input(i));
    c.fail(fmt::format("concat joins {}s, so {} must agree, but input 1 is {} and input {} is {}",
                       name_of(joined), images ? "height and width" : "all other axes",
                       sample_text(c.input(0)), i + 1, sample_text(c.input(i))),
           images ? "give all inputs one height and width: the same strides, and `padding: same` "
                    "where kernels differ"
                  : "");
}

void concat_shape(ShapeContext& c) {
    const auto axis = settle_axis(c, "concat");
    if (!axis) return;
    if (c.inputs().size() < 2) {
        c.fail("concat needs at least 2 inputs, got 1");
        return;
    }
    Type dst = c.input(0);
    dst.dims[*axis] = 0;
    for (std::size_t i = 0; i < c.inputs().size(); ++i) {
        const Type& src = c.input(i);
        Dims expected = c.input(0).dims;
        const bool alike = src.axes == dst.axes;
        if (alike) expected[*axis] = src.dims[*axis];
        if (!alike || src.dims != expected) {
            fail_to_join(c, i, dst.axes[*axis]);
            return;
        }
        if (src.dtype != dst.dtype || src.order != dst.order) {
            c.fail("concat: inputs differ in dtype or order");
            return;
        }
        dst.dims[*axis] += src.dims[*axis];
    }
    c.result(dst);
}

void concat_gradient(GradientContext& g) {
    const std::size_t axis = written_axis(g.node().attributes);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < g.node().inputs.size(); ++i) {
        const std::int64_t end = begin + g.graph().type(g.input(i)).dims[axis];
        if (g.wants(i)) {
            Attributes attributes = pick(g.node().attributes, {"axis"});
            attributes["begin"] = begin;
            attributes["end"] = end;
            g.set(i, g.emit("slice", {g.diff(0)}, std::move(attributes), "diff_src")[0]);
        }
        begin = end;
    }
}

}  // namespace

OpDef define_concat() {
    return OpBuilder("concat")
        .family(Family::join)
        .keeps_shifts()
        .kernel_class(KernelClass::copies)
        .does_nothing(has_one_operand)
        .doc("Joins its inputs along one axis, in order.")
        .layer("- concat: {from: [conv2d_1, conv2d_2]}")
        .variadic(2)
        .field(axis_field("axis along which inputs are joined"))
        .shape(concat_shape)
        .same_step(spares_steps)
        .gradient(concat_gradient)
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
