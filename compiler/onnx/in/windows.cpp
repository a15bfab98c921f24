/// Convolutions and pools.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/saturating.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"
#include "compiler/ops/define.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

/// The fields of a sliding window: kernel, stride, padding, dilation.
struct WindowFields {
    Integers kernel{1, 1}, stride{1, 1}, dilation{1, 1};
    Integers padding{0, 0, 0, 0};  ///< top, bottom, left, right
    std::int64_t more = 0;         ///< cells of padding that ceil_mode adds
};

/// One axis of the node's window, along axis `place` of ours, 0: height, 1: width.
struct WindowAxis {
    std::int64_t kernel, stride, dilation, before, after;
};

void add_axis(const NodeReader& node, const WindowAxis& axis, std::int64_t extent,
              std::size_t place, WindowFields& w) {
    const std::string automatic = node.text("auto_pad", "NOTSET");
    const std::int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
    std::int64_t before = 0, after = 0;
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
        const std::int64_t cells = (extent + axis.stride - 1) / axis.stride;
        const std::int64_t total =
            std::max<std::int64_t>((cells - 1) * axis.stride + reach - extent, 0);
        const std::int64_t smaller = total / 2;
        const bool upper = automatic == "SAME_UPPER";
        before = upper ? smaller : total - smaller;
        after = upper ? total - smaller : smaller;
    } else if (automatic == "NOTSET") {
        before = axis.before;
        after = axis.after;
        if (std::min(before, after) < 0 || std::max(before, after) > kFar)
            throw Refused("its pads are negative, which cuts the image",
                          "cut it by a layer `slice`");
    }
    if (node.integer("ceil_mode", 0) != 0) {
        // As many more cells as the last window needs; one that begins behind the image is none.
        const std::int64_t padded = extent + before + after;
        std::int64_t count = (padded - reach + axis.stride - 1) / axis.stride + 1;
        if ((count - 1) * axis.stride >= extent + before) --count;
        const std::int64_t more =
            std::max<std::int64_t>((count - 1) * axis.stride + reach - padded, 0);
        after += more;
        w.more += more;
    }
    w.kernel[place] = axis.kernel;
    w.stride[place] = axis.stride;
    w.dilation[place] = axis.dilation;
    w.padding[2 * place] = before;
    w.padding[2 * place + 1] = after;
}

/// Of one axis or two, each along the axis of ours that it is. `kernel` where the node has none.
WindowFields window_fields(const NodeReader& node, const ImportedValue& src,
                           const Integers& kernel) {
    const std::size_t count = src.rank() - 2;
    const Integers ones(count, 1);
    const Integers kernels = node.integers("kernel_shape", kernel);
    const Integers strides = node.integers("strides", ones);
    const Integers dilations = node.integers("dilations", ones);
    const Integers pads = node.integers("pads", Integers(2 * count, 0));
    if (kernels.size() != count || strides.size() != count || dilations.size() != count ||
        pads.size() != 2 * count)
        throw Refused(fmt::format("its windows have not {} axes", count));
    for (const Integers* list : {&kernels, &strides, &dilations})
        for (const std::int64_t extent : *list)
            if (extent < 1 || extent > kFar) throw Refused("its windows have no sound extents");
    WindowFields w;
    for (std::size_t a = 0; a < count; ++a) {
        const WindowAxis axis{kernels[a], strides[a], dilations[a], pads[a], pads[count + a]};
        const int ours = src.order[2 + a];
        if (ours > 1)
            add_axis(node, axis, src.extent(2 + a), std::size_t(ours - 2), w);
        else if (axis.kernel != 1 || axis.before != 0 || axis.after != 0)
            throw Refused("its windows go along an axis that was added to a sequence",
                          "give its kernel the extent 1 there");
    }
    return w;
}

Attributes fields_of(const WindowFields& w, bool dilation = true) {
    Attributes fields{{"kernel", w.kernel}, {"stride", w.stride}, {"padding", w.padding}};
    if (dilation) fields["dilation"] = w.dilation;
    return fields;
}

/// Of [filters, channels, ...], with the axes of windows as ours.
Constant filters_of(const NodeReader& node, const ImportedValue& src) {
    Constant weights = node.weights(src.rank());
    if (src.rank() == 4 && src.order[2] > src.order[3])
        weights = node.importer().constants().transpose(weights, {0, 1, 3, 2});
    return weights;
}

Integers kernel_of(const Constant& weights) {
    return {weights.dims.begin() + 2, weights.dims.end()};
}

/// The weights and, where the node has it, the bias.
std::map<std::string, Constant> parameters_of(const NodeReader& node, Constant weights,
                                              Attributes& fields) {
    std::map<std::string, Constant> parameters{{"weights", std::move(weights)}};
    fields["bias"] = node.has(2);
    if (node.has(2)) parameters["bias"] = node.constant(2, "bias");
    return parameters;
}

/// Whether each window along the features of steps is all of them, which one filter takes.
bool takes_all_features(const NodeReader& node, const ImportedValue& src) {
    const Constant weights = node.weights(src.rank());
    const Integers kernel = node.integers("kernel_shape", kernel_of(weights));
    for (std::size_t i = 2; i < src.rank() && i - 2 < kernel.size(); ++i)
        if (src.order[i] == 1 && kernel[i - 2] != 1) return false;
    return node.integer("group", 1) == 1;
}

