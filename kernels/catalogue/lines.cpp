/// Kernels that work along axes refuse some orders of their operands.

#include <algorithm>
#include <optional>

#include "kernels/catalogue/predicates.hpp"
#include "kernels/operands.hpp"

namespace dtnn::kernels::predicates {
namespace {

using Views = std::optional<std::vector<AxisView>>;

/// All operands, those that lack the axis with one element along it.
Views views_of_all(const Problem& problem) {
    const AxisRange axis = axis_of(problem);
    std::vector<TensorType> tensors = problem.sources;
    tensors.insert(tensors.end(), problem.destinations.begin(), problem.destinations.end());
    std::size_t rank = 0;
    for (const TensorType& tensor : tensors)
        rank = std::max(rank, tensor.dims.size());
    if (axis.first >= rank) return std::nullopt;
    std::vector<const TensorType*> all;
    for (TensorType& tensor : tensors) {
        if (tensor.dims.size() < rank) tensor = with_axis(tensor, axis.first);
        all.push_back(&tensor);
    }
    return axis_views(axis, all);
}

/// Views of all that layer_norm reads and writes beside parameters and statistics.
Views views_of_normalised(const Problem& problem) {
    std::vector<const TensorType*> tensors{&problem.sources[0]};
    if (const auto diff = Operands(problem).source("diff_dst")) tensors.push_back(diff.type());
    tensors.push_back(&problem.destinations[0]);
    return axis_views(normalised_axes(problem), tensors);
}

Refused unless_dense(const Views& views) {
    if (!views) return "its operands are stored in different orders";
    for (const AxisView& view : *views)
        if (!view.is_dense()) return "its operands are stored in different orders";
    return std::nullopt;
}

Refused unless_last(const Views& views) {
    if (Refused refused = unless_dense(views)) return refused;
    if (views->front().inner != 1) return "its axis is not stored last";
    return std::nullopt;
}

Refused unless_inside(const Views& views) {
    if (Refused refused = unless_dense(views)) return refused;
    if (views->front().inner == 1) return "its axis is stored last";
    return std::nullopt;
}

}  // namespace

Refused unless_dense_along_axis(const Problem& problem) {
    return unless_dense(views_of_all(problem));
}
Refused unless_axis_is_last(const Problem& problem) {
    return unless_last(views_of_all(problem));
}
Refused unless_axis_is_inside(const Problem& problem) {
    return unless_inside(views_of_all(problem));
}

/// The source and what has its extents lie alike, each channel's numbers in runs of one length.
Refused unless_channels_are_dense(const Problem& problem) {
    const TensorType& first = problem.sources[0];
    const Views views = axis_views(axis_of(problem), {&first});
    if (!views || !views->front().is_dense()) return "its channels lie in no runs of one length";
    for (const auto* side : {&problem.sources, &problem.destinations})
        for (const TensorType& tensor : *side)
            if (tensor.dims == first.dims && !same_layout(tensor, first))
                return "its operands are stored in different orders";
    return std::nullopt;
}

Refused unless_lines_are_dense(const Problem& problem) {
    return unless_dense(views_of_normalised(problem));
}
Refused unless_lines_are_rows(const Problem& problem) {
    return unless_last(views_of_normalised(problem));
}
Refused unless_lines_are_columns(const Problem& problem) {
    return unless_inside(views_of_normalised(problem));
}

}  // namespace dtnn::kernels::predicates
