/// Attention of products, as exporters of operator sets before 23 write it.

#include <numeric>

#include "compiler/onnx/out/node_writer.hpp"
#include "compiler/ops/define.hpp"

namespace dtnn::compiler::onnx {
namespace {

struct Parts {
    std::string query, key, value;
};

/// [N, T, heads * width] as [N, heads, T, width]; keys as [N, heads, width, T].
std::string by_head(NodeWriter& out, const std::string& value, std::int64_t heads,
                    std::int64_t width, const std::vector<std::int64_t>& order) {
    const std::string apart =
        out.add("Reshape", {value, out.model().integers({0, 0, heads, width})});
    return out.add("Transpose", {apart}, {attribute("perm", order)});
}

/// Each head that is shared, as often as it is read.
std::string repeated(NodeWriter& out, const std::string& value, std::int64_t heads,
                     std::int64_t times) {
    if (times == 1) return value;
    std::vector<std::int64_t> indices;
    for (std::int64_t h = 0; h < heads; ++h)
        indices.push_back(h / times);
    return out.add("Gather", {value, out.model().integers(indices)},
                   {attribute("axis", std::int64_t{1})});
}

Parts parts_of(NodeWriter& out, std::int64_t own, std::int64_t shared) {
    if (out.has(2)) return {out.input(), out.input(1), out.input(2)};
    ModelWriter& model = out.model();
    const auto part = [&](std::int64_t begin, std::int64_t count) {
        return out.add("Slice", {out.input(), model.integers({begin}),
                                 model.integers({begin + count}), model.integers({2})});
    };
    return {part(0, own), part(own, shared), part(own + shared, shared)};
}

/// 0 where a step sees another, and far below all scores where it does not: [T, T], worked out by
/// the runtime, as a file would hold it for every layer.
std::string unseen(NodeWriter& out, std::int64_t steps) {
    ModelWriter& model = out.model();
    std::vector<std::int64_t> places(std::size_t(steps), 0);
    std::iota(places.begin(), places.end(), 0);
    const std::string keys = model.integers(places);
    const std::string queries = out.add("Reshape", {keys, model.integers({-1, 1})});
    return out.add("Where", {out.add("Greater", {keys, queries}), model.number(out.dtype(), -1e30),
                             model.number(out.dtype(), 0)});
}

}  // namespace

void write_attention(NodeWriter& out) {
    const std::int64_t heads = out.integer("heads"), shared = out.integer("key_value_heads");
    const Dims& result = out.result().dims;
    const std::int64_t width = result[2] / heads;
    const Parts parts = parts_of(out, heads * width, shared * width);
    const std::string query = by_head(out, parts.query, heads, width, {0, 2, 1, 3});
    const std::string key =
        repeated(out, by_head(out, parts.key, shared, width, {0, 2, 3, 1}), heads, heads / shared);
    const std::string value = repeated(out, by_head(out, parts.value, shared, width, {0, 2, 1, 3}),
                                       heads, heads / shared);
    std::string scores = out.add("Mul", {out.add("MatMul", {query, key}),
                                         out.model().number(out.dtype(), out.real("scale"))});
    if (flag(out.attributes(), "causal")) scores = out.add("Add", {scores, unseen(out, result[1])});
    const std::string shares = out.add("Softmax", {scores}, {attribute("axis", std::int64_t{-1})});
    const std::string joined = out.add("Transpose", {out.add("MatMul", {shares, value})},
                                       {attribute("perm", std::vector<std::int64_t>{0, 2, 1, 3})});
    out.done("Reshape", {joined, out.model().integers({0, 0, heads * width})});
}

}  // namespace dtnn::compiler::onnx
