// Windows of convolutions and pooling beside the images that they go over.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/tensor/choices.hpp"
#include "compiler/frontend/lint/lint_rule.hpp"
#include "compiler/ir/axes.hpp"

namespace dtnn::compiler {
namespace {

/// A window along one axis of the image.
struct Window {
    std::int64_t cells = 1;  ///< of the kernel
    std::int64_t stride = 1, dilation = 1;
    std::int64_t before = 0;  ///< cells of padding
    std::int64_t input = 1, output = 1;

    std::int64_t reach() const { return (cells - 1) * dilation + 1; }
};

std::int64_t part_of(const LayerSpec& layer, const char* field, std::size_t axis) {
    // Of steps: an image of one row.
    if (const auto* one = value_of<std::int64_t>(layer.fields, field)) return axis == 0 ? 1 : *one;
    const auto* pair = value_of<std::vector<std::int64_t>>(layer.fields, field);
    return pair && pair->size() == 2 ? (*pair)[axis] : 1;
}

/// Vertically (0) or horizontally (1); nothing where the layer has no kernel, or makes images
/// larger.
std::optional<Window> window_of(const LintSubject& subject, const LayerSpec& layer,
                                std::size_t axis) {
    const Dims& input = subject.input_shape(layer);
    if (!layer.fields.contains("kernel") || axis_of(layer.axes, AxisKind::space) < 0 ||
        input.size() != layer.shape.size())
        return std::nullopt;
    Window window{.cells = part_of(layer, "kernel", axis),
                  .stride = part_of(layer, "stride", axis),
                  .dilation = part_of(layer, "dilation", axis),
                  .input = input[1 + axis],
                  .output = layer.shape[1 + axis]};
    const auto* four = value_of<std::vector<std::int64_t>>(layer.fields, "padding");
    if (four && four->size() == 4)  // one of each side of an image
        window.before = (*four)[2 * axis];
    else if (says(layer.fields, "padding", PaddingWord::same))
        window.before = std::max<std::int64_t>(
            0, ((window.output - 1) * window.stride + window.reach() - window.input) / 2);
    if (window.output > window.input + 2 * window.before) return std::nullopt;
    return window;
}

void stride_over_kernel(const LintSubject& subject, LintVoice& voice) {
    for (const LayerSpec& layer : subject.layers())
        for (const std::size_t axis : {0U, 1U}) {
            const auto window = window_of(subject, layer, axis);
            // A kernel of one cell with a stride is how shortcuts make images smaller.
            if (!window || window->cells == 1 || window->stride <= window->reach()) continue;
            voice.say(layer.span,
                      fmt::format("`{}` has windows of {} pixels and a stride of {}: {} of {} "
                                  "pixels are never read",
                                  layer.name, window->reach(), window->stride,
                                  window->stride - window->reach(), window->stride),
                      "make the stride at most as large as the kernel");
            break;
        }
}

/// Cells of the kernel that meet no pixel of the image in any window.
std::int64_t blind_cells(const Window& window) {
    std::int64_t blind = 0;
    for (std::int64_t i = 0; i < window.cells; ++i) {
        // In the first window in which the cell is not before the image.
        const std::int64_t begin = i * window.dilation - window.before;
        const std::int64_t step = begin < 0 ? (-begin + window.stride - 1) / window.stride : 0;
        blind += step >= window.output || begin + step * window.stride >= window.input ? 1 : 0;
    }
    return blind;
}

void kernel_over_image(const LintSubject& subject, LintVoice& voice) {
    for (const LayerSpec& layer : subject.layers()) {
        if (!is_product(layer)) continue;
        for (const std::size_t axis : {0U, 1U}) {
            const auto window = window_of(subject, layer, axis);
            // Networks for larger images end so, whose kernels of three see one pixel.
            if (!window || window->cells <= 3) continue;
            if (2 * blind_cells(*window) < window->cells) continue;
            voice.say(layer.span,
                      fmt::format("the kernel of `{}` has {} cells {}, but its input only {} "
                                  "pixels: {} rows or columns of weights see nothing but padding",
                                  layer.name, window->reach(), axis == 0 ? "down" : "across",
                                  window->input, blind_cells(*window)),
                      "use a smaller kernel here, or fewer steps that shrink the image before");
            break;
        }
    }
}

void pooling_without_effect(const LintSubject& subject, LintVoice& voice) {
    for (const LayerSpec& layer : subject.layers()) {
        const Dims& input = subject.input_shape(layer);
        if (op(layer.type).family != Family::pooling || layer.shape != input) continue;
        const bool one_pixel = layer.axes == image_axes() && input[1] * input[2] == 1;
        const bool whole = !layer.fields.contains("kernel");
        const bool one_cell = part_of(layer, "kernel", 0) * part_of(layer, "kernel", 1) == 1;
        // A pool that makes one pixel of any image is right for images of one pixel, too.
        if (whole ? one_pixel : !one_pixel && !one_cell) continue;
        voice.say(layer.span,
                  fmt::format("`{}` changes nothing: {}", layer.name,
                              one_pixel                    ? "the image has one pixel already"
                              : whole                      ? "the image has that size already"
                              : layer.axes == image_axes() ? "its windows have one pixel each"
                                                           : "its windows have one step each"),
                  "leave it out");
    }
}

constexpr std::array kWindowRules = {
    LintRule{Code::stride_over_kernel, LintScope::model, stride_over_kernel},
    LintRule{Code::kernel_over_image, LintScope::model, kernel_over_image},
    LintRule{Code::pooling_without_effect, LintScope::model, pooling_without_effect},
};

}  // namespace

std::span<const LintRule> window_lints() {
    return kWindowRules;
}

}  // namespace dtnn::compiler
