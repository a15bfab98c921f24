/// Convolutions, products, pools and normalisation.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

/// The fields of a sliding window: kernel, stride, padding, dilation.
struct WindowFields {
    Integers kernel, stride, dilation;
    Integers padding{0, 0, 0, 0};  ///< top, bottom, left, right
    std::int64_t more = 0;         ///< cells of padding that ceil_mode adds
};

WindowFields window_fields(const NodeReader& node, const Type& src, const Integers& kernel) {
    WindowFields w;
    w.kernel = node.integers("kernel_shape", kernel);
    w.stride = node.integers("strides", {1, 1});
    w.dilation = node.integers("dilations", {1, 1});
    const Integers pads = node.integers("pads", {0, 0, 0, 0});
    const std::string automatic = node.text("auto_pad", "NOTSET");
    if (w.kernel.size() != 2 || w.stride.size() != 2 || w.dilation.size() != 2 || pads.size() != 4)
        throw Refused("its windows have not two axes");
    for (const Integers* list : {&w.kernel, &w.stride, &w.dilation})
        for (const std::int64_t extent : *list)
            if (extent < 1 || extent > kFar) throw Refused("its windows have no sound extents");
    for (std::size_t a = 0; a < 2; ++a) {
        const std::int64_t extent = src.dims[2 + a], reach = w.dilation[a] * (w.kernel[a] - 1) + 1;
        if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
            const std::int64_t cells = (extent + w.stride[a] - 1) / w.stride[a];
            const std::int64_t total =
                std::max<std::int64_t>((cells - 1) * w.stride[a] + reach - extent, 0);
            const std::int64_t smaller = total / 2;
            const bool upper = automatic == "SAME_UPPER";
            w.padding[2 * a] = upper ? smaller : total - smaller;
            w.padding[2 * a + 1] = upper ? total - smaller : smaller;
        } else if (automatic == "NOTSET") {
            w.padding[2 * a] = pads[a];
            w.padding[2 * a + 1] = pads[2 + a];
            if (std::min(pads[a], pads[2 + a]) < 0 || std::max(pads[a], pads[2 + a]) > kFar)
                throw Refused("its pads are negative, which cuts the image",
                              "cut it by a layer `slice`");
        }
        if (node.integer("ceil_mode", 0) == 0) continue;
        // As many more cells as the last window needs; one that begins behind the image is none.
        const std::int64_t padded = extent + w.padding[2 * a] + w.padding[2 * a + 1];
        std::int64_t count = (padded - reach + w.stride[a] - 1) / w.stride[a] + 1;
        if ((count - 1) * w.stride[a] >= extent + w.padding[2 * a]) --count;
        const std::int64_t more =
            std::max<std::int64_t>((count - 1) * w.stride[a] + reach - padded, 0);
        w.padding[2 * a + 1] += more;
        w.more += more;
    }
    return w;
}

Attributes fields_of(const WindowFields& w, bool dilation = true) {
    Attributes fields{{"kernel", w.kernel}, {"stride", w.stride}, {"padding", w.padding}};
    if (dilation) fields["dilation"] = w.dilation;
    return fields;
}

Constant weights_of(const NodeReader& node, std::size_t rank) {
    const Constant& weights = node.constant(1, "second operand, the weights,");
    if (weights.dims.size() != rank)
        throw Refused(
            fmt::format("its weights have {} axes instead of {}", weights.dims.size(), rank));
    return weights;
}

/// The weights and, where the node has it, the bias.
std::map<std::string, Constant> parameters_of(const NodeReader& node, Constant weights,
                                              Attributes& fields) {
    std::map<std::string, Constant> parameters{{"weights", std::move(weights)}};
    fields["bias"] = node.has(2);
    if (node.has(2)) parameters["bias"] = node.constant(2, "bias");
    return parameters;
}

}  // namespace

void read_conv(const NodeReader& node) {
    const ImportedValue& src = node.image();
    const Constant weights = weights_of(node, 4);
    Attributes fields =
        fields_of(window_fields(node, src.type, {weights.dims[2], weights.dims[3]}));
    const std::int64_t groups = node.integer("group", 1), channels = src.type.dims[1];
    const std::int64_t filters = weights.dims[0];
    auto parameters = parameters_of(node, weights, fields);
    if (groups == channels && channels > 1 && filters % channels == 0) {
        fields["multiplier"] = filters / channels;
        return node.layer("depthwise_conv2d", fields, {&src}, std::move(parameters));
    }
    fields["filters"] = filters;
    fields["groups"] = groups;
    node.layer("conv2d", fields, {&src}, std::move(parameters));
}

