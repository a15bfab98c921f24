/// Convolutions and dense layers.

#include "compiler/onnx/out/node_writer.hpp"
#include "compiler/ops/shared_form.hpp"
#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler::onnx {
namespace {

/// [top, bottom, left, right] as ONNX has them: the beginnings, then the ends.
std::vector<std::int64_t> pads(const Window& w) {
    return {w.padding[0], w.padding[2], w.padding[1], w.padding[3]};
}

std::vector<AttributeProto> convolution(const NodeWriter& out, std::int64_t groups) {
    const Dims& weights = out.type(1).dims;
    const Window w = window_of(out.attributes(), {weights[2], weights[3]});
    return {attribute("kernel_shape", {weights[2], weights[3]}),
            attribute("strides", {w.stride[0], w.stride[1]}), attribute("pads", pads(w)),
            attribute("dilations", {w.dilation[0], w.dilation[1]}), attribute("group", groups)};
}

}  // namespace

void write_conv2d(NodeWriter& out) {
    out.done("Conv", out.inputs(), convolution(out, groups_of(out.attributes())));
}

void write_depthwise_conv2d(NodeWriter& out) {
    out.done("Conv", out.inputs(), convolution(out, out.type().dims[1]));
}

void write_conv2d_transpose(NodeWriter& out) {
    std::vector<AttributeProto> attributes = convolution(out, groups_of(out.attributes()));
    attributes.push_back(attribute("output_padding", out.integers("output_padding")));
    out.done("ConvTranspose", out.inputs(), std::move(attributes));
}

void write_dense(NodeWriter& out) {
    const bool transposed = flag(out.attributes(), kTransposed);
    if (out.type().dims.size() == 2)
        return out.done("Gemm", out.inputs(),
                        transposed ? std::vector{attribute("transB", std::int64_t{1})}
                                   : std::vector<AttributeProto>());
    std::string weights = out.input(1);
    if (transposed) weights = out.add("Transpose", {weights});
    const std::string product = out.add("MatMul", {out.input(), weights});
    out.done(out.has(2) ? out.add("Add", {product, out.input(2)}) : product);
}

void write_embedding(NodeWriter& out) {
    const std::string rows =
        out.add("Gather", {out.input(1), out.input()}, {attribute("axis", std::int64_t{0})});
    out.done(out.type().dims.size() < out.result().dims.size()
                 ? rows
                 : out.reshape(rows, out.result().dims));
}

void write_max_pool2d(NodeWriter& out) {
    const Window w = window_of(out.attributes(), pair_of(out.attributes(), "kernel"));
    out.done("MaxPool", {out.input()},
             {attribute("kernel_shape", {w.kernel[0], w.kernel[1]}),
              attribute("strides", {w.stride[0], w.stride[1]}), attribute("pads", pads(w)),
              attribute("dilations", {w.dilation[0], w.dilation[1]})});
}

void write_avg_pool2d(NodeWriter& out) {
    const Window w = window_of(out.attributes(), pair_of(out.attributes(), "kernel"));
    out.done("AveragePool", {out.input()},
             {attribute("kernel_shape", {w.kernel[0], w.kernel[1]}),
              attribute("strides", {w.stride[0], w.stride[1]}), attribute("pads", pads(w)),
              attribute("count_include_pad",
                        std::int64_t(flag(out.attributes(), "count_include_pad")))});
}

void write_global_avg_pool2d(NodeWriter& out) {
    out.done("GlobalAveragePool", {out.input()});
}

void write_global_max_pool2d(NodeWriter& out) {
    out.done("GlobalMaxPool", {out.input()});
}

namespace {

/// The cells that cell i of an adaptive pool is made of: from the first to the one behind the last.
std::pair<std::int64_t, std::int64_t> cells(std::int64_t i, std::int64_t from, std::int64_t to) {
    return {i * from / to, ((i + 1) * from + to - 1) / to};
}

/// [from, to]: column i has the share of every cell in mean i.
std::string shares(NodeWriter& out, std::int64_t from, std::int64_t to, bool transposed) {
    std::vector<double> values(std::size_t(from * to), 0);
    for (std::int64_t i = 0; i < to; ++i) {
        const auto [begin, end] = cells(i, from, to);
        for (std::int64_t j = begin; j < end; ++j)
            values[std::size_t(transposed ? i * from + j : j * to + i)] = 1.0 / double(end - begin);
    }
    return out.model().numbers(out.dtype(), transposed ? Dims{to, from} : Dims{from, to}, values);
}

/// The largest along an axis of images, of each of as many ranges as the result has cells.
std::string largest(NodeWriter& out, const std::string& value, std::int64_t axis) {
    const std::int64_t from = out.type().dims[std::size_t(axis)];
    const std::int64_t to = out.result().dims[std::size_t(axis)];
    Names parts;
    for (std::int64_t i = 0; i < to; ++i) {
        const auto [begin, end] = cells(i, from, to);
        const std::string range =
            out.add("Slice", {value, out.model().integers({begin}), out.model().integers({end}),
                              out.model().integers({axis})});
        // A pool of the whole axis, whatever the operator set says of reductions.
        const bool rows = axis == 2;
        const std::vector<std::int64_t> kernel{rows ? end - begin : 1, rows ? 1 : end - begin};
        parts.push_back(out.add("MaxPool", {range}, {attribute("kernel_shape", kernel)}));
    }
    return out.add("Concat", parts, {attribute("axis", axis)});
}

}  // namespace

/// Where all windows are alike, a pool; else means by two products.
void write_adaptive_avg_pool2d(NodeWriter& out) {
    if (const auto windows = even_windows(out.graph(), out.node())) {
        const Window w = window_of(*windows, pair_of(*windows, "kernel"));
        return out.done("AveragePool", {out.input()},
                        {attribute("kernel_shape", {w.kernel[0], w.kernel[1]}),
                         attribute("strides", {w.stride[0], w.stride[1]})});
    }
    const Dims &src = out.type().dims, &dst = out.result().dims;
    const std::string rows = out.add("MatMul", {shares(out, src[2], dst[2], true), out.input()});
    out.done("MatMul", {rows, shares(out, src[3], dst[3], false)});
}

void write_adaptive_max_pool2d(NodeWriter& out) {
    out.done(largest(out, largest(out, out.input(), 2), 3));
}

}  // namespace dtnn::compiler::onnx
