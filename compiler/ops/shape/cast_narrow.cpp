#include <fmt/format.h>

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// Attributes: to, the result's type, "bf16" or "fp16".
OpDef define_cast_narrow() {
    return OpBuilder("cast_narrow")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .doc("Rounds numbers to 16 bits, to the nearest.")
        .shape([](ShapeContext& c) {
            Type result = c.input(0);
            if (!plan::parse_name(c.text("to"), result.dtype) || !is_reduced(result.dtype) ||
                wide_of(result.dtype) != c.input(0).dtype) {
                c.fail(fmt::format("cast_narrow: {} does not become `{}`",
                                   plan::name_of(c.input(0).dtype), c.text("to")));
                return;
            }
            c.result(result);
        })
        .joins()
        .no_gradient("placed by reduce_precision, which runs after differentiation")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
