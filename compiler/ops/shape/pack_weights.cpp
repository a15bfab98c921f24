#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/define.hpp"

namespace dtnn::compiler {
namespace {

/// [blocks, the other axes, block]: the blocks one after the other, the other axes stored as they
/// were.
void pack_weights_shape(ShapeContext& c) {
    const Type& weights = c.input(0);
    const std::int64_t axis = c.integer("axis"), block = c.integer("block");
    std::vector<int> stored = weights.order;
    if (stored.empty()) {
        stored.resize(weights.dims.size());
        std::iota(stored.begin(), stored.end(), 0);
    }
    if (stored.empty() || stored.back() != axis || block < 1) {
        c.fail(fmt::format("pack_weights: {} is not stored with axis {} last, in blocks of {}",
                           shape_text(weights.dims), axis, block));
        return;
    }
    Type packed{weights.dtype, {(weights.dims[std::size_t(axis)] + block - 1) / block}, {0}};
    for (std::size_t i = 0; i < weights.dims.size(); ++i)
        if (std::int64_t(i) != axis) packed.dims.push_back(weights.dims[i]);
    packed.dims.push_back(block);
    for (std::size_t i = 0; i + 1 < stored.size(); ++i)
        packed.order.push_back(stored[i] < axis ? stored[i] + 1 : stored[i]);
    packed.order.push_back(int(stored.size()));
    if (std::is_sorted(packed.order.begin(), packed.order.end())) packed.order.clear();
    c.result(packed);
}

}  // namespace

/// dst[b, ..., j] = weights[..., b*block + j], 0 past the last one.
OpDef define_pack_weights() {
    return OpBuilder("pack_weights")
        .family(Family::shape)
        .kernel_class(KernelClass::copies)
        .doc(
            "Weights in blocks of a few filters or units, as the kernel that multiplies by them "
            "reads them.")
        .shape(pack_weights_shape)
        .no_gradient("inference only: training changes the weights in every step")
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
