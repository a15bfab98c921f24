#include <fmt/format.h>

#include "compiler/ops/channel_axis.hpp"

namespace dtnn::compiler {

/// dst = the channels begin <= c < end of src.
OpDef define_slice() {
    return OpBuilder("slice")
        .doc("A range of channels; concat's backward.")
        .inputs({"src"})
        .outputs({"dst"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "slice", 1) || !expect_channel_axis(c, "slice")) return;
            const std::int64_t begin = c.integer("begin"), end = c.integer("end");
            Type dst = c.input(0);
            if (begin < 0 || begin >= end || end > dst.dims[1]) {
                c.fail(fmt::format("slice: {} to {} is no range of {} channels", begin, end,
                                   dst.dims[1]));
                return;
            }
            dst.dims[1] = end - begin;
            c.result(dst);
        })
        .no_gradient("made by concat's gradient only; second derivatives are not taken")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
