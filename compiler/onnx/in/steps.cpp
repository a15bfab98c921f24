/// Values of one axis of space, [batch, channels, steps] or [batch, steps, features]: images of
/// height 1 to windows, sequences to products along their last axis.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

ImportedValue in_shape(const NodeReader& node, const ImportedValue& src, const Integers& shape,
                       Order order) {
    const int made = node.importer().add_layer({}, "reshape", {{"shape", shape}}, {&src}, {});
    ImportedValue value = node.importer().layer(made).value;
    value.order = std::move(order);
    return value;
}

/// Steps with their features behind them, as an image of one channel.
bool is_features_last(const ImportedValue& value) {
    return value.type.dims[1] == 1 && value.order[1] == 3;
}

/// [batch, channels, steps] of axes in another order, as windows take it.
ImportedValue in_order_of_windows(const NodeReader& node, const ImportedValue& src) {
    if (src.is_plain()) return in_shape(node, src, {src.extent(1), 1, src.extent(2)}, {0, 1, 3});
    return in_shape(node, src, {1, src.extent(2), src.extent(1)}, {0, 3, 2});
}

/// An image of height 1 whose channels are the features of steps that lie along other axes.
std::optional<ImportedValue> turned(const NodeReader& node, const ImportedValue& src, int features,
                                    int steps) {
    const std::int64_t channels = src.type.dims[std::size_t(features)];
    const std::int64_t width = src.type.dims[std::size_t(steps)];
    const auto made = moved(node, src, {{features, 1, channels}, {steps, 1, width}});
    if (!made) return std::nullopt;
    Order order = src.order;
    for (int& axis : order)
        axis = axis == 0 ? 0 : axis == features ? 1 : axis == steps ? 3 : 2;
    return in_shape(node, *made, {channels, 1, width}, std::move(order));
}

}  // namespace

ImportedValue as_image(const NodeReader& node, const ImportedValue& src) {
    if (src.rank() != 3 || !src.view.empty() || is_image(src.type) || src.batch_axis() != 0)
        return src;
    return in_order_of_windows(node, src);
}

ImportedValue as_sequence(const NodeReader& node, const ImportedValue& src) {
    if (src.rank() != 3 || !src.view.empty() || !is_image(src.type) || src.batch_axis() != 0)
        return src;
    if (src.is_plain()) return in_shape(node, src, {src.extent(1), src.extent(2)}, {0, 1, 2});
    return in_shape(node, src, {src.extent(2), src.extent(1)}, {0, 2, 1});
}

ImportedValue with_features_first(const NodeReader& node, const ImportedValue& src) {
    return in_shape(node, src, {src.extent(2), 1, src.extent(1)}, {0, 3, 1});
}

namespace {

/// Whether the file's axes of extents above 1 are the same of ours in all values; which these are.
std::optional<Order> common_order(const std::vector<ImportedValue>& values) {
    Order order = values[0].order;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto longer = std::find_if(values.begin(), values.end(), [&](const auto& value) {
            return value.order.size() == order.size() && value.extent(i) > 1;
        });
        if (longer != values.end()) order[i] = longer->order[i];
    }
    for (const ImportedValue& value : values) {
        if (value.order.size() != order.size() || !value.view.empty()) return std::nullopt;
        if (value.batch_axis() != values[0].batch_axis()) return std::nullopt;
        for (std::size_t i = 0; i < order.size(); ++i)
            if (value.extent(i) > 1 && value.order[i] != order[i]) return std::nullopt;
    }
    Order all = order;
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end()) return std::nullopt;
    return order;
}

/// The value `times` times along an axis of 1: doubled, and doubled again.
ImportedValue repeated(const NodeReader& node, const ImportedValue& src, std::size_t axis,
                       std::int64_t times) {
    Attributes fields;
    if (src.type.axes[axis] == AxisKind::step) fields["axis"] = std::string("steps");
    const auto joined = [&](const ImportedValue& a, const ImportedValue& b) {
        const int made = node.importer().add_layer({}, "concat", fields, {&a, &b}, {});
        return node.importer().layer(made).value;
    };
    ImportedValue power = src;
    std::optional<ImportedValue> value;
    for (;; times /= 2) {
        if (times % 2 != 0) value = value ? joined(power, *value) : power;
        if (times == 1) return *value;
        power = joined(power, power);
    }
}

}  // namespace

