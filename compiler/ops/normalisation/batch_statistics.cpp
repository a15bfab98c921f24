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

bool expect_relu_backward(ShapeContext& c, const char* op) {
    if (!settle_features(c, op)) return false;
    const Type& src = c.input(0);
    if (!expect_dims(c, "diff_dst", src.dims)) return false;
    return expect_per_channel(c, op, 2, 3) && expect_dims(c, "beta", {features_of(src)}) &&
           expect_dims(c, "mask", {bit_mask_bytes(src.elements())});
}

Type rank_sums(const Type& src) {
    return {DType::f64, {2 * features_of(src) + 1}, {}};
}

Type rank_moments(const Type& src) {
    return {DType::f64, {7 * features_of(src) + 1}, {}};
}

std::int64_t bit_mask_bytes(std::int64_t elements) {
    return (elements + 7) / 8;
}

}  // namespace dtnn::compiler
