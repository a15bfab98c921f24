/// Zeros around images, and images of another size.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

/// Channels of zeros before and behind an image's: some of its own, times 0.
ImportedValue with_more_channels(const NodeReader& node, const ImportedValue& src,
                                 std::int64_t before, std::int64_t after) {
    Importer& importer = node.importer();
    const auto layer = [&](const char* type, Attributes fields,
                           const std::vector<const ImportedValue*>& sources) {
        return importer.layer(importer.add_layer({}, type, std::move(fields), sources, {})).value;
    };
    const std::int64_t channels = src.type.dims[1];
    constexpr std::int64_t kMostTimes = 64;
    if (std::max(before, after) > kMostTimes * channels)
        throw Refused("it adds far more channels than there are", "");
    const ImportedValue none = layer("scale", {{"factor", 0.0}, {"offset", 0.0}}, {&src});
    std::vector<ImportedValue> parts;
    const auto add_zeros = [&](std::int64_t count) {
        for (; count >= channels; count -= channels)
            parts.push_back(none);
        if (count > 0)
            parts.push_back(layer("slice", {{"begin", std::int64_t{0}}, {"end", count}}, {&none}));
    };
    add_zeros(before);
    parts.push_back(src);
    add_zeros(after);
    std::vector<const ImportedValue*> all;
    for (const ImportedValue& part : parts)
        all.push_back(&part);
    const int made = importer.add_layer(node.node(), "concat", {}, all, {});
    ImportedValue value = importer.layer(made).value;
    value.order = src.order;
    return value;
}

/// Steps and features as rows and columns.
ImportedValue as_pixels(const NodeReader& node, const ImportedValue& src) {
    if (src.rank() != 3 || is_image(src.type)) return src;
    const Dims& dims = src.type.dims;
    const int made = node.importer().add_layer(
        {}, "reshape", {{"shape", Integers{1, dims[1], dims[2]}}}, {&src}, {});
    ImportedValue value = node.importer().layer(made).value;
    for (std::size_t i = 0; i < src.order.size(); ++i)
        value.order[i] = src.order[i] == 0 ? 0 : src.order[i] + 1;
    value.order.resize(src.order.size());
    return value;
}

}  // namespace

void read_pad(const NodeReader& node) {
    if (make_room_for_token(node)) return;
    ImportedValue src = as_pixels(node, node.activation());
    if (node.text("mode", "constant") != "constant")
        throw Refused("it pads by copies of the image", "zeros can be");
    const bool inputs = node.opset() >= 11;
    const Integers given = inputs ? integers_of(node.constant(1, "pads")) : node.integers("pads");
    const double value = !inputs       ? node.real("value", 0)
                         : node.has(2) ? node.constant(2, "value").at(0)
                                       : 0;
    Integers axes;
    if (inputs && node.has(3))
        axes = integers_of(node.constant(3, "axes"));
    else
        for (std::size_t i = 0; i < src.rank(); ++i)
            axes.push_back(std::int64_t(i));
    if (given.size() != 2 * axes.size()) throw Refused("its pads are not two for each axis");
    Integers padding{0, 0, 0, 0};
    const int as_it_was = src.source;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t before = given[i], after = given[i + axes.size()];
        if (before == 0 && after == 0) continue;
        const int ours = src.order[place_of_axis(axes[i], src.rank())];
        if (!is_image(src.type) || ours < 1 || before < 0 || after < 0 || value != 0)
            throw Refused("it pads by other numbers than zeros, or what is no image",
                          "zeros around images can be");
        if (ours == 1) {
            src = with_more_channels(node, src, before, after);
            continue;
        }
        padding[2 * std::size_t(ours - 2)] = before;
        padding[2 * std::size_t(ours - 2) + 1] = after;
    }
    if (padding == Integers{0, 0, 0, 0})
        return node.result(src.source == as_it_was ? node.activation() : src);
    node.layer_like("zero_pad2d", {{"padding", padding}}, {&src});
}

void read_resize(const NodeReader& node) {
    const ImportedValue src = node.image();
    const bool resize = node.node().op_type == "Resize" && node.opset() >= 11;
    const std::size_t scales_at = resize ? 2 : 1;
    const Dims now = src.dims();
    Integers axes = node.integers("axes");
    if (axes.empty())
        for (std::size_t i = 0; i < now.size(); ++i)
            axes.push_back(std::int64_t(i));
    Numbers extents(now.begin(), now.end());  // of the result
    const bool sizes = resize && node.has(3);
    Numbers given;
    if (sizes)
        given = numbers_of(node.constant(3, "sizes"));
    else if (node.has(scales_at))
        given = numbers_of(node.constant(scales_at, "scales"));
    else if (const AttributeProto* scales = node.find("scales"))
        given.assign(scales->floats.begin(), scales->floats.end());
    if (given.size() != axes.size()) throw Refused("it has not a scale or a size for each axis");
    bool exact = true;  // the factor is that of the extents
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t axis = place_of_axis(axes[i], now.size());
        const double scaled = double(now[axis]) * given[i];
        if (axis == 0) continue;
        extents[axis] = sizes ? given[i] : std::floor(scaled + 1e-4);
        exact = exact && (sizes || std::abs(scaled - extents[axis]) < 1e-3);
    }
    const Dims before = src.type.dims;
    Integers size{before[2], before[3]};
    for (std::size_t i = 1; i < now.size(); ++i) {
        if (!(extents[i] >= 1 && extents[i] <= double(kFar)) ||
            (src.order[i] == 1 && extents[i] != double(now[i])))
            throw Refused(
                "it changes other extents than height and width, or its extents are unsound");
        if (src.order[i] > 1) size[std::size_t(src.order[i] - 2)] = std::int64_t(extents[i]);
    }
    const std::int64_t height = size[0], width = size[1];
    const std::string mode = node.text("mode", "nearest");
    const std::string where =
        resize ? node.text("coordinate_transformation_mode", "half_pixel") : "asymmetric";
    const std::string rounding = resize ? node.text("nearest_mode", "round_prefer_floor") : "floor";
    Attributes fields{{"size", size}};
    if (node.integer("antialias", 0) != 0 ||
        node.text("keep_aspect_ratio_policy", "stretch") != "stretch")
        throw Refused("it smooths or keeps the ratio", "plain interpolation can be");
    const bool whole = height % before[2] == 0 && width % before[3] == 0;
    if (mode == "nearest") {
        const bool repeats =
            (where == "asymmetric" && rounding == "floor") ||
            (whole && where.ends_with("half_pixel") && rounding == "round_prefer_floor");
        if (!repeats)
            throw Refused(fmt::format("it takes the nearest cell by {} and {}", where, rounding),
                          "export it with asymmetric and floor, as PyTorch does");
        return node.layer_like("upsample2d", fields, {&src});
    }
    if (!exact)
        throw Refused("its scales are not the quotients of its extents", "export it with sizes");
    const bool flat = (height == 1 && before[2] > 1) || (width == 1 && before[3] > 1);
    if (where == "pytorch_half_pixel" && flat)
        throw Refused("it takes the first cell where one is left", "use an adaptive pool");
    const bool linear = mode == "linear" || mode == "bilinear";
    const bool aligned = where == "align_corners";
    if (!linear || (!aligned && where != "half_pixel" && where != "pytorch_half_pixel"))
        throw Refused(fmt::format("it interpolates by {} at {}", mode, where),
                      "nearest and linear, by half_pixel or align_corners, can be");
    fields["mode"] = std::string("bilinear");
    fields["align_corners"] = aligned;
    node.layer_like("upsample2d", fields, {&src});
}

}  // namespace dtnn::compiler::onnx