void read_conv_transpose(const NodeReader& node) {
    const ImportedValue& src = node.image();
    const Constant weights = weights_of(node, 4);
    const std::string automatic = node.text("auto_pad", "NOTSET");
    if ((automatic != "NOTSET" && automatic != "VALID") || node.find("output_shape"))
        throw Refused("its padding follows from the shape of its result",
                      "export the model with explicit pads");
    Attributes fields =
        fields_of(window_fields(node, src.type, {weights.dims[2], weights.dims[3]}));
    fields["groups"] = node.integer("group", 1);
    fields["filters"] = weights.dims[1] * node.integer("group", 1);
    fields["output_padding"] = node.integers("output_padding", {0, 0});
    auto parameters = parameters_of(node, weights, fields);
    node.layer("conv2d_transpose", fields, {&src}, std::move(parameters));
}

namespace {

/// [K, units] in our order of the row.
Constant dense_weights(const NodeReader& node, Constant weights, const ImportedValue& src) {
    if (weights.dims[0] != src.extent(src.rank() - 1))
        throw Refused(fmt::format("its weights take rows of {} numbers, and its input has {}",
                                  weights.dims[0], src.extent(src.rank() - 1)));
    if (src.rows.empty()) return weights;
    const Numbers theirs = numbers_of(weights);
    Numbers ours(theirs.size());
    const auto units = std::size_t(weights.dims[1]);
    for (std::size_t i = 0; i < src.rows.size(); ++i)
        std::copy_n(theirs.begin() + std::ptrdiff_t(std::size_t(src.rows[i]) * units), units,
                    ours.begin() + std::ptrdiff_t(i * units));
    return node.importer().constants().make(weights.dims, true, ours);
}

void dense(const NodeReader& node, const ImportedValue& src, Constant weights,
           std::optional<Constant> bias) {
    if (!src.view.empty()) {
        // Of rows that are all steps or pixels, whose last axis is ours.
        const std::size_t last = is_image(src.type) ? 1 : src.type.dims.size() - 1;
        const Piece whole{int(last), 1, src.type.dims[last]};
        if (src.view.back() != std::vector<Piece>{whole})
            throw Refused("its input has channels or features that have been taken apart", "");
        ImportedValue value = src;
        value.view.clear();
        value.order = is_image(src.type) ? Order{0, 2, 3, 1} : Order(src.type.dims.size());
        if (!is_image(src.type)) std::iota(value.order.begin(), value.order.end(), 0);
        dense(node, value, std::move(weights), std::move(bias));
        ImportedValue made = *node.importer().find(node.node().output[0]);
        made.view = src.view;
        made.view.back().clear();
        if (const std::int64_t units = made.type.dims[last]; units > 1)
            made.view.back() = {{int(last), 1, units}};
        return node.result(std::move(made));
    }
    // Of images whose channels come last it is a convolution of single pixels.
    if (is_image(src.type) && src.order == Order{0, 2, 3, 1}) {
        if (weights.dims[0] != src.type.dims[1])
            throw Refused("its weights do not take the channels of its input");
        const std::int64_t units = weights.dims[1];
        std::map<std::string, Constant> parameters{
            {"weights", node.importer().constants().transpose(weights, {1, 0})}};
        parameters.at("weights").dims = {units, weights.dims[0], 1, 1};
        const bool has_bias = bias.has_value();
        if (has_bias) parameters["bias"] = std::move(*bias);
        const int made = node.importer().add_layer(
            node.node(), "conv2d",
            {{"filters", units}, {"kernel", Integers{1, 1}}, {"bias", has_bias}}, {&src},
            std::move(parameters));
        node.importer().layer(made).value.order = {0, 2, 3, 1};
        return node.result(node.importer().layer(made).value);
    }
    ImportedValue plain = src;
    plain.rows.clear();
    if (!plain.is_plain() || src.type.axes.back() != AxisKind::feature)
        throw Refused("its input is no row of numbers, and no sequence of rows",
                      "put a Flatten before it");
    const std::int64_t units = weights.dims[1];
    std::map<std::string, Constant> parameters{
        {"weights", dense_weights(node, std::move(weights), src)}};
    if (bias) parameters["bias"] = std::move(*bias);
    node.layer("dense", {{"units", units}, {"bias", bias.has_value()}}, {&plain},
               std::move(parameters));
}

}  // namespace

