#include "compiler/ops/spatial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::string padding_text(const std::array<std::int64_t, 4>& p) {
    if (p[0] == p[1] && p[0] == p[2] && p[0] == p[3]) return fmt::format("{}", p[0]);
    return fmt::format("[{}, {}, {}, {}]", p[0], p[1], p[2], p[3]);
}

std::vector<std::int64_t> list(const auto& array) {
    return {array.begin(), array.end()};
}

/// Images have fewer channels than this, what layers made of them has more.
constexpr std::int64_t kImageChannels = 4;

/// Below this many channels or filters the transforms of Winograd's algorithm weigh as much as its
/// products.
constexpr std::int64_t kNarrow = 32;

/// Classes are those of the times that a machine was measured to take, and a kernel is known here
/// by no more than its name in the plan. `filters` is [F, channels of a group, KH, KW].
KernelClass class_by_filters(const KernelClassContext& c, const Dims& filters, KernelClass narrow,
                             KernelClass others) {
    if (c.kernel == "depthwise") return KernelClass::depthwise_convolutions;
    if (filters[1] < kImageChannels) return KernelClass::first_convolutions;
    if (c.kernel == "winograd_4x4") {
        return std::min(filters[0], filters[1]) < kNarrow
                   ? KernelClass::narrow_winograd_convolutions
                   : KernelClass::winograd_convolutions;
    }
    if (c.kernel == "padded_rows" || c.kernel == "planes") return KernelClass::row_convolutions;
    if (filters[0] < kLanes) return narrow;
    return filters[2] * filters[3] == 1 ? KernelClass::pointwise_convolutions : others;
}

}  // namespace

std::pair<std::int64_t, std::int64_t> same_padding(const Window& w, int axis, std::int64_t extent) {
    const auto stride = w.stride[std::size_t(axis)];
    const std::int64_t outputs = (extent + stride - 1) / stride;
    const std::int64_t total =
        std::max<std::int64_t>((outputs - 1) * stride + w.reach(axis) - extent, 0);
    return {total / 2, total - total / 2};
}

std::optional<std::int64_t> window_of_padding(const Window& w, int axis, std::int64_t extent) {
    const auto a = std::size_t(axis);
    for (std::int64_t o = 0; o < w.output(axis, extent); ++o) {
        const std::int64_t first = o * w.stride[a] - w.padding[2 * a];
        bool inside = false;
        for (std::int64_t k = 0; k < w.kernel[a] && !inside; ++k)
            inside = first + k * w.dilation[a] >= 0 && first + k * w.dilation[a] < extent;
        if (!inside) return o;
    }
    return std::nullopt;
}

bool expect_divided(ShapeContext& c, std::int64_t groups, std::int64_t count, const char* what) {
    if (count % groups == 0) return true;
    c.fail(fmt::format("{} groups do not divide the {} {}: {} mod {} = {}", groups, count, what,
                       count, groups, count % groups),
           "", "groups");
    return false;
}

bool copies_cells(const Graph&, const Node& node) {
    const Window window = window_of(node.attributes, pair_of(node.attributes, "kernel"));
    constexpr std::array<std::int64_t, 2> kOne{1, 1};
    return window.kernel == kOne && window.stride == kOne &&
           window.padding == std::array<std::int64_t, 4>{} && node.outputs.size() == 1;
}

std::optional<Attributes> even_windows(const Graph& graph, const Node& node) {
    const Dims& source = graph.type(node.inputs[0]).dims;
    const Dims& result = graph.type(node.outputs[0]).dims;
    if (source[2] % result[2] != 0 || source[3] % result[3] != 0) return std::nullopt;
    const std::vector<std::int64_t> both{source[2] / result[2], source[3] / result[3]};
    return Attributes{{"kernel", both}, {"stride", both}};
}

std::vector<Node> max_pool_form(const Graph& graph, const Node& node) {
    if (node.outputs.size() > 1) return {};
    const auto windows = even_windows(graph, node);
    if (!windows) return {};
    const auto kernel = pair_of(*windows, "kernel");
    if (kernel[0] > kMostPoolCells || kernel[1] > kMostPoolCells ||
        kernel[0] * kernel[1] > kMostPoolCells)
        return {};
    return becomes(node, "max_pool2d", *windows);
}

bool take_padding(const Graph& graph, Node& node) {
    bool taken = false;
    for (const Node* pad = producer(graph, node.inputs[0]); pad && op(pad->op).pads;
         pad = producer(graph, node.inputs[0])) {
        const auto more = window_of(pad->attributes, {1, 1}).padding;
        auto padding = window_of(node.attributes, {1, 1}).padding;
        for (std::size_t side = 0; side < padding.size(); ++side)
            padding[side] += more[side];
        node.attributes["padding"] = std::vector<std::int64_t>(padding.begin(), padding.end());
        node.inputs[0] = pad->inputs[0];
        taken = true;
    }
    return taken;
}

KernelClass convolution_class(const KernelClassContext& c) {
    return class_by_filters(c, c.inputs[1].dims, KernelClass::narrow_convolutions,
                            KernelClass::convolutions);
}

KernelClass weight_gradient_class(const KernelClassContext& c) {
    return class_by_filters(c, c.outputs[0].dims, KernelClass::narrow_weight_gradients,
                            KernelClass::weight_gradients);
}

