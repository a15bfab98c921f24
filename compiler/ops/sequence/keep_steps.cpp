#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {

/// kept[n, place + t, f] = src[n, t, begin + f]: kernels/arguments/position.hpp.
OpDef define_keep_steps() {
    return OpBuilder("keep_steps")
        .family(Family::sequence)
        .kernel_class(KernelClass::copies)
        .attribute("begin", std::int64_t{0})
        .doc("Puts the features of steps that have come beside those of the steps before.")
        .of_sequences()
        .shape([](ShapeContext& c) {
            fallback(c, "begin");
            const Type &kept = c.input(0), &src = c.input(1);
            if (!expect_sequence(c, 1)) return;
            const std::int64_t begin = c.integer("begin");
            if (src.dims[0] != kept.dims[0] || src.dims[1] > kept.dims[1] || begin < 0 ||
                begin + kept.dims[2] > src.dims[2]) {
                c.fail(fmt::format("keep_steps has room for {}, and gets {} from {} on",
                                   shape_text(kept.dims), shape_text(src.dims), begin));
                return;
            }
            result_like(c);
        })
        .no_gradient("of programs that generate; training has all steps at once")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
