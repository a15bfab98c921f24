#pragma once
/// Sliding windows over images: how their attributes are resolved and what extents come out.

#include <array>
#include <optional>
#include <utility>

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The order of a convolution's weights [F,C,KH,KW] in memory: KH, KW, C, F.
inline const Order kFilterOrder{2, 3, 1, 0};

/// Cells of a window of max_pool2d, whose indices are bytes.
inline constexpr std::int64_t kMostPoolCells = 255;

struct Window {
    std::array<std::int64_t, 2> kernel{1, 1};
    std::array<std::int64_t, 2> stride{1, 1};
    std::array<std::int64_t, 4> padding{};  ///< top, bottom, left, right
    std::array<std::int64_t, 2> dilation{1, 1};

    /// floor((extent + before + after - dilation*(kernel-1) - 1) / stride) + 1; axis 0 is vertical.
    std::int64_t output(int axis, std::int64_t extent) const;
    std::int64_t reach(int axis) const {  ///< cells from the first to the last of a window
        const auto a = std::size_t(axis);
        return dilation[a] * (kernel[a] - 1) + 1;
    }
    std::int64_t cells() const { return kernel[0] * kernel[1]; }
};

/// Reads `stride`, `padding`, `dilation` (absent: 1, valid, 1) for windows of `kernel` over `image`
/// [N,C,H,W], writes them back in their resolved form (padding as four numbers, by TensorFlow's
/// rule for "same": total = max((ceil(extent/stride)-1)*stride + dilation*(kernel-1)+1 - extent,
/// 0), the smaller half before), and fails when no window fits. `with_dilation` is false for
/// operators that have none.
std::optional<Window> resolve_window(ShapeContext& c, const std::array<std::int64_t, 2>& kernel,
                                     const Dims& image, bool with_dilation = true);

/// The window of already resolved attributes, without checks.
Window window_of(const Attributes& attributes, const std::array<std::int64_t, 2>& kernel);

/// The attribute "groups" of a convolution; absent: 1.
std::int64_t groups_of(const Attributes& attributes);

/// The attribute as two numbers, or `absent` twice.
std::array<std::int64_t, 2> pair_of(const Attributes& attributes, const char* name,
                                    std::int64_t absent = 1);

/// The padding before and behind that makes ceil(extent / stride) windows along the axis.
std::pair<std::int64_t, std::int64_t> same_padding(const Window& window, int axis,
                                                   std::int64_t extent);

/// The first window along the axis that holds padding only; none: there is no such.
std::optional<std::int64_t> window_of_padding(const Window& window, int axis, std::int64_t extent);

/// Fails when a window holds padding only: a pool has no result there.
bool expect_cells(ShapeContext& c, const char* op, const Window& window, const Dims& image);

/// The shape rule of the adaptive pools: one operand, an image; `size` is resolved to two numbers
/// and is the extents of the result.
void adaptive_pool_shape(ShapeContext& c, const char* op);

/// Fails unless `groups` divides the count, which the text calls `what`.
bool expect_divided(ShapeContext& c, std::int64_t groups, std::int64_t count, const char* what);

/// Whether a pool's windows are single cells, so that it copies its source.
bool copies_cells(const Graph& graph, const Node& node);
/// The attributes of the plain pool whose windows an adaptive one has, when all are of one extent;
/// plain pools have faster kernels.
std::optional<Attributes> even_windows(const Graph& graph, const Node& node);
/// The plain form of a pool by the largest cell; none where windows differ, are too large for the
/// indices of max_pool2d, or where the node's own indices are asked for, which mean something else.
std::vector<Node> max_pool_form(const Graph& graph, const Node& node);
/// The node reads what nodes that pad read before it, and pads as much more itself.
bool take_padding(const Graph& graph, Node& node);

/// The class of a convolution or of the gradient of its source: operand 1 is the filters.
KernelClass convolution_class(const KernelClassContext& c);
/// The class of the gradient of a convolution's weights: result 0 is of the filters' extents.
KernelClass weight_gradient_class(const KernelClassContext& c);
/// The class of pools by the largest cell and of their gradients.
KernelClass max_pool_class(const KernelClassContext& c);

/// [N, channels, OH, OW] with the image's dtype and order.
Type windowed_type(const Type& image, std::int64_t channels, const Window& window);

}  // namespace dtnn::compiler
