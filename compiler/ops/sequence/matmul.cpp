#include <fmt/format.h>

#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kTransposeFirst = "transpose_first";
constexpr const char* kTransposeSecond = "transpose_second";
constexpr const char* kProductScale = "scale";

/// The extent of a sample's matrix along its rows (0) or its columns (1), as it is multiplied.
std::int64_t matrix_extent(const Type& type, bool transposed, int axis) {
    return type.dims[std::size_t((axis == 0) != transposed ? 1 : 2)];
}

void matmul_shape(ShapeContext& c) {
    fallback(c, kTransposeFirst);
    fallback(c, kTransposeSecond);
    fallback(c, kProductScale);
    if (!expect_sequence(c, 1)) return;
    const Type &first = c.input(0), &second = c.input(1);
    const bool turns_first = c.flag(kTransposeFirst), turns_second = c.flag(kTransposeSecond);
    const std::int64_t summed = matrix_extent(first, turns_first, 1);
    const std::int64_t against = matrix_extent(second, turns_second, 0);
    if (summed != against) {
        c.fail(fmt::format("matmul sums over the {} {} of its first input, {}, and the second, {}, "
                           "has {} {}",
                           summed, turns_first ? "steps" : "features", sample_text(first),
                           sample_text(second), against, turns_second ? "features" : "steps"),
               "`transpose_first` and `transpose_second` say which of an input's axes is summed "
               "over");
        return;
    }
    if (first.dims[0] != second.dims[0] || first.dtype != second.dtype) {
        c.fail("matmul: inputs differ in batch or dtype");
        return;
    }
    c.result({first.dtype,
              {first.dims[0], matrix_extent(first, turns_first, 0),
               matrix_extent(second, turns_second, 1)},
              {},
              usual_axes(2)});
}

/// With A and B as they are multiplied and D the gradient of their product, dA = D B^T and
/// dB = A^T D, each times the factor, and each itself transposed where the operand is.
void matmul_gradient(GradientContext& g) {
    const bool turns_first = flag(g.node().attributes, kTransposeFirst);
    const bool turns_second = flag(g.node().attributes, kTransposeSecond);
    const auto product = [&](ValueId a, bool turns_a, ValueId b, bool turns_b, const char* name) {
        Attributes attributes = pick(g.node().attributes, {kProductScale});
        attributes[kTransposeFirst] = turns_a;
        attributes[kTransposeSecond] = turns_b;
        return g.emit("matmul", {a, b}, std::move(attributes), name)[0];
    };
    const ValueId first = g.input(0), second = g.input(1), diff = g.diff(0);
    if (g.wants(0))
        g.set(0, turns_first ? product(second, turns_second, diff, true, "diff_first")
                             : product(diff, false, second, !turns_second, "diff_first"));
    if (g.wants(1))
        g.set(1, turns_second ? product(diff, true, first, turns_first, "diff_second")
                              : product(first, !turns_first, diff, false, "diff_second"));
}

}  // namespace

/// dst[n,i,j] = scale * sum over k of first[n,i,k] * second[n,k,j], with [n,k,i] and [n,j,k] where
/// they are transposed.
OpDef define_matmul() {
    return OpBuilder("matmul")
        .family(Family::join)
        .kernel_class(KernelClass::products)
        .doc(
            "The product of two sequences, sample by sample, as matrices of steps and features: "
            "scores of queries and keys, and what else attention is made of by hand.")
        .layer("- matmul: {from: [dense_1, dense_2], transpose_second: true}")
        .of_sequences()
        .variadic(2)
        .settle_operands([](ShapeContext& c) {
            if (c.inputs().size() != 2)
                c.fail(fmt::format("matmul reads two layers, and this one reads {}",
                                   c.inputs().size()),
                       "`from: [first, second]`; `dense` has weights of its own");
        })
        .field(boolean_field(kTransposeFirst, false,
                             "whether the first input's features are the rows"))
        .field(boolean_field(kTransposeSecond, false,
                             "whether the second input's steps are the columns, as with keys"))
        .field(number_field(kProductScale, 1, "what products are multiplied by"))
        .shape(matmul_shape)
        .gradient(matmul_gradient)
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            const std::int64_t summed = matrix_extent(in[0], flag(a, kTransposeFirst), 1);
            return saturating_product({2, out[0].elements(), summed});
        });
}

}  // namespace dtnn::compiler