void read_gemm(const NodeReader& node) {
    Constants& constants = node.importer().constants();
    if (node.integer("transA", 0) != 0)
        throw Refused("it transposes the network's values", "export the model without transA");
    Constant weights = weights_of(node, 2);
    if (node.integer("transB", 0) != 0) weights = constants.transpose(weights, {1, 0});
    const auto scaled = [&](const Constant& constant, double factor) {
        if (factor == 1) return constant;
        Numbers numbers = numbers_of(constant);
        for (double& number : numbers)
            number *= factor;
        return constants.make(constant.dims, true, numbers);
    };
    std::optional<Constant> bias;
    if (node.has(2)) {
        bias = scaled(node.constant(2, "bias"), node.real("beta", 1));
        const std::int64_t units = weights.dims[1];
        if (bias->elements() == 1 && units > 1)
            bias = constants.make({units}, true, Numbers(std::size_t(units), bias->at(0)));
    }
    dense(node, node.viewed(), scaled(weights, node.real("alpha", 1)), std::move(bias));
}

void read_mat_mul(const NodeReader& node) {
    if (!node.input(1).is_constant())
        throw Refused("it multiplies two values that the network works out, as attention does",
                      "attention is not there; products with weights are");
    dense(node, node.viewed(), weights_of(node, 2), std::nullopt);
}

namespace {

const ImportedValue& pooled(const NodeReader& node) {
    for (std::size_t i = 1; i < node.node().output.size(); ++i)
        if (node.importer().readers(node.node().output[i]) > 0)
            throw Refused("the indices of its results are read", "");
    return node.image();
}

}  // namespace

void read_max_pool(const NodeReader& node) {
    const ImportedValue& src = pooled(node);
    node.layer("max_pool2d", fields_of(window_fields(node, src.type, {})), {&src});
}

void read_average_pool(const NodeReader& node) {
    const ImportedValue& src = node.image();
    const WindowFields w = window_fields(node, src.type, {});
    Attributes fields = fields_of(w, false);
    const bool counted = node.integer("count_include_pad", 0) != 0;
    if (counted && w.more > 0)
        throw Refused("it counts padded cells, and by ceil_mode some that are beyond them",
                      "export the pool with ceil_mode false, or with count_include_pad false");
    if (w.dilation != Integers{1, 1})
        throw Refused("its windows have gaps (dilations)", "use a convolution with fixed weights");
    fields["count_include_pad"] = counted;
    node.layer("avg_pool2d", fields, {&src});
}

void read_global_average_pool(const NodeReader& node) {
    if (node.activation().rank() == 3) return begin_normalisation(node, {2});
    node.layer("global_avg_pool2d", {}, {&node.image()});
}

void read_global_max_pool(const NodeReader& node) {
    node.layer("global_max_pool2d", {}, {&node.image()});
}

// ---- Normalisation

namespace {

/// The file's axis 1 holds our channels or features.
const ImportedValue& by_channel(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    const auto& axes = src.type.axes;
    const std::size_t channels =
        std::size_t(std::find(axes.begin(), axes.end(), AxisKind::channel) - axes.begin());
    const std::size_t ours = channels < axes.size() ? channels : axes.size() - 1;
    if (src.rank() < 2 || std::size_t(src.order[1]) != ours || !src.rows.empty())
        throw Refused("its channels are not those of the value here",
                      "export the model with channels first");
    return src;
}

void normalised(const NodeReader& node, const char* type, Attributes fields,
                const ImportedValue& src, std::map<std::string, Constant> parameters) {
    Order order = src.order;
    const int made = node.importer().add_layer(node.node(), type, std::move(fields), {&src},
                                               std::move(parameters));
    node.importer().layer(made).value.order = std::move(order);
    node.result(node.importer().layer(made).value);
}

}  // namespace