ImportedValue broadcast(const NodeReader& node, const ImportedValue& src, const Dims& dims) {
    ImportedValue value = src;
    for (std::size_t axis = 1; axis < dims.size(); ++axis)
        if (value.type.axes[axis] != AxisKind::space && value.type.dims[axis] != dims[axis])
            value = repeated(node, value, axis, dims[axis]);
    if (is_image(value.type) && value.type.dims != dims) {
        const int made = node.importer().add_layer(
            {}, "upsample2d", {{"size", Integers{dims[2], dims[3]}}}, {&value}, {});
        value = node.importer().layer(made).value;
    }
    return value;
}

std::vector<ImportedValue> alike(const NodeReader& node,
                                 const std::vector<const ImportedValue*>& sources) {
    std::vector<ImportedValue> values;
    const auto image = std::find_if(sources.begin(), sources.end(),
                                    [](const auto* source) { return is_image(source->type); });
    for (const ImportedValue* source : sources) {
        const bool steps = image != sources.end() && source->rank() == 3 && !is_image(source->type);
        const bool turns = steps && (*image)->rank() == 3 && (*image)->order[2] == 1 &&
                           source->order == Order{0, 1, 2};
        const auto in_front = turns ? turned(node, *source, 2, 1) : std::nullopt;
        values.push_back(in_front ? *in_front : steps ? as_image(node, *source) : *source);
    }
    const auto order = common_order(values);
    const bool one_type = std::all_of(values.begin(), values.end(), [&](const auto& value) {
        return value.type.axes == values[0].type.axes && value.rows.empty();
    });
    if (!order || !one_type) return values;
    Dims dims = values[0].type.dims;
    for (const ImportedValue& value : values)
        for (std::size_t i = 0; i < dims.size(); ++i)
            dims[i] = std::max(dims[i], value.type.dims[i]);
    for (ImportedValue& value : values) {
        for (std::size_t i = 0; i < dims.size(); ++i)
            if (value.type.dims[i] != 1 && value.type.dims[i] != dims[i])
                throw Refused(fmt::format("its inputs are [{}] and [{}]",
                                          fmt::join(values[0].dims(), ", "),
                                          fmt::join(value.dims(), ", ")));
        value = broadcast(node, value, dims);
        value.order = *order;
    }
    return values;
}

void NodeReader::by_element(const char* type, Attributes fields,
                            const std::vector<const ImportedValue*>& sources) const {
    const std::vector<ImportedValue> values = alike(*this, sources);
    std::vector<const ImportedValue*> all;
    for (const ImportedValue& value : values)
        all.push_back(&value);
    layer_like(type, std::move(fields), all);
}

ImportedValue NodeReader::windowed(std::size_t i) const {
    ImportedValue value = activation(i);
    if (value.rank() == 3 &&
        !(is_image(value.type) && (value.order[1] == 1 || is_features_last(value))))
        value = in_order_of_windows(*this, value);
    if (!is_image(value.type))
        throw Refused(fmt::format("its input is [{}], and it is read of images, [batch, channels, "
                                  "height, width], and of [batch, channels, steps] alone",
                                  fmt::join(value.dims(), ", ")),
                      "");
    // Axes of 1 may stand anywhere.
    if (value.type.dims[1] == 1 && value.extent(1) == 1) {
        std::replace(value.order.begin(), value.order.end(), 1, value.order[1]);
        value.order[1] = 1;
    }
    if (value.order[1] != 1 && !is_features_last(value))
        throw Refused(
            "its input has its axes in another order than images have here, batch, channels, "
            "height, width",
            "export the model with channels first");
    return value;
}

ImportedValue NodeReader::image(std::size_t i) const {
    ImportedValue value = windowed(i);
    if (value.order[1] == 1) return value;
    if (auto made = turned(*this, value, 3, 2)) return *made;
    throw Refused(fmt::format("it takes the features of {} steps for channels, {} of them",
                              value.type.dims[2], value.type.dims[3]),
                  "export the model with channels first, or put a convolution before it");
}

}  // namespace dtnn::compiler::onnx
