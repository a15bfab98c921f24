#include "compiler/ops/normalisation/normalisation.hpp"

#include "compiler/onnx/out/node_writer.hpp"
#include "compiler/ops/axis.hpp"

namespace dtnn::compiler::onnx {
namespace {

std::string transposed(NodeWriter& out, const std::string& value,
                       const std::vector<std::int64_t>& order) {
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i] != std::int64_t(i))
            return out.add("Transpose", {value}, {attribute("perm", order)});
    return value;
}

void along_axis(NodeWriter& out, const char* op) {
    out.done(op, {out.input()}, {attribute("axis", std::int64_t(written_axis(out.attributes())))});
}

}  // namespace

void write_softmax(NodeWriter& out) {
    along_axis(out, "Softmax");
}

void write_log_softmax(NodeWriter& out) {
    along_axis(out, "LogSoftmax");
}

/// ONNX normalises axis 1.
void write_batch_norm(NodeWriter& out) {
    const Type& type = out.type();
    const auto order = axis_second(type.dims.size(), std::size_t(feature_axis(type.axes)));
    Names operands = out.inputs();
    operands[0] = transposed(out, operands[0], order);
    const std::string result =
        out.add("BatchNormalization", operands, {attribute("epsilon", out.real("epsilon"))});
    out.done(transposed(out, result, inverse_of(order)));
}

/// ONNX normalises the last axes.
void write_layer_norm(NodeWriter& out) {
    const Type& type = out.type();
    const Dims over = layer_norm_parameter_dims(type, out.attributes());
    const std::size_t rank = type.dims.size();
    std::vector<std::int64_t> order(rank);
    for (std::size_t i = 0; i < rank; ++i)
        order[i] = std::int64_t(i);
    if (over.size() == 1) order = axis_last(rank, std::size_t(feature_axis(type.axes)));
    Names operands{transposed(out, out.input(), order)};
    if (out.has(1))
        operands.insert(operands.end(), {out.input(1), out.input(2)});
    else
        operands.push_back(out.model().numbers(
            out.dtype(), over, std::vector<double>(std::size_t(element_count(over)), 1)));
    const std::string result = out.add(
        "LayerNormalization", operands,
        {attribute("axis", -std::int64_t(over.size())), attribute("epsilon", out.real("epsilon"))});
    out.done(transposed(out, result, inverse_of(order)));
}

/// Of products and a mean: ONNX has it from operator set 23 on alone.
void write_rms_norm(NodeWriter& out) {
    const Type& type = out.type();
    const Dims over = layer_norm_parameter_dims(type, out.attributes());
    const std::size_t rank = type.dims.size();
    std::vector<std::int64_t> order(rank), axes;
    for (std::size_t i = 0; i < rank; ++i)
        order[i] = std::int64_t(i);
    if (over.size() == 1) order = axis_last(rank, std::size_t(feature_axis(type.axes)));
    for (std::size_t i = 0; i < over.size(); ++i)
        axes.push_back(std::int64_t(rank - over.size() + i));
    const std::string x = transposed(out, out.input(), order);
    const std::string squares = out.add("Mul", {x, x});
    const AttributeProto stays = attribute("keepdims", std::int64_t{1});
    const std::string mean =
        out.model().opset() < 18
            ? out.add("ReduceMean", {squares}, {attribute("axes", axes), stays})
            : out.add("ReduceMean", {squares, out.model().integers(axes)}, {stays});
    const std::string variance =
        out.add("Add", {mean, out.model().number(out.dtype(), out.real("epsilon"))});
    std::string result = out.add("Div", {x, out.add("Sqrt", {variance})});
    if (out.has(1)) result = out.add("Mul", {result, out.parameter(1, over)});
    out.done(transposed(out, result, inverse_of(order)));
}

/// A group is an instance of one channel; gamma and beta come behind it. (GroupNormalization scaled
/// groups, not channels, before operator set 21.)
void write_group_norm(NodeWriter& out) {
    const Type& type = out.type();
    const auto order = axis_second(type.dims.size(), std::size_t(feature_axis(type.axes)));
    Dims dims;
    for (const std::int64_t axis : order)
        dims.push_back(type.dims[std::size_t(axis)]);
    const std::int64_t groups = out.integer("groups");
    const std::string x = transposed(out, out.input(), order);
    const std::string grouped = out.reshape(x, {0, groups, -1});
    const auto all = [&](double value) {
        return out.model().numbers(out.dtype(), {groups},
                                   std::vector<double>(std::size_t(groups), value));
    };
    std::string result = out.add("InstanceNormalization", {grouped, all(1), all(0)},
                                 {attribute("epsilon", out.real("epsilon"))});
    result = out.reshape(result, dims);
    if (out.has(1)) {
        Dims by_channel(dims.size() - 1, 1);
        by_channel[0] = dims[1];
        result = out.add("Mul", {result, out.parameter(1, by_channel)});
        result = out.add("Add", {result, out.parameter(2, by_channel)});
    }
    out.done(transposed(out, result, inverse_of(order)));
}

/// Windows of an even size lie otherwise in ONNX, and runtimes refuse them: there the mean square
/// is that of a pool along the channels.
void write_local_response_norm(NodeWriter& out) {
    const std::int64_t size = out.integer("size");
    const double alpha = out.real("alpha"), beta = out.real("beta"), k = out.real("k");
    if (size % 2 == 1)
        return out.done("LRN", {out.input()},
                        {attribute("size", size), attribute("alpha", alpha),
                         attribute("beta", beta), attribute("bias", k)});
    const Dims& dims = out.type().dims;
    const std::string square = out.add("Mul", {out.input(), out.input()});
    const std::string rows = out.reshape(square, {0, 1, dims[1], dims[2] * dims[3]});
    const std::string mean = out.add("AveragePool", {rows},
                                     {attribute("kernel_shape", {size, 1}),
                                      attribute("pads", {size / 2, 0, size - 1 - size / 2, 0}),
                                      attribute("count_include_pad", std::int64_t{1})});
    const auto number = [&](double value) { return out.model().number(out.dtype(), value); };
    std::string base = out.add("Mul", {out.reshape(mean, dims), number(alpha)});
    base = out.add("Add", {base, number(k)});
    out.done("Div", {out.input(), out.add("Pow", {base, number(beta)})});
}

void write_dropout(NodeWriter& out) {
    out.done(out.input());
}

void write_spatial_dropout2d(NodeWriter& out) {
    out.done(out.input());
}

}  // namespace dtnn::compiler::onnx