void read_batch_normalization(const NodeReader& node) {
    const ImportedValue& src = by_channel(node);
    if (node.integer("training_mode", 0) != 0)
        throw Refused("it normalises by its batch (training_mode)",
                      "export the model in the form of inference (model.eval())");
    if (node.opset() < 9 && node.integer("spatial", 1) == 0)
        throw Refused("it has statistics for every pixel (spatial 0)", "");
    normalised(node, "batch_norm",
               {{"momentum", node.real("momentum", 0.9)}, {"epsilon", node.real("epsilon", 1e-5)}},
               src,
               {{"gamma", node.constant(1, "scale")},
                {"beta", node.constant(2, "offset")},
                {"running_mean", node.constant(3, "mean")},
                {"running_variance", node.constant(4, "variance")}});
}

void read_layer_normalization(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    const auto rank = std::int64_t(src.rank());
    std::int64_t axis = node.integer("axis", -1);
    if (axis < 0) axis += rank;
    Attributes fields{{"epsilon", node.real("epsilon", 1e-5)}};
    const bool image = is_image(src.type);
    if (image && axis == 3 && src.order == Order{0, 2, 3, 1})
        fields["axis"] = std::string("channels");
    else if (!src.is_plain() || axis != (image ? 1 : rank - 1))
        throw Refused(fmt::format("it normalises the axes from {} of [{}], which no layer_norm "
                                  "does",
                                  axis, fmt::join(src.dims(), ", ")),
                      "whole samples, the features of a step and the channels of a pixel are "
                      "normalised");
    const Constant& gamma = node.constant(1, "scale");
    const Constant beta = node.has(2)
                              ? node.constant(2, "offset")
                              : node.importer().constants().make(
                                    gamma.dims, true, Numbers(std::size_t(gamma.elements()), 0));
    normalised(node, "layer_norm", fields, src, {{"gamma", gamma}, {"beta", beta}});
}

namespace {

/// A group for each step of a sequence that is an image under another shape, as PyTorch writes
/// group norm: their scale and offset are 1 and 0, and those of channels follow.
bool read_groups(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    if (src.source < 0 || !src.is_plain() || src.rank() != 3) return false;
    const ImportedLayer& reshape = node.importer().layer(src.source);
    if (reshape.type != "reshape" || reshape.sources[0] < 0) return false;
    const ImportedValue image = node.importer().layer(reshape.sources[0]).value;
    const std::int64_t groups = src.extent(1), channels = image.type.dims[1];
    if (!is_image(image.type) || channels % groups != 0) return false;
    const auto each = [&](std::size_t i, const char* what) {
        Numbers numbers;
        for (std::int64_t c = 0; c < channels; ++c)
            numbers.push_back(node.constant(i, what).at(c / (channels / groups)));
        return node.importer().constants().make({channels}, true, numbers);
    };
    const int made = node.importer().add_layer(
        node.node(), "group_norm", {{"groups", groups}, {"epsilon", node.real("epsilon", 1e-5)}},
        {&image}, {{"gamma", each(1, "scale")}, {"beta", each(2, "offset")}});
    ImportedValue value = node.importer().layer(made).value;
    const Dims& dims = image.type.dims;
    value.view = {{{0, 1, 1}},
                  {{1, channels / groups, groups}},
                  {{1, 1, channels / groups}, {2, 1, dims[2]}, {3, 1, dims[3]}}};
    node.result(std::move(value));
    return true;
}

}  // namespace

void read_instance_normalization(const NodeReader& node) {
    if (read_groups(node)) return;
    const ImportedValue& src = by_channel(node);
    normalised(node, "group_norm",
               {{"groups", src.extent(1)}, {"epsilon", node.real("epsilon", 1e-5)}}, src,
               {{"gamma", node.constant(1, "scale")}, {"beta", node.constant(2, "offset")}});
}

void read_group_normalization(const NodeReader& node) {
    const ImportedValue& src = by_channel(node);
    const std::int64_t groups = node.integer("num_groups", 1), channels = src.extent(1);
    const auto each = [&](std::size_t i, const char* what) {
        const Constant& given = node.constant(i, what);
        if (given.elements() == channels || groups < 1 || given.elements() != groups) return given;
        Numbers numbers;  // before operator set 21 a number for each group
        for (std::int64_t c = 0; c < channels; ++c)
            numbers.push_back(given.at(c / std::max<std::int64_t>(channels / groups, 1)));
        return node.importer().constants().make({channels}, true, numbers);
    };
    normalised(node, "group_norm", {{"groups", groups}, {"epsilon", node.real("epsilon", 1e-5)}},
               src, {{"gamma", each(1, "scale")}, {"beta", each(2, "offset")}});
}

