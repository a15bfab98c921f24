/// Convolutions, products, pools and normalisation.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/utf8.hpp"
#include "compiler/keras/call.hpp"

namespace dtnn::compiler::keras {
namespace {

/// A sliding window over one axis or two, as the layer's configuration has it.
struct SlidingWindow {
    enum class Padding { valid, same, causal };
    Integers kernel, stride, dilation;
    Padding padding = Padding::valid;

    NodeAttributes attributes() const {
        NodeAttributes made{attribute("kernel_shape", kernel), attribute("strides", stride),
                            attribute("dilations", dilation)};
        made.push_back(
            padding == Padding::causal
                ? attribute("pads", Integers{reach(0) - 1, 0})
                : attribute("auto_pad", padding == Padding::same ? "SAME_UPPER" : "VALID"));
        return made;
    }
    std::size_t axes() const { return kernel.size(); }
    std::int64_t reach(std::size_t axis) const { return dilation[axis] * (kernel[axis] - 1) + 1; }
    /// Of [1, C, H, W] or [1, C, steps], with so many channels.
    Dims result(const Dims& src, std::int64_t channels) const {
        Dims made{1, channels};
        for (std::size_t a = 0; a < axes(); ++a) {
            const std::int64_t outside = padding == Padding::valid ? reach(a) - 1 : 0;
            made.push_back((src[2 + a] - outside + stride[a] - 1) / stride[a]);
        }
        return made;
    }
};

SlidingWindow sliding_window(const Call& call, const char* kernel, const Integers& stride,
                             std::size_t axes) {
    using Padding = SlidingWindow::Padding;
    const std::string word = call.text("padding", "valid");
    const bool causal = word == "causal" && axes == 1;
    if (word != "same" && word != "valid" && !causal)
        throw Refused(fmt::format("its padding is `{}`", printable(word)),
                      "same and valid are known, and causal over one axis");
    return {call.extents(kernel, {}, axes), call.extents("strides", stride, axes),
            call.extents("dilation_rate", {1}, axes),
            causal           ? Padding::causal
            : word == "same" ? Padding::same
                             : Padding::valid};
}

/// Extents behind those of the window.
Dims behind(const SlidingWindow& window, Dims more) {
    more.insert(more.begin(), window.kernel.begin(), window.kernel.end());
    return more;
}

/// Keras' axes of weights, with the two behind the window's in that order before them.
Integers filters_first(const SlidingWindow& window, bool last_first) {
    const auto axes = std::int64_t(window.axes());
    Integers order{axes, axes + 1};
    if (last_first) std::swap(order[0], order[1]);
    for (std::int64_t a = 0; a < axes; ++a)
        order.push_back(a);
    return order;
}

/// The weights, and the bias behind them where the layer has it.
std::vector<std::string> operands(Call& call, const Value& src, std::string weights, int bias,
                                  std::int64_t filters) {
    std::vector<std::string> made{src.name, std::move(weights)};
    if (call.flag("use_bias", true)) made.push_back(call.weights(bias, "bias", {filters}));
    return made;
}

std::int64_t groups_of_channels(const Call& call, std::int64_t channels) {
    const std::int64_t groups = call.integer("groups", 1);
    if (groups < 1 || channels % groups != 0)
        throw Refused(fmt::format("its {} groups do not divide {} channels", groups, channels),
                      "save the model again with Keras 3");
    return groups;
}

/// [window, channels, multiplier] as filters of one channel each.
Value depthwise(Call& call, const Value& src, const SlidingWindow& window, const std::string& role,
                bool bias) {
    const std::int64_t channels = src.dims[1], multiplier = call.integer("depth_multiplier", 1);
    const std::int64_t filters = channels * multiplier;
    Dims shape{filters, 1};
    shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
    const std::string weights = call.weights(0, role, behind(window, {channels, multiplier}),
                                             filters_first(window, false), std::move(shape));
    NodeAttributes attributes = window.attributes();
    attributes.push_back(attribute("group", channels));
    return call.node(
        "Conv", bias ? operands(call, src, weights, 1, filters) : std::vector{src.name, weights},
        std::move(attributes), window.result(src.dims, filters), src.turned);
}

Value convolution(Call& call, std::size_t axes) {
    const Value src = call.windowed(axes);
    const SlidingWindow window = sliding_window(call, "kernel_size", {1}, axes);
    const std::int64_t filters = call.integer("filters", 0);
    const std::int64_t groups = groups_of_channels(call, src.dims[1]);
    const std::string weights = call.weights(
        0, "kernel", behind(window, {src.dims[1] / groups, filters}), filters_first(window, true));
    NodeAttributes attributes = window.attributes();
    attributes.push_back(attribute("group", groups));
    return call.activated(call.as_given(call.node("Conv", operands(call, src, weights, 1, filters),
                                                  std::move(attributes),
                                                  window.result(src.dims, filters), src.turned)));
}

Value depthwise_convolution(Call& call, std::size_t axes) {
    const Value src = call.windowed(axes);
    return call.activated(call.as_given(
        depthwise(call, src, sliding_window(call, "kernel_size", {1}, axes), "kernel", true)));
}

Value separable_convolution(Call& call, std::size_t axes) {
    const Value src = call.windowed(axes);
    Call first = call.named("/depthwise"), second = call.named("/pointwise");
    const SlidingWindow window = sliding_window(call, "kernel_size", {1}, axes);
    const Value each = depthwise(first, src, window, "kernel", false);
    const SlidingWindow one{Integers(axes, 1), Integers(axes, 1), Integers(axes, 1)};
    const std::int64_t filters = call.integer("filters", 0);
    const std::string weights =
        second.weights(1, "kernel", behind(one, {each.dims[1], filters}), filters_first(one, true));
    return call.activated(call.as_given(second.node(
        "Conv", operands(second, each, weights, 2, filters),
        {attribute("kernel_shape", one.kernel)}, one.result(each.dims, filters), each.turned)));
}

}  // namespace

Value read_conv1d(Call& call) {
    return convolution(call, 1);
}

Value read_conv2d(Call& call) {
    return convolution(call, 2);
}

Value read_depthwise_conv1d(Call& call) {
    return depthwise_convolution(call, 1);
}

Value read_depthwise_conv2d(Call& call) {
    return depthwise_convolution(call, 2);
}

Value read_separable_conv1d(Call& call) {
    return separable_convolution(call, 1);
}

Value read_separable_conv2d(Call& call) {
    return separable_convolution(call, 2);
}

Value read_conv2d_transpose(Call& call) {
    const Value src = call.image();
    const SlidingWindow window = sliding_window(call, "kernel_size", {1}, 2);
    if (call.find("output_padding"))
        throw Refused("its result has cells of its own (output_padding)",
                      "leave output_padding out, and crop or pad the result");
    const std::int64_t filters = call.integer("filters", 0);
    const std::string weights = call.weights(
        0, "kernel", {window.kernel[0], window.kernel[1], filters, src.dims[1]}, {3, 2, 0, 1});
    // `same` gives stride times the cells: what a window has more is cut off on both sides.
    Integers pads(4, 0), more(2, 0);
    Dims dims{1, filters};
    for (std::size_t a = 0; a < 2; ++a) {
        const std::int64_t over = window.reach(a) - window.stride[a];
        if (over < 0) more[a] = -over;
        if (over > 0 && window.padding == SlidingWindow::Padding::same) {
            pads[a] = over / 2;
            pads[a + 2] = over - over / 2;
        }
        dims.push_back((src.dims[2 + a] - 1) * window.stride[a] + window.reach(a) + more[a] -
                       pads[a] - pads[a + 2]);
    }
    return call.activated(
        call.node("ConvTranspose", operands(call, src, weights, 1, filters),
                  {attribute("kernel_shape", window.kernel), attribute("strides", window.stride),
                   attribute("dilations", window.dilation), attribute("pads", pads),
                   attribute("output_padding", more)},
                  std::move(dims), src.turned));
}

Value read_dense(Call& call) {
    const Value src = call.laid(call.input(), false);
    const std::int64_t units = call.integer("units", 0);
    const std::string weights = call.weights(0, "kernel", {src.dims.back(), units});
    Dims dims = src.dims;
    dims.back() = units;
    if (src.rank() == 2)
        return call.activated(
            call.node("Gemm", operands(call, src, weights, 1, units), {}, std::move(dims), false));
    // Of each step, or of each pixel.
    Value made = call.node("MatMul", {src.name, weights}, {}, std::move(dims), false);
    if (call.flag("use_bias", true))
        made = call.like("Add", made, {}, {call.weights(1, "bias", {units})});
    return call.activated(call.laid(made, call.input().turned));
}

// ---- Pools

namespace {

Value sliding_pool(Call& call, const char* op, std::size_t axes) {
    const Value src = call.windowed(axes);
    const SlidingWindow window =
        sliding_window(call, "pool_size", call.extents("pool_size", {2}, axes), axes);
    return call.as_given(call.node(op, {src.name}, window.attributes(),
                                   window.result(src.dims, src.dims[1]), src.turned));
}

Value pool_of_image(Call& call, const char* op) {
    const Value src = call.image();
    Value made = call.node(op, {src.name}, {}, {1, src.dims[1], 1, 1}, src.turned);
    if (call.flag("keepdims", false)) return made;
    return call.named("_flatten")
        .node("Flatten", {made.name}, {attribute("axis", std::int64_t{1})}, {1, src.dims[1]},
              false);
}

Value over_steps(Call& call, const char* op) {
    const Value& src = call.input();
    if (src.rank() != 3 || call.flag("keepdims", false))
        throw Refused("its input is no sequence, or its result stays one (keepdims)",
                      "[batch, steps, features] can be, without keepdims");
    const std::int64_t steps = call.has_last_channels() ? 1 : 2;
    return call.node(op, {src.name, call.integers({steps})},
                     {attribute("keepdims", std::int64_t{0})},
                     {1, src.dims[std::size_t(3 - steps)]}, false);
}

}  // namespace

Value read_max_pooling1d(Call& call) {
    return sliding_pool(call, "MaxPool", 1);
}

Value read_max_pooling2d(Call& call) {
    return sliding_pool(call, "MaxPool", 2);
}

// Cells beyond the values do not count, in Keras and in ONNX.
Value read_average_pooling1d(Call& call) {
    return sliding_pool(call, "AveragePool", 1);
}

Value read_average_pooling2d(Call& call) {
    return sliding_pool(call, "AveragePool", 2);
}

Value read_global_max_pooling2d(Call& call) {
    return pool_of_image(call, "GlobalMaxPool");
}

Value read_global_average_pooling2d(Call& call) {
    return pool_of_image(call, "GlobalAveragePool");
}

Value read_global_average_pooling1d(Call& call) {
    return over_steps(call, "ReduceMean");
}

Value read_global_max_pooling1d(Call& call) {
    return over_steps(call, "ReduceMax");
}

// ---- Normalisation

namespace {

/// Factors and offsets as the layer has them, of these extents in Keras, which the graph has in
/// `order`: `scale`, `center`. `next` counts the layer's arrays.
std::vector<std::string> factors(Call& call, const Dims& dims, const Integers& order, int& next) {
    if (element_count(dims) > onnx::kMostFolded)
        throw Refused(fmt::format("it normalises [{}] numbers", fmt::join(dims, ", ")),
                      "no network has as many");
    const auto one = [&](const char* field, const char* role, double absent) {
        if (call.flag(field, true)) return call.weights(next++, role, dims, order);
        return call.numbers(dims, std::vector<double>(std::size_t(element_count(dims)), absent));
    };
    std::string gamma = one("scale", "gamma", 1), beta = one("center", "beta", 0);
    return {std::move(gamma), std::move(beta)};
}

/// The input with the axis of the features second, as ONNX normalises them.
Value features_second(Call& call, std::int64_t keras_axis) {
    const Value& src = call.input();
    const std::size_t axis = src.axis(keras_axis);
    if (axis == 1) return src;
    if (src.is_image() && axis == (src.turned ? 2U : 3U)) return call.laid(src, !src.turned);
    if (src.rank() == 3) return call.transposed(src, {0, 2, 1});
    throw Refused(fmt::format("its axis {} is height or width", keras_axis),
                  "channels and features are normalised");
}

std::int64_t only_axis(const Call& call) {
    const Integers axes = call.integers("axis", {-1});
    if (axes.size() != 1)
        throw Refused("it normalises over several axes", "one axis can be, that of the channels");
    return axes[0];
}

}  // namespace

Value read_batch_normalization(Call& call) {
    const std::int64_t axis = only_axis(call);
    const Value src = features_second(call, axis);
    const Dims dims{src.dims[1]};
    int next = 0;
    std::vector<std::string> inputs{src.name};
    for (std::string& name : factors(call, dims, {}, next))
        inputs.push_back(std::move(name));
    inputs.push_back(call.weights(next, "moving_mean", dims));
    inputs.push_back(call.weights(next + 1, "moving_variance", dims));
    Value made = call.node("BatchNormalization", inputs,
                           {attribute("epsilon", call.real("epsilon", 1e-3)),
                            attribute("momentum", call.real("momentum", 0.99))},
                           src.dims, src.turned);
    if (src.rank() == 3 && call.input().axis(axis) == 2) return call.transposed(made, {0, 2, 1});
    return made;
}

Value read_layer_normalization(Call& call) {
    if (call.flag("rms_scaling", false))
        throw Refused("it scales without a mean (rms_scaling)",
                      "leave rms_scaling out, or write the norm as a formula in the spec");
    const Value& given = call.input();
    const auto rank = std::int64_t(given.rank());
    Integers axes = call.integers("axis", {-1});
    for (std::int64_t& axis : axes)
        if (axis < 0) axis += rank;
    std::sort(axes.begin(), axes.end());
    Integers sample(std::size_t(rank - 1));
    std::iota(sample.begin(), sample.end(), 1);
    const bool features = axes == Integers{rank - 1};
    if (!features && axes != sample)
        throw Refused(fmt::format("it normalises the axes [{}] of {}", fmt::join(axes, ", "), rank),
                      "the last axis, or all behind the batch, can be");
    // Of single pixels along the channels as Keras has them; whole images as they lie.
    const Value src = features ? call.laid(given, false) : given;
    const Dims keras = given.keras_dims();
    int next = 0;
    std::vector<std::string> inputs{src.name};
    for (std::string& name :
         factors(call, features ? Dims{keras.back()} : Dims(keras.begin() + 1, keras.end()),
                 !features && src.turned ? Integers{2, 0, 1} : Integers{}, next))
        inputs.push_back(std::move(name));
    const Value made = call.node("LayerNormalization", inputs,
                                 {attribute("epsilon", call.real("epsilon", 1e-3)),
                                  attribute("axis", features ? rank - 1 : std::int64_t{1})},
                                 src.dims, src.turned);
    return call.laid(made, given.turned);
}

Value read_group_normalization(Call& call) {
    const Value src = features_second(call, only_axis(call));
    if (!src.is_image())
        throw Refused("its input is no image", "groups of the channels of images can be");
    const std::int64_t groups = call.integer("groups", 32);
    int next = 0;
    std::vector<std::string> inputs{src.name};
    for (std::string& name : factors(call, {src.dims[1]}, {}, next))
        inputs.push_back(std::move(name));
    return call.node("GroupNormalization", inputs,
                     {attribute("epsilon", call.real("epsilon", 1e-3)),
                      attribute("num_groups", groups == -1 ? src.dims[1] : groups)},
                     src.dims, src.turned);
}

}  // namespace dtnn::compiler::keras
