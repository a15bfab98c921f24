#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::int64_t kMostEntries = 1 << 24;

Dims entry_table_dims(const Type&, const Attributes& attributes) {
    return {std::get<std::int64_t>(attributes.at("entries")),
            std::get<std::int64_t>(attributes.at("units"))};
}

/// A row for each integer. Those of a list are the steps of a sequence, but for a list of one.
Type looked_up(const Type& indices, const Type& table) {
    Type dst{table.dtype, indices.dims, {}, indices.axes};
    if (dst.axes.empty()) dst.axes = {AxisKind::batch};
    const bool list = is_rows(indices);
    if (list && indices.dims[1] == 1) {
        dst.dims.pop_back();
        dst.axes.pop_back();
    }
    std::replace(dst.axes.begin(), dst.axes.end(), AxisKind::feature, AxisKind::step);
    dst.dims.push_back(table.dims[1]);
    dst.axes.push_back(AxisKind::feature);
    return dst;
}

void embedding_shape(ShapeContext& c) {
    const Type &indices = c.input(0), &table = c.input(1);
    const bool known = indices.axes.size() == indices.dims.size() || indices.dims.size() == 1;
    if (indices.dtype != DType::i32 || !known) {
        c.fail(fmt::format("embedding takes integers, and its input, {}, is of real numbers",
                           sample_text(indices)),
               "an input of integers has `dtype: i32` and `values`, how many they may have");
        return;
    }
    if (table.dims.size() != 2) {
        c.fail("embedding: its weights are not a table of rows");
        return;
    }
    for (const char* name : {"entries", "units", "weights_initializer", "dtype"})
        c.attributes().erase(name);
    c.result(looked_up(indices, table));
}

}  // namespace

/// dst[..., u] = weights[indices[...], u]; zeros for an index outside of the table.
OpDef define_embedding() {
    return OpBuilder("embedding")
        .family(Family::sequence)
        .kernel_class(KernelClass::memory)
        .doc(
            "A learned row of numbers for each integer, of a table: words, categories, pixels as "
            "tokens.")
        .layer("- embedding: {entries: 1000, units: 16}")
        .takes_integers("entries")
        .same_step()
        .field(integer_field("entries", {},
                             "rows of the table: how many values an integer may have, from 0", 1,
                             kMostEntries))
        .field(integer_field("units", {}, "numbers of a row", 1, kLargestExtent))
        .field(initializer_field("weights_initializer", "normal: {mean: 0, deviation: 0.02}",
                                 "first rows"))
        .parameter({"weights", true, entry_table_dims,
                    [](const Dims& dims, const Attributes& attributes) {
                        return initializer(attributes, "weights_initializer",
                                           "normal: {mean: 0, deviation: 0.02}", dims[0], dims[1]);
                    }})
        .shape(embedding_shape)
        .gradient([](GradientContext& g) {
            if (!g.wants(1)) return;
            g.set(1,
                  g.emit("embedding_backward", {g.input(0), g.diff(0)},
                         {{"weights_shape", g.graph().type(g.input(1)).dims}}, "diff_weights")[0]);
        })
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{0}; });
}

}  // namespace dtnn::compiler
