#include "compiler/ops/axis.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kAxis = "axis";
constexpr const char* kAxes = "axes";

}  // namespace

Field axis_field(std::string_view doc) {
    return choice_field(kAxis, kChannels, {kChannels, "features", "steps"}, doc);
}

int named_axis(const Axes& axes, AxisName name) {
    if (name == AxisName::channels || name == AxisName::features) return feature_axis(axes);
    if (name == AxisName::steps) return axis_of(axes, AxisKind::step);
    const int first = axis_of(axes, AxisKind::space);
    const bool two = first >= 0 && std::size_t(first) + 1 < axes.size() &&
                     axes[std::size_t(first) + 1] == AxisKind::space;
    if (!two) return -1;
    return name == AxisName::height ? first : first + 1;
}

std::optional<AxisName> axis_name_of(const Attributes& attributes) {
    return choice<AxisName>(attributes, kAxis);
}

std::optional<std::size_t> expect_axis(ShapeContext& c, const char* op) {
    const Type& src = c.input(0);
    if (const auto name = axis_name_of(c.attributes())) {
        const int axis = named_axis(src.axes, *name);
        if (axis >= 0) return std::size_t(axis);
        if (src.axes.empty())
            c.fail(fmt::format("{} needs an axis of {}, got {}", op, name_of(*name),
                               shape_text(src.dims)));
        else
            c.fail(fmt::format("{} goes along an axis of {}, but its input is {}", op,
                               name_of(*name), sample_text(src)),
                   "name an axis that the input has", kAxis);
        return std::nullopt;
    }
    const auto axis = written_axis(c.attributes());
    if (axis < src.dims.size()) return axis;
    c.fail(fmt::format("{} needs axis {}, got {}", op, axis, shape_text(src.dims)));
    return std::nullopt;
}

std::optional<std::size_t> settle_axis(ShapeContext& c, const char* op) {
    const auto axis = expect_axis(c, op);
    if (axis == 1 && feature_axis(c.input(0).axes) == 1)
        c.attributes()[kAxis] = std::string(kChannels);
    else if (axis)
        write_axis(c.attributes(), *axis);
    return axis;
}

void write_axis(Attributes& attributes, std::size_t axis) {
    if (axis == 1)
        attributes.erase(kAxis);
    else
        attributes[kAxis] = std::int64_t(axis);
}

std::size_t written_axis(const Attributes& attributes) {
    const auto given = attributes.find(kAxis);
    const auto* axis =
        given == attributes.end() ? nullptr : std::get_if<std::int64_t>(&given->second);
    return axis ? std::size_t(*axis) : 1;
}

bool spares_steps(const Node& node) {
    return written_axis(node.attributes) != 1;
}

Attributes shape_attributes(const Type& type) {
    Attributes attributes{{"shape", type.dims}};
    if (type.axes == usual_axes(type.dims.size() - 1)) return attributes;
    std::vector<std::int64_t> kinds;
    for (const AxisKind kind : type.axes)
        kinds.push_back(std::int64_t(kind));
    attributes[kAxes] = std::move(kinds);
    return attributes;
}

Type shaped_type(const ShapeContext& c, DType dtype) {
    Type type{dtype, c.integers("shape"), {}, {}};
    if (!c.has(kAxes)) {
        if (!type.dims.empty()) type.axes = usual_axes(type.dims.size() - 1);
        return type;
    }
    for (const std::int64_t kind : c.integers(kAxes))
        type.axes.push_back(AxisKind(kind));
    return type;
}

bool expect_features(ShapeContext& c, const char* op) {
    const Type& src = c.input(0);
    if (feature_axis(src.axes) >= 1 && src.axes[0] == AxisKind::batch) return true;
    c.fail(
        fmt::format("{} works on samples with channels or features, got {}", op, sample_text(src)));
    return false;
}

bool settle_features(ShapeContext& c, const char* op) {
    if (!expect_features(c, op)) return false;
    write_axis(c.attributes(), std::size_t(feature_axis(c.input(0).axes)));
    return true;
}

std::int64_t features_of(const Type& type) {
    const int axis = feature_axis(type.axes);
    return axis < 0 ? 1 : type.dims[std::size_t(axis)];
}

}  // namespace dtnn::compiler