/// A convolution of steps with their features behind them, an image of one channel here
/// (windowed()). Behind each other they are one row of numbers, along which a filter of all the
/// features of its steps goes from step to step. Where windows have gaps, or are too long for it,
/// filters are as wide as the image. The result is an image of height 1.
void convolve_steps(const NodeReader& node, const ImportedValue& src) {
    Importer& importer = node.importer();
    const Constant given = node.weights(src.rank());
    const WindowFields w = window_fields(node, src, kernel_of(given));
    const std::int64_t steps = src.type.dims[2], features = src.type.dims[3];
    const std::int64_t filters = given.dims[0], kernel = w.kernel[0];
    if (given.elements() != saturating_product({filters, features, kernel}))
        throw Refused("its weights do not take the channels of its input");
    Constant weights = given;
    weights.dims = {filters, features, kernel};
    weights = importer.constants().transpose(weights, {0, 2, 1});
    const auto longest = std::int64_t(kLargestWindow) / features;
    const bool in_a_row = w.dilation[0] == 1 && steps <= std::int64_t(kLargestExtent) / features &&
                          std::max({kernel, w.stride[0], w.padding[0], w.padding[1]}) <= longest;
    Attributes fields{{"filters", filters}};
    ImportedValue from = src;
    if (in_a_row) {
        const int row = importer.add_layer(
            {}, "reshape", {{"shape", Integers{1, 1, steps * features}}}, {&node.activation()}, {});
        from = importer.layer(row).value;
        fields["kernel"] = Integers{1, kernel * features};
        fields["stride"] = Integers{1, w.stride[0] * features};
        fields["padding"] = Integers{0, 0, w.padding[0] * features, w.padding[1] * features};
    } else {
        fields["kernel"] = Integers{kernel, features};
        fields["stride"] = w.stride;
        fields["padding"] = w.padding;
        fields["dilation"] = w.dilation;
    }
    auto parameters = parameters_of(node, std::move(weights), fields);
    int made = importer.add_layer(node.node(), "conv2d", fields, {&from}, std::move(parameters));
    if (!in_a_row) {
        const ImportedValue column = importer.layer(made).value;
        made = importer.add_layer(
            {}, "reshape", {{"shape", Integers{filters, 1, column.type.dims[2]}}}, {&column}, {});
    }
    ImportedValue value = importer.layer(made).value;
    for (std::size_t i = 2; i < src.rank(); ++i)
        value.order[i] = src.order[i] == 2 ? 3 : 2;
    value.order.resize(src.rank());
    node.result(std::move(value));
}

/// The value that pools go over. Throws Refused where more than that is asked for.
ImportedValue pooled(const NodeReader& node) {
    for (std::size_t i = 1; i < node.node().output.size(); ++i)
        if (node.importer().readers(node.node().output[i]) > 0)
            throw Refused("the indices of its results are read", "");
    return node.windowed();
}

}  // namespace

void read_conv(const NodeReader& node) {
    ImportedValue src = node.windowed();
    if (src.order[1] != 1) {
        if (takes_all_features(node, src)) return convolve_steps(node, src);
        src = node.image();
    }
    const Constant weights = filters_of(node, src);
    Attributes fields = fields_of(window_fields(node, src, kernel_of(node.weights(src.rank()))));
    const std::int64_t groups = node.integer("group", 1), channels = src.type.dims[1];
    const std::int64_t filters = weights.dims[0];
    auto parameters = parameters_of(node, weights, fields);
    if (groups == channels && channels > 1 && filters % channels == 0) {
        fields["multiplier"] = filters / channels;
        return node.layer_like("depthwise_conv2d", fields, {&src}, std::move(parameters));
    }
    fields["filters"] = filters;
    fields["groups"] = groups;
    node.layer_like("conv2d", fields, {&src}, std::move(parameters));
}

void read_conv_transpose(const NodeReader& node) {
    const ImportedValue src = node.image();
    const Constant weights = filters_of(node, src);
    const std::string automatic = node.text("auto_pad", "NOTSET");
    if ((automatic != "NOTSET" && automatic != "VALID") || node.find("output_shape"))
        throw Refused("its padding follows from the shape of its result",
                      "export the model with explicit pads");
    Attributes fields = fields_of(window_fields(node, src, kernel_of(node.weights(src.rank()))));
    fields["groups"] = node.integer("group", 1);
    fields["filters"] = saturating_product({weights.dims[1], node.integer("group", 1)});
    Integers more{0, 0};
    const Integers given = node.integers("output_padding", Integers(src.rank() - 2, 0));
    for (std::size_t i = 0; i < given.size() && i + 2 < src.rank(); ++i)
        more[std::size_t(src.order[i + 2] - 2)] = given[i];
    fields["output_padding"] = more;
    auto parameters = parameters_of(node, weights, fields);
    node.layer_like("conv2d_transpose", fields, {&src}, std::move(parameters));
}

void read_max_pool(const NodeReader& node) {
    const ImportedValue src = pooled(node);
    node.layer_like("max_pool2d", fields_of(window_fields(node, src, {})), {&src});
}

void read_average_pool(const NodeReader& node) {
    const ImportedValue src = node.windowed();
    const WindowFields w = window_fields(node, src, {});
    Attributes fields = fields_of(w, false);
    const bool counted = node.integer("count_include_pad", 0) != 0;
    if (counted && w.more > 0)
        throw Refused("it counts padded cells, and by ceil_mode some that are beyond them",
                      "export the pool with ceil_mode false, or with count_include_pad false");
    if (w.dilation != Integers{1, 1})
        throw Refused("its windows have gaps (dilations)", "use a convolution with fixed weights");
    fields["count_include_pad"] = counted;
    node.layer_like("avg_pool2d", fields, {&src});
}

}  // namespace dtnn::compiler::onnx
