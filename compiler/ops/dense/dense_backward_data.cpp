#include "compiler/ops/dense/dense.hpp"

namespace dtnn::compiler {
namespace {

void dense_backward_data_shape(ShapeContext& c) {
    const Dims source = c.integers("source_shape");
    const Type& diff_dst = c.input(0);
    // The axes before those that are summed over: all but the last of the result.
    const auto rows = diff_dst.dims.empty() ? 0 : std::ptrdiff_t(diff_dst.dims.size() - 1);
    if (rows == 0 || rows >= std::ptrdiff_t(source.size())) {
        c.fail("dense_backward_data: diff_dst has no rows of the source");
        return;
    }
    Dims weights(source.begin() + rows, source.end()),
        result(source.begin(), source.begin() + rows);
    weights.push_back(diff_dst.dims.back());
    result.push_back(diff_dst.dims.back());
    if (!expect_dims(c, "diff_dst", result)) return;
    if (!expect_dims(c, "weights", weights)) return;
    if (!expect_dims(c, "y", source)) return;
    const bool absorbed = source.size() > result.size();
    Type diff_src{diff_dst.dtype, source, {}, diff_dst.axes};
    if (absorbed) diff_src.axes = usual_axes(source.size() - 1);
    // Weights stored H,W,C,units belong to a source stored channels last.
    if (absorbed && !c.input(1).order.empty()) diff_src.order = usual_order(diff_src.axes);
    c.result(diff_src);
}

/// By diff_dst and by the weights, where it is a layer's forward form: one that reads the weights
/// of another the other way round.
void dense_backward_data_gradient(GradientContext& g) {
    if (g.wants(0)) g.set(0, g.emit("dense", {g.diff(0), g.input(1)}, {}, "diff_src")[0]);
    if (g.wants(1))
        g.set(1, g.emit("dense_backward_weights", {g.diff(0), g.input(0)},
                        {{"weights_shape", g.graph().type(g.input(1)).dims}}, "diff_weights")[0]);
}

void next_of_dense_backward_data(StepContext& c) {
    Dims source = std::get<Dims>(c.node().attributes.at("source_shape"));
    source[1] = c.steps();
    c.set(c.emit("dense_backward_data", {c.input(0), c.input(1)}, {{"source_shape", source}},
                 "dst")[0]);
}

}  // namespace

/// diff_src[n,k] = sum over u of diff_dst[n,u] * weights[k,u]; times (y > 0) when `mask`.
OpDef define_dense_backward_data() {
    return OpBuilder("dense_backward_data")
        .family(Family::dense)
        .kernel_class(product_class)
        .multiplies()
        .takes({Epilogue::mask})
        .weights_operand(1, kDenseOrder)
        .doc(
            "Gradient of a fully connected layer by its source; and a layer whose weights are "
            "another's, the other way "
            "round.")
        .shape(dense_backward_data_shape)
        .gradient(dense_backward_data_gradient)
        .next_step(next_of_dense_backward_data)
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            return saturating_product({2, out[0].elements(), in[0].dims.back()}) +
                   (flag(a, "mask") ? out[0].elements() : 0);
        });
}

}  // namespace dtnn::compiler
