#pragma once
/// The attribute `axis` of operators that work along one axis of a value. Users write a word; nodes
/// carry the number of the logical axis, or nothing for axis 1, which in images and rows is that of
/// the features and may stay `channels`.

#include <optional>

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

inline constexpr const char* kChannels = "channels";

/// Words: those that name an axis of any value.
Field axis_field(std::string_view doc);

/// The axis of that name, or -1.
int named_axis(const Axes& axes, AxisName name);

/// The axis that the attribute names, where users wrote it.
std::optional<AxisName> axis_name_of(const Attributes& attributes);
/// The axis of operand 0 that the attribute names; fails where there is none.
std::optional<std::size_t> expect_axis(ShapeContext& c, const char* op);
/// The same, and brings the attribute to the form of nodes.
std::optional<std::size_t> settle_axis(ShapeContext& c, const char* op);
/// Writes the axis as nodes carry it.
void write_axis(Attributes& attributes, std::size_t axis);
/// The axis of an attribute in the form of nodes.
std::size_t written_axis(const Attributes& attributes);
/// Whether that is another than the steps' of a sequence.
bool spares_steps(const Node& node);

/// The attributes of a node that gives values of the type's shape: `shape` and, where they are not
/// the usual ones, the kinds of its `axes`; and the row-major type that they name.
Attributes shape_attributes(const Type& type);
Type shaped_type(const ShapeContext& c, DType dtype);

/// Fails unless operand 0 has a batch and an axis of features.
bool expect_features(ShapeContext& c, const char* op);
/// The same; the attribute `axis` becomes that of the features.
bool settle_features(ShapeContext& c, const char* op);
/// How many features a value has: 1 where it has no axis of them.
std::int64_t features_of(const Type& type);

}  // namespace dtnn::compiler
