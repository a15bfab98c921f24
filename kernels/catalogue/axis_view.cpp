#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/layout.hpp"

namespace dtnn::kernels {
namespace {

/// Neighbouring axes that every tensor keeps together, seen as one.
struct Group {
    std::int64_t extent;
    std::vector<std::int64_t> strides;  ///< of every tensor
};

/// Those of `axes` of more than one element, from the slowest to the fastest of the first tensor.
std::vector<Group> groups_of(const std::vector<const TensorType*>& tensors,
                             const std::vector<std::size_t>& axes) {
    std::vector<Dims> strides;
    for (const TensorType* tensor : tensors)
        strides.push_back(strides_of(*tensor));
    std::vector<std::size_t> order;
    for (const std::size_t axis : axes)
        if (tensors[0]->dims[axis] != 1) order.push_back(axis);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return strides[0][a] > strides[0][b]; });
    std::vector<Group> groups;
    for (const std::size_t axis : order) {
        const std::int64_t extent = tensors[0]->dims[axis];
        Group group{extent, {}};
        bool together = !groups.empty();
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            group.strides.push_back(strides[t][axis]);
            together = together && groups.back().strides[t] == strides[t][axis] * extent;
        }
        if (together) {
            groups.back().extent *= extent;
            groups.back().strides = group.strides;
        } else {
            groups.push_back(group);
        }
    }
    return groups;
}

}  // namespace

bool AxisView::is_dense() const {
    return (inner == 1 || inner_stride == 1) && (extent == 1 || stride == inner) &&
           (outer == 1 || outer_stride == extent * inner);
}

std::optional<std::vector<AxisView>> axis_views(AxisRange range,
                                                const std::vector<const TensorType*>& tensors) {
    const std::size_t rank = tensors[0]->dims.size();
    if (range.first >= rank || range.count > rank - range.first) return std::nullopt;
    const std::size_t end = range.first + range.count;
    std::vector<std::size_t> others, along;
    for (std::size_t axis = 0; axis < rank; ++axis)
        (axis < range.first || axis >= end ? others : along).push_back(axis);
    std::vector<AxisView> views;
    for (const TensorType* tensor : tensors) {
        if (tensor->dims.size() != rank) return std::nullopt;
        for (const std::size_t axis : others)
            if (tensor->dims[axis] != tensors[0]->dims[axis]) return std::nullopt;
        // Lines of several axes are the same in all tensors.
        for (const std::size_t axis : along)
            if (range.count > 1 && tensor->dims[axis] != tensors[0]->dims[axis])
                return std::nullopt;
        const std::vector<Group> line =
            range.count > 1 ? groups_of({tensor, tensors[0]}, along) : groups_of({tensor}, along);
        if (line.size() > 1) return std::nullopt;
        AxisView view;
        if (!line.empty()) view.extent = line[0].extent, view.stride = line[0].strides[0];
        views.push_back(view);
    }
    std::vector<Group> groups = groups_of(tensors, others);
    if (groups.size() > 2) return std::nullopt;
    const bool alone = groups.size() == 1;
    const bool behind = alone && views[0].extent != 1 && groups[0].strides[0] < views[0].stride;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        AxisView& view = views[t];
        if (!groups.empty() && !behind) {
            view.outer = groups[0].extent;
            view.outer_stride = groups[0].strides[t];
        }
        if (behind || groups.size() == 2) {
            view.inner = groups.back().extent;
            view.inner_stride = groups.back().strides[t];
        }
    }
    return views;
}

namespace {

/// The axes with their strides, neighbours that lie as they are counted as one where there are more
/// than `most` of them.
std::vector<std::pair<std::int64_t, std::int64_t>> merged_axes(const TensorType& tensor,
                                                               const std::vector<std::size_t>& axes,
                                                               std::size_t most) {
    const Dims strides = strides_of(tensor);
    const bool merges = axes.size() > most;
    std::vector<std::pair<std::int64_t, std::int64_t>> merged;
    for (const std::size_t axis : axes) {
        const std::int64_t extent = tensor.dims[axis], stride = strides[axis];
        if (merges && extent == 1) continue;
        if (merges && !merged.empty() && merged.back().second == stride * extent)
            merged.back() = {merged.back().first * extent, stride};
        else
            merged.emplace_back(extent, stride);
    }
    return merged;
}

}  // namespace

