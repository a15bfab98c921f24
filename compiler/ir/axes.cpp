#include "compiler/ir/axes.hpp"

#include <algorithm>
#include <numeric>

namespace dtnn::compiler {
namespace {

std::vector<int> in_order(std::size_t axes) {
    std::vector<int> order(axes);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

}  // namespace

Axes usual_axes(std::size_t extents) {
    switch (extents) {
        case 1:
            return {AxisKind::batch, AxisKind::feature};
        case 2:
            return {AxisKind::batch, AxisKind::step, AxisKind::feature};
        case 3:
            return {AxisKind::batch, AxisKind::channel, AxisKind::space, AxisKind::space};
        default:
            return {};
    }
}

bool is_image(const Type& type) {
    static const Axes image = usual_axes(3);
    return type.axes == image;
}

bool is_rows(const Type& type) {
    static const Axes rows = usual_axes(1);
    return type.axes == rows;
}

Order usual_order(const Axes& axes) {
    const int channels = axis_of(axes, AxisKind::channel);
    if (channels < 0 || std::size_t(channels) + 1 == axes.size()) return {};
    Order order = in_order(axes.size());
    std::rotate(order.begin() + channels, order.begin() + channels + 1, order.end());
    return order;
}

bool lies_features_last(const Type& type) {
    std::vector<int> stored = stored_axes(type);
    const int features = feature_axis(type.axes);
    if (features >= 0 && type.dims[std::size_t(features)] > 1) {
        if (stored.back() != features) return false;
        stored.pop_back();
    }
    return std::is_sorted(stored.begin(), stored.end());
}

}  // namespace dtnn::compiler