void read_lrn(const NodeReader& node) {
    const std::int64_t size = node.integer("size", 1);
    if (size % 2 == 0)
        throw Refused(fmt::format("its window of {} channels lies otherwise than here", size),
                      "use an odd size");
    node.layer("local_response_norm",
               {{"size", size},
                {"alpha", node.real("alpha", 1e-4)},
                {"beta", node.real("beta", 0.75)},
                {"k", node.real("bias", 1)}},
               {&node.image()});
}

namespace {

void along_axis(const NodeReader& node, const char* type) {
    const ImportedValue& src = node.activation();
    const auto rank = std::int64_t(src.rank());
    std::int64_t axis = node.integer("axis", node.opset() < 13 ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 1 || axis >= rank) throw Refused("it goes along the batch");
    // Before operator set 13 the axes from this one on were one.
    if (node.opset() < 13)
        for (std::int64_t i = axis + 1; i < rank; ++i)
            if (src.extent(std::size_t(i)) != 1)
                throw Refused("it goes along several axes at once", "export opset 13 or later");
    const AxisKind kind = src.type.axes[std::size_t(src.order[std::size_t(axis)])];
    if (kind == AxisKind::space)
        throw Refused("it goes along height or width", "channels, features and steps can be");
    Attributes fields;
    if (kind == AxisKind::step) fields["axis"] = std::string("steps");
    node.layer_like(type, fields, {&src});
}

}  // namespace

void read_softmax(const NodeReader& node) {
    along_axis(node, "softmax");
}

void read_log_softmax(const NodeReader& node) {
    along_axis(node, "log_softmax");
}

void read_dropout(const NodeReader& node) {
    for (std::size_t i = 1; i < node.node().output.size(); ++i)
        if (node.importer().readers(node.node().output[i]) > 0)
            throw Refused("its mask is read", "");
    if (node.has(2) && node.constant(2, "training_mode").at(0) != 0)
        throw Refused("it draws numbers (training_mode)",
                      "export the model in the form of inference (model.eval())");
    double rate = node.real("ratio", 0.5);
    if (node.opset() >= 12 && node.has(1)) rate = node.constant(1, "rate").at(0);
    node.layer_like("dropout", {{"rate", std::stod(fmt::format("{}", float(rate)))}},
                    {&node.activation()});
}

// ---- Means and maxima over axes

namespace {

/// The whole image, one axis of a sequence, or a refusal.
void reduce(const NodeReader& node, std::int64_t since, const char* pool, const char* along) {
    const ImportedValue& src = node.viewed();
    const auto rank = std::int64_t(src.rank());
    const auto given = node.axes(1, since);
    std::set<int> axes;
    for (std::int64_t axis : given.value_or(Integers{}))
        if (src.view.empty() && axis >= -rank && axis < rank)
            axes.insert(src.order[std::size_t(axis < 0 ? axis + rank : axis)]);
    const bool keeps = node.integer("keepdims", 1) != 0;
    if (is_image(src.type) && src.rows.empty() && axes == std::set<int>{2, 3}) {
        const int made = node.importer().add_layer(node.node(), pool, {}, {&src}, {});
        ImportedValue value = node.importer().layer(made).value;
        if (keeps) {
            value.order = src.order;
            return node.result(value);
        }
        return node.layer("flatten", {}, {&value});
    }
    if (along && !keeps && axes.size() == 1 && *axes.begin() > 0 && src.is_plain() &&
        !is_image(src.type)) {
        const AxisKind kind = src.type.axes[std::size_t(*axes.begin())];
        return node.layer(
            along, {{"axis", std::string(kind == AxisKind::step ? "steps" : "features")}}, {&src});
    }
    if (along && keeps && given) {
        std::set<std::size_t> places;
        for (const std::int64_t axis : *given)
            places.insert(place_of_axis(axis, src.rank()));
        return begin_normalisation(node, places);
    }
    throw Refused(
        fmt::format("it goes over the axes [{}] of [{}]",
                    fmt::join(given.value_or(Integers{}), ", "), fmt::join(src.dims(), ", ")),
        "height and width together, or one axis of a sequence, can be");
}

}  // namespace

void read_reduce_mean(const NodeReader& node) {
    reduce(node, 18, "global_avg_pool2d", "mean");
}

void read_reduce_max(const NodeReader& node) {
    reduce(node, 18, "global_max_pool2d", nullptr);
}

}  // namespace dtnn::compiler::onnx