std::optional<ImageLayout> merged_layout(const TensorType& tensor) {
    std::vector<std::size_t> axes(tensor.dims.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    auto merged = merged_axes(tensor, axes, 4);
    if (merged.size() > 4) return std::nullopt;
    merged.resize(4, {1, 0});
    return ImageLayout{merged[0].first,  merged[1].first,  merged[2].first,  merged[3].first,
                       merged[0].second, merged[1].second, merged[2].second, merged[3].second};
}

namespace {

/// Axes before `first`, none or one, stay alone in front.
std::optional<ImageLayout> layout_by_channel(const TensorType& tensor, AxisRange axis,
                                             std::size_t first) {
    if (axis.first < first || axis.first >= tensor.dims.size()) return std::nullopt;
    const Dims strides = strides_of(tensor);
    std::vector<std::size_t> others;
    for (std::size_t other = first; other < tensor.dims.size(); ++other)
        if (other != axis.first) others.push_back(other);
    auto merged = merged_axes(tensor, others, 3 - first);
    if (merged.size() > 3 - first) return std::nullopt;
    if (first == 1) merged.emplace(merged.begin(), tensor.dims[0], strides[0]);
    merged.resize(3, {1, 0});
    return ImageLayout{merged[0].first,  tensor.dims[axis.first], merged[1].first,
                       merged[2].first,  merged[0].second,        strides[axis.first],
                       merged[1].second, merged[2].second};
}

}  // namespace

std::optional<ImageLayout> channel_layout(const TensorType& tensor, AxisRange axis) {
    return layout_by_channel(tensor, axis, 0);
}

std::optional<ImageLayout> sample_layout(const TensorType& tensor, AxisRange axis) {
    return layout_by_channel(tensor, axis, 1);
}

TensorType with_axis(TensorType tensor, std::size_t axis) {
    tensor.dims.insert(tensor.dims.begin() + std::ptrdiff_t(axis), 1);
    if (tensor.order.empty()) return tensor;
    for (int& other : tensor.order)
        if (other >= int(axis)) ++other;
    tensor.order.push_back(int(axis));
    return tensor;
}

AxisRange axis_of(const Problem& problem) {
    const auto name = choice<AxisName>(problem.attributes, "axis");
    const std::int64_t named = name == AxisName::height ? 2 : name == AxisName::width ? 3 : 1;
    const std::int64_t axis = problem.integer("axis", named);
    // A negative number is an axis beyond all ranks.
    return {std::size_t(axis), 1};
}

AxisRange classes_of(const Problem& problem, const TensorType& matrix) {
    if (problem.attributes.contains("axis")) return axis_of(problem);
    return {1, matrix.dims.size() - 1};
}

AxisRange normalised_axes(const Problem& problem) {
    const std::vector<std::int64_t> axes = problem.integers("axes");
    if (!axes.empty()) return {std::size_t(axes.front()), axes.size()};
    const std::size_t rank = problem.sources[0].dims.size();
    return {1, says(problem.attributes, "axis", AxisName::channels) ? 1 : rank - 1};
}

ClassRows class_rows(const Problem& problem, const TensorType& matrix) {
    if (matrix.elements() == 0) return {};
    const AxisRange range = classes_of(problem, matrix);
    std::int64_t classes = 1;
    for (std::size_t axis = 0; axis < range.count; ++axis)
        classes *= matrix.dims[range.first + axis];
    return {matrix.elements() / classes, classes};
}

LabelSequences label_sequences(const Problem& problem) {
    const std::int64_t rows = class_rows(problem, problem.sources[0]).rows;
    const std::int64_t steps = problem.integer("steps");
    const std::int64_t samples = steps > 0 ? rows / steps : 0;
    return {samples, samples > 0 ? problem.sources[1].elements() / samples : 0};
}

bool is_stored_last(AxisRange axis, const TensorType& tensor) {
    TensorType wanted{tensor.dtype, tensor.dims, {}};
    for (std::size_t i = 0; i < tensor.dims.size(); ++i)
        if (i < axis.first || i >= axis.first + axis.count) wanted.order.push_back(int(i));
    for (std::size_t i = 0; i < axis.count; ++i)
        wanted.order.push_back(int(axis.first + i));
    return same_layout(tensor, wanted);
}

}  // namespace dtnn::kernels