KernelClass max_pool_class(const KernelClassContext& c) {
    return c.kernel == "window_2x2" ? KernelClass::window_pooling
                                    : KernelClass::overlapping_pooling;
}

std::int64_t Window::output(int axis, std::int64_t extent) const {
    const auto a = std::size_t(axis);
    return floor_divide(extent + padding[2 * a] + padding[2 * a + 1] - reach(axis), stride[a]) + 1;
}

std::array<std::int64_t, 2> pair_of(const Attributes& attributes, const char* name,
                                    std::int64_t absent) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {absent, absent};
    if (const auto* one = std::get_if<std::int64_t>(&found->second)) return {*one, *one};
    const auto* both = std::get_if<std::vector<std::int64_t>>(&found->second);
    DTNN_CHECK(both != nullptr && both->size() == 2, "attribute `{}` is not a pair", name);
    return {(*both)[0], (*both)[1]};
}

Window window_of(const Attributes& attributes, const std::array<std::int64_t, 2>& kernel) {
    Window w;
    w.kernel = kernel;
    w.stride = pair_of(attributes, "stride");
    w.dilation = pair_of(attributes, "dilation");
    if (const auto found = attributes.find("padding"); found != attributes.end())
        if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&found->second)) {
            DTNN_CHECK_COMPARE(numbers->size(), ==, std::size_t{4});
            std::copy(numbers->begin(), numbers->end(), w.padding.begin());
        }
    return w;
}

std::optional<Window> resolve_window(ShapeContext& c, const std::array<std::int64_t, 2>& kernel,
                                     const Dims& image, bool with_dilation) {
    Window w = window_of(c.attributes(), kernel);
    if (says(c.attributes(), "padding", PaddingWord::same)) {
        std::tie(w.padding[0], w.padding[1]) = same_padding(w, 0, image[2]);
        std::tie(w.padding[2], w.padding[3]) = same_padding(w, 1, image[3]);
    }
    for (int axis = 0; axis < 2; ++axis) {
        const auto a = std::size_t(axis);
        const std::int64_t extent = image[2 + a];
        const std::int64_t output = w.output(axis, extent);
        if (output >= 1) continue;
        c.fail(fmt::format("a {}x{} kernel{} does not fit an input of {}x{} with padding {}: "
                           "({} + {} + {} - {}*({}-1) - 1) / {} + 1 = {}",
                           w.kernel[0], w.kernel[1],
                           w.dilation[0] * w.dilation[1] == 1
                               ? ""
                               : fmt::format(" with dilation {}x{}", w.dilation[0], w.dilation[1]),
                           image[2], image[3], padding_text(w.padding), extent, w.padding[2 * a],
                           w.padding[2 * a + 1], w.dilation[a], w.kernel[a], w.stride[a], output),
               "use a smaller kernel, `padding: same`, or fewer steps that shrink the image before",
               "kernel");
        return std::nullopt;
    }
    c.attributes()["stride"] = list(w.stride);
    c.attributes()["padding"] = list(w.padding);
    if (with_dilation) c.attributes()["dilation"] = list(w.dilation);
    return w;
}

bool expect_cells(ShapeContext& c, const char* op, const Window& w, const Dims& image) {
    for (int axis = 0; axis < 2; ++axis) {
        const auto a = std::size_t(axis);
        const std::int64_t extent = image[2 + a];
        const auto empty = window_of_padding(w, axis, extent);
        if (!empty) continue;
        const std::int64_t first = *empty * w.stride[a] - w.padding[2 * a];
        c.fail(fmt::format("{}: the {} window at {} {} holds padding only: cells {} to {} of 0 "
                           "to {}",
                           op, fmt::format("{}x{}", w.kernel[0], w.kernel[1]),
                           axis == 0 ? "row" : "column", *empty, first, first + w.reach(axis) - 1,
                           extent - 1),
               "use less padding than the kernel is wide", "padding");
        return false;
    }
    return true;
}

void adaptive_pool_shape(ShapeContext& c, const char* op) {
    if (!expect_image(c, op)) return;
    const auto size = pair_of(c.attributes(), "size");
    Type dst = c.input(0);
    // An index of adaptive_max_pool2d counts the cells of an image in 32 bits.
    if (saturating_product({dst.dims[2], dst.dims[3]}) > std::numeric_limits<std::int32_t>::max()) {
        c.fail(fmt::format("{} takes images of less than 2^31 cells, got {}", op,
                           sample_text(c.input(0))));
        return;
    }
    dst.dims[2] = size[0];
    dst.dims[3] = size[1];
    c.attributes()["size"] = std::vector<std::int64_t>{size[0], size[1]};
    c.result(dst);
}

Type windowed_type(const Type& image, std::int64_t channels, const Window& w) {
    Type result = image;
    result.dims = {image.dims[0], channels, w.output(0, image.dims[2]), w.output(1, image.dims[3])};
    return result;
}

std::int64_t groups_of(const Attributes& attributes) {
    const auto found = attributes.find("groups");
    return found == attributes.end() ? 1 : std::get<std::int64_t>(found->second);
}

}  // namespace dtnn::compiler
