#pragma once
/// Sliding windows over the steps of a sequence: those over an image of one row, whose columns are
/// the steps and whose channels are the features.

#include "compiler/ops/sequence/sequence.hpp"
#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {

/// Words, a number or [before, behind].
Field step_padding_field();
/// Steps of a window, from one window to the next, of neighbours: 1 to kLargestWindow. Without a
/// fallback it is optional.
Field step_count_field(std::string_view name, std::optional<std::int64_t> fallback,
                       std::string_view doc);

/// The attribute "kernel" of a pool or of a convolution that is not yet resolved.
std::int64_t step_kernel_of(const Attributes& attributes, std::int64_t absent);

/// The window over columns of attributes with numbers alone, without checks.
Window step_window_of(const Attributes& attributes, std::int64_t kernel);

/// Reads `stride`, `padding` and `dilation` (absent: 1, valid, 1) for windows of `kernel` steps
/// over operand 0, writes them back as numbers (padding as two: before and behind), and fails when
/// no window fits. `with_dilation` is false for operators that have none.
std::optional<Window> resolve_step_window(ShapeContext& c, std::int64_t kernel,
                                          bool with_dilation = true);

/// Fails when a window holds padding only: a pool has no result there.
bool expect_steps(ShapeContext& c, const Window& window);

/// Whether a pool's windows are single steps, so that it copies its source.
bool copies_steps(const Graph& graph, const Node& node);

/// [N, steps, features] with the dtype of operand 0.
Type step_windowed_type(const ShapeContext& c, std::int64_t features, const Window& window);

/// The attributes with those of the window as operators over images have them: pairs, and padding
/// of four sides.
Attributes image_window(const Attributes& attributes);

/// Filters of `kernel` steps, [filters, features, kernel], as those of an image of one row.
Type filters_over_a_row(const Dims& dims);
/// The filters, operand 1, as they are seen: [filters, features of a group, 1, kernel]. Fails where
/// they are others.
bool expect_step_filters(ShapeContext& c);

/// One step more of a convolution that looks back alone: over it and those of before that its
/// windows reach, which are kept.
void next_of_step_filters(StepContext& c);

/// Of samples that have fewer steps: what is behind their last one is padding, as what is behind
/// the last one of all.
void lengths_of_step_filters(LengthsContext& c);

}  // namespace dtnn::compiler
