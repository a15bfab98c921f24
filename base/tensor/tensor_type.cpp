#include "base/tensor/tensor_type.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace dtnn {
namespace {

// The axes of the tensor that are longer than one, in this order.
std::vector<int> longer_than_one(const TensorType& type, Order order) {
    std::erase_if(order, [&](int axis) { return type.dims[std::size_t(axis)] == 1; });
    return order;
}

}  // namespace

const Axes& image_axes() {
    static const Axes axes{AxisKind::channel, AxisKind::space, AxisKind::space};
    return axes;
}

int axis_of(const Axes& axes, AxisKind kind) {
    const auto found = std::find(axes.begin(), axes.end(), kind);
    return found == axes.end() ? -1 : int(found - axes.begin());
}

int feature_axis(const Axes& axes) {
    const int channels = axis_of(axes, AxisKind::channel);
    return channels >= 0 ? channels : axis_of(axes, AxisKind::feature);
}

std::int64_t element_count(const Dims& dims) {
    std::int64_t count = 1;
    for (const std::int64_t extent : dims)
        if (__builtin_mul_overflow(count, extent, &count))
            return std::numeric_limits<std::int64_t>::max();
    return count;
}

Dims strides_of(const Dims& dims, const Order& order) {
    Dims strides(dims.size(), 1);
    std::int64_t stride = 1;
    for (std::size_t place = dims.size(); place-- > 0;) {
        const std::size_t axis = order.empty() ? place : std::size_t(order[place]);
        strides[axis] = stride;
        stride *= dims[axis];
    }
    return strides;
}

std::vector<int> stored_axes(const TensorType& type) {
    Order order = type.order;
    if (order.empty()) {
        order.resize(type.dims.size());
        std::iota(order.begin(), order.end(), 0);
    }
    return longer_than_one(type, std::move(order));
}

bool is_row_major(const TensorType& type) {
    const std::vector<int> stored = stored_axes(type);
    return std::is_sorted(stored.begin(), stored.end());
}

bool same_layout(const TensorType& a, const TensorType& b) {
    return a.dims == b.dims && stored_axes(a) == stored_axes(b);
}

}  // namespace dtnn
