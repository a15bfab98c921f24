/// Products and normalisation.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

/// [K, units] in our order of the row.
Constant dense_weights(const NodeReader& node, const Constant& weights, const ImportedValue& src) {
    if (weights.dims[0] != src.extent(src.rank() - 1))
        throw Refused(fmt::format("its weights take rows of {} numbers, and its input has {}",
                                  weights.dims[0], src.extent(src.rank() - 1)));
    return in_row_order(node, weights, src);
}

void dense(const NodeReader& node, const ImportedValue& src, Constant weights,
           std::optional<Constant> bias) {
    if (const std::size_t batch = src.batch_axis(); batch != 0 && src.view.empty()) {
        if (batch + 1 == src.rank()) throw Refused("its rows go along the batch");
        ImportedValue value = src;
        const auto first = value.order.begin();
        std::rotate(first, first + std::ptrdiff_t(batch), first + std::ptrdiff_t(batch) + 1);
        dense(node, value, std::move(weights), std::move(bias));
        ImportedValue made = *node.importer().find(node.node().output[0]);
        const auto front = made.order.begin();
        std::rotate(front, front + 1, front + std::ptrdiff_t(batch) + 1);
        return node.result(std::move(made));
    }
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
    if (is_image(src.type) && src.order.back() == 1) {
        if (weights.dims[0] != src.type.dims[1])
            throw Refused("its weights do not take the channels of its input");
        const std::int64_t units = weights.dims[1];
        std::map<std::string, Constant> parameters{
            {"weights", node.importer().constants().transpose(weights, {1, 0})}};
        parameters.at("weights").dims = {units, weights.dims[0], 1, 1};
        const bool has_bias = bias.has_value();
        if (has_bias) parameters["bias"] = std::move(*bias);
        return node.layer_like("conv2d",
                               {{"filters", units}, {"kernel", Integers{1, 1}}, {"bias", has_bias}},
                               {&src}, std::move(parameters));
    }
    ImportedValue plain = as_sequence(node, src);
    if (!plain.is_plain() && plain.rank() == 3 && src.rows.empty())
        return dense(node, with_features_first(node, plain), std::move(weights), std::move(bias));
    plain.rows.clear();
    if (!plain.is_plain() || plain.type.axes.back() != AxisKind::feature)
        throw Refused("its input is no row of numbers, and no sequence of rows",
                      "put a Flatten before it");
    const std::int64_t units = weights.dims[1];
    std::map<std::string, Constant> parameters{{"weights", dense_weights(node, weights, src)}};
    if (bias) parameters["bias"] = std::move(*bias);
    node.layer("dense", {{"units", units}, {"bias", bias.has_value()}}, {&plain},
               std::move(parameters));
}

}  // namespace

void read_gemm(const NodeReader& node) {
    Constants& constants = node.importer().constants();
    if (node.integer("transA", 0) != 0)
        throw Refused("it transposes the network's values", "export the model without transA");
    Constant weights = node.weights(2);
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
    dense(node, node.in_any_order(), scaled(weights, node.real("alpha", 1)), std::move(bias));
}

namespace {

Refused other_product() {
    return Refused(
        "it multiplies two values that the network works out, and is no attention",
        "products with weights are read, of two values [batch, steps, features], and of queries "
        "and keys, [batch, heads, steps, features] and [batch, heads, features, steps]");
}

/// Two sequences, as they are or turned.
void multiply_sequences(const NodeReader& node) {
    Attributes fields;
    std::vector<ImportedValue> factors;
    for (const std::size_t i : {0U, 1U}) {
        ImportedValue factor = as_sequence(node, node.viewed(i));
        const bool sequence =
            factor.type.axes == usual_axes(2) && factor.view.empty() && factor.rows.empty();
        const bool turned = factor.order == Order{0, 2, 1};
        if (!sequence || (!turned && !factor.is_plain())) throw other_product();
        fields[i == 0 ? "transpose_first" : "transpose_second"] = turned;
        factor.order = {0, 1, 2};
        factors.push_back(std::move(factor));
    }
    node.layer("matmul", fields, {&factors[0], &factors[1]});
}

}  // namespace

void read_mat_mul(const NodeReader& node) {
    if (!node.input(1).is_constant()) {
        if (node.input(0).is_constant()) throw other_product();
        return multiply_sequences(node);
    }
    dense(node, node.in_any_order(), node.weights(2), std::nullopt);
}

// ---- Normalisation

namespace {

/// The file's axis 1 holds our channels or features.
ImportedValue by_channel(const NodeReader& node) {
    ImportedValue src = node.activation();
    if (src.rank() == 3 && src.order[1] == 1) src = as_image(node, src);
    if (src.rank() == 3 && is_image(src.type) && src.order[1] != 1) src = as_sequence(node, src);
    const int features = feature_axis(src.type.axes);
    if (src.rank() < 2 || src.order[1] != features)
        throw Refused("its channels are not those of the value here",
                      "export the model with channels first");
    return src;
}

}  // namespace

void read_batch_normalization(const NodeReader& node) {
    const ImportedValue src = by_channel(node);
    if (node.integer("training_mode", 0) != 0)
        throw Refused("it normalises by its batch (training_mode)",
                      "export the model in the form of inference (model.eval())");
    if (node.opset() < 9 && node.integer("spatial", 1) == 0)
        throw Refused("it has statistics for every pixel (spatial 0)", "");
    const auto given = [&](std::size_t i, const char* what) {
        return in_row_order(node, node.constant(i, what), src);
    };
    node.layer_like(
        "batch_norm",
        {{"momentum", node.real("momentum", 0.9)}, {"epsilon", node.real("epsilon", 1e-5)}}, {&src},
        {{"gamma", given(1, "scale")},
         {"beta", given(2, "offset")},
         {"running_mean", given(3, "mean")},
         {"running_variance", given(4, "variance")}});
}

