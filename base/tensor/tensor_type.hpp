#pragma once
/// What a tensor is: the type of its elements, its shape, how its axes lie in memory and what they
/// mean.

#include <cstdint>
#include <vector>

#include "base/tensor/dtype.hpp"

namespace dtnn {

using Dims = std::vector<std::int64_t>;
/// The physical order of the logical axes, outermost first: {0,2,3,1} is a logical NCHW tensor
/// stored as NHWC. Empty means the logical order (row-major).
using Order = std::vector<int>;

/// What the elements along an axis are.
///     batch    samples
///     channel  features of a place of an image
///     space    places of an image: rows, columns
///     step     places of a sequence
///     feature  the numbers of a row
enum class AxisKind : std::uint8_t { batch, channel, space, step, feature };

constexpr auto names_of(AxisKind) {
    return std::to_array<const char*>({"batch", "channel", "space", "step", "feature"});
}

/// The kinds of a tensor's axes, in their logical order; empty where nobody has said.
using Axes = std::vector<AxisKind>;

/// [channel, space, space]: the axes of a sample that is an image.
const Axes& image_axes();
/// The first axis of the kind, or -1.
int axis_of(const Axes& axes, AxisKind kind);
/// The axis along which the features of a value lie: its channels where it has some, else its
/// features; -1 where it has neither.
int feature_axis(const Axes& axes);

/// Saturates instead of overflowing, so that a hostile plan's extents cannot wrap round to
/// something small.
std::int64_t element_count(const Dims& dims);

struct TensorType {
    DType dtype = DType::f32;
    Dims dims = {};    ///< logical: N,C,H,W; filters F,C/groups,KH,KW; dense weights K,units
    Order order = {};  ///< empty: row-major
    Axes axes = {};

    bool operator==(const TensorType&) const = default;
    std::int64_t elements() const { return element_count(dims); }
    std::int64_t bytes() const { return elements() * size_of(dtype); }
};

/// Elements between neighbours along each logical axis.
Dims strides_of(const Dims& dims, const Order& order);
inline Dims strides_of(const TensorType& type) {
    return strides_of(type.dims, type.order);
}

/// The axes longer than one, in the order they are stored: what decides where an element lies.
std::vector<int> stored_axes(const TensorType& type);
bool is_row_major(const TensorType& type);
/// Both tensors have the same shape and keep every element at the same place.
bool same_layout(const TensorType& a, const TensorType& b);

}  // namespace dtnn
