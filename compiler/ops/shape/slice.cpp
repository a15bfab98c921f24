#include <fmt/format.h>

#include "compiler/ops/shape/resampling.hpp"

namespace dtnn::compiler {
namespace {

void slice_shape(ShapeContext& c) {
    if (!expect_operands(c, "slice", 1)) return;
    fallback(c, "axis");
    fallback(c, "begin");
    const Type& src = c.input(0);
    const std::string axis = c.text("axis");
    if (axis != "channels" && !expect_image(c, "slice")) return;
    if (src.dims.size() != 2 && src.dims.size() != 4) {
        c.fail("slice takes images and rows of numbers, got " + sample_text(src));
        return;
    }
    const std::size_t at = axis == "channels" ? 1 : axis == "height" ? 2 : 3;
    const std::int64_t extent = src.dims[at], begin = c.integer("begin");
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
                           end, extent, axis == "channels" ? "channels" : "cells of " + axis,
                           sample_text(src)),
               "", "end");
        return;
    }
    Type dst = src;
    dst.dims[at] = end - begin;
    c.result(dst);
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
        .doc("A range of the channels, rows or columns.")
        .layer("- slice: {axis: channels, begin: 0, end: 16}")
        .inputs({"src"})
        .outputs({"dst"})
        .field(choice_field("axis", "channels", {"channels", "height", "width"},
                            "axis of which a range is taken"))
        .field(integer_field("begin", 0, "index of the first that stays", 0, kLargestExtent))
        .field(end)
        .shape(slice_shape)
        .gradient([](GradientContext& g) {
            emit_resampling_backward(g, "slice_backward", {"axis", "begin", "end"});
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
