/// Windows over the steps of sequences, which ONNX has behind the channels, and products of two
/// sequences.

#include "compiler/onnx/out/node_writer.hpp"
#include "compiler/ops/sequence/step_window.hpp"

namespace dtnn::compiler::onnx {
namespace {

/// [N, features, steps] of [N, steps, features], and back.
std::string steps_turned(NodeWriter& out, const std::string& value) {
    return out.add("Transpose", {value}, {attribute("perm", {0, 2, 1})});
}

/// A list, also of one number.
AttributeProto list(const char* name, const std::vector<std::int64_t>& numbers) {
    return attribute(name, numbers);
}

std::vector<AttributeProto> step_window(const Window& w) {
    return {list("kernel_shape", {w.kernel[1]}), list("strides", {w.stride[1]}),
            list("pads", {w.padding[2], w.padding[3]})};
}

AttributeProto step_dilation(const Window& w) {
    return list("dilations", {w.dilation[1]});
}

void convolve_along_steps(NodeWriter& out, std::int64_t groups) {
    const Window w = step_window_of(out.attributes(), out.type(1).dims[3]);
    std::vector<AttributeProto> attributes = step_window(w);
    attributes.push_back(step_dilation(w));
    attributes.push_back(attribute("group", groups));
    Names inputs = out.inputs();
    inputs[0] = steps_turned(out, inputs[0]);
    out.done(steps_turned(out, out.add("Conv", std::move(inputs), std::move(attributes))));
}

void pool_along_steps(NodeWriter& out, const char* op, AttributeProto more) {
    const Window w = step_window_of(out.attributes(), step_kernel_of(out.attributes(), 1));
    std::vector<AttributeProto> attributes = step_window(w);
    attributes.push_back(std::move(more));
    out.done(
        steps_turned(out, out.add(op, {steps_turned(out, out.input())}, std::move(attributes))));
}

}  // namespace

void write_conv1d(NodeWriter& out) {
    convolve_along_steps(out, groups_of(out.attributes()));
}

void write_depthwise_conv1d(NodeWriter& out) {
    convolve_along_steps(out, out.type().dims[2]);
}

void write_max_pool1d(NodeWriter& out) {
    pool_along_steps(
        out, "MaxPool",
        step_dilation(step_window_of(out.attributes(), step_kernel_of(out.attributes(), 1))));
}

void write_avg_pool1d(NodeWriter& out) {
    pool_along_steps(
        out, "AveragePool",
        attribute("count_include_pad", std::int64_t(flag(out.attributes(), "count_include_pad"))));
}

void write_global_max_pool1d(NodeWriter& out) {
    const AttributeProto gone = attribute("keepdims", std::int64_t{0});
    if (out.model().opset() < 18)
        out.done("ReduceMax", {out.input()}, {list("axes", {1}), gone});
    else
        out.done("ReduceMax", {out.input(), out.model().integers({1})}, {gone});
}

void write_matmul(NodeWriter& out) {
    const auto factor = [&](std::size_t i, const char* transposed) {
        return flag(out.attributes(), transposed) ? steps_turned(out, out.input(i)) : out.input(i);
    };
    const std::string first = factor(0, "transpose_first");
    const std::string product = out.add("MatMul", {first, factor(1, "transpose_second")});
    const double scale = out.real("scale");
    out.done(scale == 1 ? product
                        : out.add("Mul", {product, out.model().number(out.dtype(), scale)}));
}

}  // namespace dtnn::compiler::onnx