namespace {

/// `centred`: as layer norm, with an offset; else as the root of the mean of squares alone.
void normalise_last(const NodeReader& node, bool centred) {
    ImportedValue src = node.by_number();
    const auto axis = std::int64_t(place_of_axis(node.integer("axis", -1), src.rank()));
    const auto last = std::int64_t(src.rank()) - 1;
    if (axis != last || src.order.back() == 0) src = node.activation();
    const bool of_channels = is_image(src.type) && axis == last && src.order.back() == 1;
    if (!is_image(src.type) && axis == 1) src = as_image(node, src);
    if (axis == 2 && !of_channels) src = with_features_last(node, as_sequence(node, src));
    const bool whole = axis == 1 && (is_image(src.type) || is_rows(src.type));
    const bool of_features = !is_image(src.type) && axis == last && src.order.back() == last;
    if (!of_channels && !whole && !of_features)
        throw Refused(fmt::format("it normalises the axes from {} of [{}], which no {} does", axis,
                                  fmt::join(src.dims(), ", "), centred ? "layer_norm" : "rms_norm"),
                      "whole samples, the features of a step and the channels of a pixel are "
                      "normalised");
    Attributes fields{{"epsilon", node.real("epsilon", 1e-5)}};
    if (of_channels) fields["axis"] = std::string("channels");
    const auto as_ours = [&](const Constant& given) {
        if (!whole || is_rows(src.type) || src.is_plain() || given.dims.size() + 1 != src.rank())
            return in_row_order(node, given, src);
        Integers order;  // the file's axes as ours
        for (std::size_t i = 1; i < src.rank(); ++i)
            order.push_back(std::int64_t(i - 1));
        std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            return src.order[std::size_t(a + 1)] < src.order[std::size_t(b + 1)];
        });
        return node.importer().constants().transpose(given, order);
    };
    const Constant gamma = as_ours(node.constant(1, "scale"));
    if (!centred) return node.layer_like("rms_norm", fields, {&src}, {{"gamma", gamma}});
    const Constant beta = node.has(2)
                              ? as_ours(node.constant(2, "offset"))
                              : node.importer().constants().make(
                                    gamma.dims, true, Numbers(std::size_t(gamma.elements()), 0));
    node.layer_like("layer_norm", fields, {&src}, {{"gamma", gamma}, {"beta", beta}});
}

}  // namespace

void read_layer_normalization(const NodeReader& node) {
    normalise_last(node, true);
}

void read_rms_normalization(const NodeReader& node) {
    normalise_last(node, false);
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
    const ImportedValue src = by_channel(node);
    node.layer_like("group_norm",
                    {{"groups", src.extent(1)}, {"epsilon", node.real("epsilon", 1e-5)}}, {&src},
                    {{"gamma", node.constant(1, "scale")}, {"beta", node.constant(2, "offset")}});
}

void read_group_normalization(const NodeReader& node) {
    const ImportedValue src = by_channel(node);
    const std::int64_t groups = node.integer("num_groups", 1), channels = src.extent(1);
    const auto each = [&](std::size_t i, const char* what) {
        const Constant& given = node.constant(i, what);
        if (given.elements() == channels || groups < 1 || given.elements() != groups) return given;
        Numbers numbers;  // before operator set 21 a number for each group
        for (std::int64_t c = 0; c < channels; ++c)
            numbers.push_back(given.at(c / std::max<std::int64_t>(channels / groups, 1)));
        return node.importer().constants().make({channels}, true, numbers);
    };
    node.layer_like("group_norm", {{"groups", groups}, {"epsilon", node.real("epsilon", 1e-5)}},
                    {&src}, {{"gamma", each(1, "scale")}, {"beta", each(2, "offset")}});
}

void read_lrn(const NodeReader& node) {
    const std::int64_t size = node.integer("size", 1);
    if (size % 2 == 0)
        throw Refused(fmt::format("its window of {} channels lies otherwise than here", size),
                      "use an odd size");
    const ImportedValue src = node.image();
    node.layer_like("local_response_norm",
                    {{"size", size},
                     {"alpha", node.real("alpha", 1e-4)},
                     {"beta", node.real("beta", 0.75)},
                     {"k", node.real("bias", 1)}},
                    {&src});
}

namespace {

void along_axis(const NodeReader& node, const char* type) {
    ImportedValue src = node.by_number();
    const auto rank = std::int64_t(src.rank());
    std::int64_t axis = node.integer("axis", node.opset() < 13 ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || axis == std::int64_t(src.batch_axis()))
        throw Refused("it goes along the batch");
    // Before operator set 13 the axes from this one on were one.
    if (node.opset() < 13)
        for (std::int64_t i = axis + 1; i < rank; ++i)
            if (src.extent(std::size_t(i)) != 1)
                throw Refused("it goes along several axes at once", "export opset 13 or later");
    const auto kind_of_axis = [&] {
        return src.type.axes[std::size_t(src.order[std::size_t(axis)])];
    };
    if (kind_of_axis() == AxisKind::space) src = as_sequence(node, src);
    const AxisKind kind = kind_of_axis();
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
                    {&node.by_number()});
}

}  // namespace dtnn::compiler::onnx
