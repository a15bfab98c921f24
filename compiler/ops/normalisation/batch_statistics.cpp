#include "compiler/ops/normalisation/batch_statistics.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {

bool expect_per_channel(ShapeContext& c, const char* op, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i)
        if (!expect_dims(c, op, i, fmt::format("operand {}", i).c_str(), {features_of(c.input(0))}))
            return false;
    return true;
}

bool expect_relu_backward(ShapeContext& c, const char* op, std::size_t own) {
    const bool mask = c.flag("mask");
    const bool beta = text_or(c.attributes(), "epilogue", "none") != "none" && !mask;
    if (!settle_features(c, op)) return false;
    if (!expect_operands(c, op, own + (beta ? 1u : 0u) + (mask ? 1u : 0u))) return false;
    const Type& src = c.input(0);
    if (!expect_dims(c, op, 1, "diff_dst", src.dims)) return false;
    if (!expect_per_channel(c, op, 2, 3)) return false;
    if (beta) return expect_per_channel(c, op, own, 1);
    return !mask || expect_dims(c, op, own, "mask", {bit_mask_bytes(src.elements())});
}

Type rank_sums(const Type& src) {
    return {DType::f64, {2 * features_of(src) + 1}, {}};
}

std::int64_t bit_mask_bytes(std::int64_t elements) {
    return (elements + 7) / 8;
}

}  // namespace dtnn::compiler
