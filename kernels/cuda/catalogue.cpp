/// The kernels for CUDA devices as data: why they refuse problems, and their workspaces.

#include "kernels/cuda/catalogue.hpp"

#include <algorithm>

#include "kernels/arguments/attention.hpp"
#include "kernels/arguments/conv2d.hpp"
#include "kernels/arguments/elementwise.hpp"
#include "kernels/catalogue/precisions.hpp"
#include "kernels/catalogue/predicates.hpp"
#include "kernels/cuda/chunks.hpp"
#include "kernels/cuda/conv_columns.hpp"
#include "kernels/cuda/conv_scratch.hpp"
#include "kernels/cuda/conv_tiles.hpp"
#include "kernels/cuda/expression_stack.hpp"
#include "kernels/cuda/head_tile.hpp"
#include "kernels/layout.hpp"
#include "kernels/workspace/ctc.hpp"

namespace dtnn::kernels {
namespace predicates {
namespace {

/// Batch norm sums its source itself, as that saves a launch (plan::DeviceTraits).
Refused unless_it_sums_nothing(const Problem& problem) {
    if (problem.flag("statistics")) return "batch norm reads what it sums itself";
    return std::nullopt;
}

Refused unless_device_product(const Problem& problem) {
    if (auto reason = unless_weights_are_plain(problem)) return reason;
    return unless_it_sums_nothing(problem);
}

Refused unless_device_batch_norm(const Problem& problem) {
    if (auto reason = unless_channels_are_dense(problem)) return reason;
    if (has_written_epilogue(problem)) return "its end is an expression";
    return problem.flag("synchronised") ? std::nullopt : unless_it_sums_nothing(problem);
}

/// Images lie N,H,W,C, and filters F,KH,KW,C/groups: what tensor cores are fed with. Other images
/// of a convolution lie as its result does.
Refused unless_images_and_filters_suit_device(const Problem& problem) {
    if (auto reason = unless_device_product(problem)) return reason;
    const ConvOperands operands = conv_operands(problem);
    for (const TensorType* tensor : {operands.image, operands.weights, operands.result})
        if (!is_stored_last(axis_of(problem), *tensor))
            return "an image or its filters are not stored channels last";
    return std::nullopt;
}

/// Convolutions of few channels, and the gradients of their sources where those are one.
Refused unless_tiles_suit(const Problem& problem) {
    if (auto reason = unless_images_and_filters_suit_device(problem)) return reason;
    if (problem.flag("tf32")) return "its products may be rounded, which libraries do faster";
    const ConvShape shape = conv_shape(problem);
    if (!cuda::suits_tiles(shape)) return "its channels or filters are not 16, 32, 48 or 64";
    if (side_of(problem) == ProductSide::backward_data &&
        (shape.stride_height != 1 || shape.stride_width != 1))
        return "it has only stride 1";
    return std::nullopt;
}

/// The sums of chunks of the gradient of the bias.
std::int64_t device_bias_sums(const Problem& problem) {
    if (side_of(problem) != ProductSide::backward_weights) return 0;
    const ConvShape shape = product_shape(problem);
    if (shape.filters == 0) return 0;
    return cuda::bias_sums_bytes(problem.flag("bias"), shape.out_pixels(), shape.filters);
}

/// The sums of slices of the pixels, and those of chunks.
std::int64_t device_tiles(const Problem& problem) {
    return cuda::library_bytes(cuda::tile_bytes(conv_shape(problem))) + device_bias_sums(problem);
}

/// Of the sums of products of 16 bits, where a library gives them as floats to a kernel of our own,
/// which does with them what the library cannot.
std::int64_t unrounded_bytes(const Problem& problem) {
    if (!is_reduced(problem.dtype) || side_of(problem) == ProductSide::backward_weights) return 0;
    const bool ends = problem.sources.size() > 2 || ends_in_relu(problem);
    return ends ? cuda::whole_steps(problem.destinations[0].elements() * 4) : 0;
}

/// The engines of cuDNN that need more are not chosen. Those that add floats as floats work on
/// images stored N,C,H,W, so there is room for a copy of every operand and a little more, within
/// bounds. Behind it our own sums (kernels/cuda/conv_scratch.hpp).
std::int64_t cudnn_workspace(const Problem& problem) {
    constexpr std::int64_t kMore = std::int64_t{1} << 20, kMost = std::int64_t{1} << 31;
    std::int64_t copies = kMore;
    for (const TensorType* tensor :
         {&problem.sources[0], &problem.sources[1], &problem.destinations[0]})
        copies += tensor->bytes();
    copies += unrounded_bytes(problem);
    const ConvShape shape = product_shape(problem);
    if (cuda::is_pointwise(shape)) copies += cuda::kCublasRoom;
    const std::size_t value = std::size_t(size_of(problem.dtype));
    if (side_of(problem) == ProductSide::backward_weights)
        if (const auto columns = cuda::column_room(shape, value, kMost); columns.rows > 0)
            copies += columns.bytes + cuda::kCublasRoom;
    return cuda::library_bytes(std::min(copies, kMost)) + device_bias_sums(problem);
}

/// Our own sums lie behind what cuBLAS may use.
std::int64_t cublas_workspace(const Problem& problem) {
    return cuda::library_bytes(cuda::kCublasRoom + unrounded_bytes(problem)) +
           device_bias_sums(problem);
}

/// A thread keeps the stack of an expression in registers, or in memory of its own.
Refused unless_stack_fits_registers(const Problem& problem) {
    return unless_stack_suffices(problem, cuda::kShallowStack);
}
Refused unless_stack_fits_thread(const Problem& problem) {
    return unless_stack_suffices(problem, cuda::kDeepStack);
}

/// A double for each chunk of the first source.
std::int64_t device_sums(const Problem& problem) {
    return cuda::chunk_sums_of(problem.sources[0].elements()) * 8;
}

/// One for every number that is made and chunk of its elements.
std::int64_t device_elementwise_sums(const Problem& problem) {
    const std::int64_t numbers = problem.destinations[0].elements();
    if (numbers == 0) return 0;
    return cuda::column_sums_of(1, 1, problem.sources[0].elements() / numbers, numbers) * 8;
}

/// Two doubles for each chunk of the first source, behind a few numbers of one step.
std::int64_t device_sums_of_update(const Problem& problem) {
    constexpr std::int64_t kNumbers = 64;
    return 2 * device_sums(problem) + kNumbers;
}

/// A sum for every channel of every sample and chunk of its pixels.
std::int64_t device_planes(const Problem& problem) {
    const ImageLayout image = sample_layout(problem.sources[0], axis_of(problem)).value();
    return cuda::column_sums_of(1, image.batch, image.height * image.width, image.channels) * 8;
}

/// A sum for every line along the axis of the first source and chunk of its elements.
std::int64_t device_lines(const Problem& problem) {
    const AxisView view = views_of(axis_of(problem), problem.sources[0])[0];
    return cuda::column_sums_of(1, view.outer, view.extent, view.inner) * 8;
}

/// Two doubles of every channel, and two sums of the chunks of its pixels.
std::int64_t device_batch_norm(const Problem& problem) {
    const std::int64_t channels = problem.sources[0].dims[axis_of(problem).first];
    if (channels == 0) return 0;
    const std::int64_t pixels = problem.sources[0].elements() / channels;
    return (cuda::kBatchNormNumbers * channels + cuda::column_sums_of(2, 1, pixels, channels)) * 8;
}

/// Two sums of every channel and of every group of a sample, and those of chunks of whatever is
/// summed by column.
std::int64_t norm_sums(std::int64_t samples, std::int64_t channels, std::int64_t elements,
                       std::int64_t groups) {
    if (elements == 0) return 0;
    const std::int64_t pixels = elements / (samples * channels);
    const std::int64_t of_chunks =
        std::max({cuda::column_sums_of(2, samples, pixels, channels),
                  cuda::column_sums_of(2, 1, samples, channels),
                  cuda::column_sums_of(2, 1, samples, pixels * channels),
                  cuda::column_sums_of(2, 1, samples * pixels, channels)});
    return (2 * samples * (channels + groups) + of_chunks) * 8;
}

std::int64_t device_norm(const Problem& problem) {
    const TensorType& src = problem.sources[0];
    return norm_sums(src.dims[0], src.dims[axis_of(problem).first], src.elements(),
                     problem.integer("groups", 1));
}

std::int64_t device_layer_norm(const Problem& problem) {
    const TensorType& src = problem.sources[0];
    const AxisRange axes = normalised_axes(problem);
    if (problem.integers("axes").empty())
        return norm_sums(src.dims[0], src.dims[1], src.elements(), 1);
    return norm_sums(views_of(axes, src)[0].lines(), src.dims[axes.first], src.elements(), 1);
}

/// A double for every query of every head.
std::int64_t device_queries(const Problem& problem) {
    const AttentionSizes sizes(problem);
    return sizes.batch * sizes.heads * sizes.queries * 8;
}

/// A double for every unit of every sample: the weights have a row for each.
std::int64_t device_states(const Problem& problem) {
    std::int64_t units = 0;
    for (const TensorType& source : problem.sources)
        if (source.dims.size() == 2) units = source.dims[0];
    return problem.sources[0].dims[0] * units * 8;
}

/// A thread of a group has some of a head's numbers.
Refused unless_head_fits_group(const Problem& problem) {
    if (AttentionSizes(problem).width <= cuda::kWidestHead) return std::nullopt;
    return "its heads are wider than " + std::to_string(cuda::kWidestHead);
}

/// A number for every element.
std::int64_t device_elements(const Problem& problem) {
    return problem.sources[0].bytes();
}

/// Two for each chunk of the first source.
std::int64_t device_pairs_of_sums(const Problem& problem) {
    return 2 * device_sums(problem);
}

/// A double for each row, and for each chunk of rows.
std::int64_t device_rows(const Problem& problem) {
    const std::int64_t rows = class_rows(problem, problem.sources[0]).rows;
    return (rows + cuda::chunk_sums_of(rows)) * 8;
}

std::int64_t device_pairs_of_rows(const Problem& problem) {
    return 2 * device_rows(problem);
}

/// One, and one for each chunk of rows.
std::int64_t device_divisor(const Problem& problem) {
    return (1 + cuda::chunk_sums_of(class_rows(problem, problem.sources[0]).rows)) * 8;
}

/// Two doubles for every group, and the sums of chunks of pixels or of groups.
std::int64_t device_dice(const Problem& problem) {
    const auto [rows, classes] = class_rows(problem, problem.sources[0]);
    const std::int64_t pixels = problem.integer("pixels");
    if (rows == 0) return 0;
    const std::int64_t sets = pixels == 0 ? rows : rows / pixels;
    const std::int64_t groups = pixels == 0 ? rows : sets * classes;
    const std::int64_t of_pixels = pixels == 0 ? cuda::column_sums_of(2, sets, classes, 1)
                                               : cuda::column_sums_of(2, sets, pixels, classes);
    return (2 * groups + std::max(of_pixels, cuda::chunk_sums_of(groups))) * 8;
}

/// The rows of paths of every sample, a double for each, and for each chunk of samples.
std::int64_t device_ctc(const Problem& problem) {
    const auto [samples, room] = label_sequences(problem);
    return (samples * (ctc_device_rows(room) + 1) + cuda::chunk_sums_of(samples)) * 8;
}

std::int64_t device_ctc_backward(const Problem& problem) {
    const auto [samples, room] = label_sequences(problem);
    return samples * ctc_device_backward_rows(room, problem.integer("steps")) * 8;
}

/// A double for each sample and for each chunk of samples; a class of each step, and the changes of
/// each sample.
std::int64_t device_label_error(const Problem& problem) {
    const auto [samples, room] = label_sequences(problem);
    return (samples + cuda::chunk_sums_of(samples)) * 8 +
           samples * (problem.integer("steps") * 4 + label_changes(room));
}

/// Four for every class and chunk of rows.
std::int64_t device_label_counts(const Problem& problem) {
    const auto [rows, classes] = class_rows(problem, problem.sources[0]);
    if (rows == 0) return 0;
    return cuda::column_sums_of(4, 1, rows, classes) * 8;
}

}  // namespace
}  // namespace predicates

namespace cuda {
namespace {

constexpr KernelInfo kCatalogue[] = {
#define DEVICE_KERNEL(op, name, dtypes, library, refuses, workspace, joins) \
    {#op,                                                                   \
     #name,                                                                 \
     "cuda",                                                                \
     precisions::dtypes.f32,                                                \
     precisions::dtypes.f64,                                                \
     precisions::dtypes.reduced,                                            \
     library,                                                               \
     Isa::baseline,                                                         \
     &predicates::refuses,                                                  \
     &predicates::workspace,                                                \
     precisions::dtypes.transforms,                                         \
     precisions::dtypes.blis,                                               \
     precisions::dtypes.rounds,                                             \
     joins,                                                                 \
     precisions::dtypes.terms,                                              \
     nullptr},
#define KERNEL(op, name, Arguments, dtypes, refuses, workspace) \
    DEVICE_KERNEL(op, name, dtypes, false, refuses, workspace, false)
#define JOINED(op, name, Arguments, dtypes) \
    DEVICE_KERNEL(op, name, dtypes, false, nothing, none, true)
#define LIBRARY(op, name, Arguments, dtypes, refuses, workspace) \
    DEVICE_KERNEL(op, name, dtypes, true, refuses, workspace, false)
#include "kernels/cuda/catalogue.def"
#undef KERNEL
#undef JOINED
#undef LIBRARY
#undef DEVICE_KERNEL
};

}  // namespace

std::span<const KernelInfo> catalogue() {
    return kCatalogue;
}

}  // namespace cuda
}  // namespace dtnn::kernels
