#pragma once
/// Where the elements of a tensor lie.

#include <array>
#include <optional>
#include <vector>

#include "base/device.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

/// A tensor of at most four axes as an image: missing axes have one element.
struct ImageLayout {
    std::int64_t batch = 1, channels = 1, height = 1, width = 1;
    std::int64_t batch_stride = 0, channel_stride = 0, row_stride = 0, column_stride = 0;

    DTNN_DEVICE std::int64_t at(std::int64_t n, std::int64_t c, std::int64_t h,
                                std::int64_t w) const {
        return n * batch_stride + c * channel_stride + h * row_stride + w * column_stride;
    }
    DTNN_DEVICE std::int64_t pixels() const { return batch * height * width; }
};
/// A tensor of any rank as an image whose elements have the same logical order: axes of more than
/// four that are neighbours in both orders are one. No value: they are too many.
std::optional<ImageLayout> merged_layout(const TensorType& tensor);

/// A tensor of any rank seen along neighbouring axes of it: `outer` times `inner` lines of `extent`
/// elements. The axes before and behind are in `outer` and `inner` as they are stored, not as they
/// are counted.
struct AxisView {
    std::int64_t outer = 1, extent = 1, inner = 1;
    std::int64_t outer_stride = 0, stride = 1, inner_stride = 0;

    DTNN_DEVICE std::int64_t at(std::int64_t o, std::int64_t e, std::int64_t i) const {
        return o * outer_stride + e * stride + i * inner_stride;
    }
    /// Where line `line` of lines() begins: those of one `outer` are neighbours.
    DTNN_DEVICE std::int64_t begin_of(std::int64_t line) const {
        return inner == 1 ? line * outer_stride
                          : line / inner * outer_stride + line % inner * inner_stride;
    }
    DTNN_DEVICE std::int64_t lines() const { return outer * inner; }
    DTNN_DEVICE std::int64_t elements() const { return outer * extent * inner; }
    /// Whether the elements lie one behind the other, and those of `inner` side by side.
    bool is_dense() const;
};

/// `count` axes from `first` on.
struct AxisRange {
    std::size_t first = 1, count = 1;
};
/// Views of tensors along these axes, in which (o, e, i) is the same place in each; tensors may
/// differ in the extents of the axes that are seen along. No value: there are no such views, since
/// the tensors are stored in too different orders, or lack the axes.
std::optional<std::vector<AxisView>> axis_views(AxisRange range,
                                                const std::vector<const TensorType*>& tensors);
/// The same for tensors that the operands' rule has found to have them.
template <class... Tensors>
std::array<AxisView, sizeof...(Tensors)> views_of(AxisRange range, const Tensors&... tensors) {
    const std::vector<AxisView> views = axis_views(range, {&tensors...}).value();
    std::array<AxisView, sizeof...(Tensors)> result;
    for (std::size_t i = 0; i < views.size(); ++i)
        result[i] = views[i];
    return result;
}
/// The tensor with one more axis, of one element.
TensorType with_axis(TensorType tensor, std::size_t axis);

/// A tensor of any rank as an image whose channels are the axis; the others are in the order in
/// which they are counted, more than three of them with neighbours in both orders as one. No value:
/// they are too many.
std::optional<ImageLayout> channel_layout(const TensorType& tensor, AxisRange axis);
/// The same with the first axis as the batch, and no other axis in it.
std::optional<ImageLayout> sample_layout(const TensorType& tensor, AxisRange axis);

/// The axis that the operator works along, `axis`: a number, or "height" or "width" of an image;
/// else 1.
AxisRange axis_of(const Problem& problem);
/// The axes of the classes of a matrix of predictions: `axis`, or all but the first where the
/// problem lacks it. All others are rows.
AxisRange classes_of(const Problem& problem, const TensorType& matrix);
/// The axes that layer_norm normalises over: `axes`, neighbours; or `axis`, "features" for all but
/// the first and "channels" for the second.
AxisRange normalised_axes(const Problem& problem);
struct ClassRows {
    std::int64_t rows = 0, classes = 0;
};
ClassRows class_rows(const Problem& problem, const TensorType& matrix);
/// Of an operator over `steps` rows a sample and the labels of samples, its second source.
struct LabelSequences {
    std::int64_t samples = 0;
    std::int64_t room = 0;  ///< for labels of a sample
};
LabelSequences label_sequences(const Problem& problem);
/// Stored with the axis last, and the others in their own order.
bool is_stored_last(AxisRange axis, const TensorType& tensor);

}  // namespace dtnn::kernels
