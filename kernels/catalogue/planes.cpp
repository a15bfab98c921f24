/// Refusals and needs of the "planes" kernels, and where they are expected to pay.

#include "kernels/workspace/planes.hpp"

#include <algorithm>

#include "kernels/catalogue.hpp"
#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels {
namespace {

constexpr std::int64_t kVectorBytes = PlanesOuterWorkspace::kVectorBytes;

/// The reason why a shape suits neither forward nor backward; null: it does.
const char* unsuited(const ConvShape& s, std::int64_t depth, std::int64_t width) {
    if (const char* refusal = rows_refusal(s)) return refusal;
    if (s.stride_height != 1 || s.stride_width != 1) return "it has only stride 1";
    if (s.pad_top >= s.kernel_height || s.pad_left >= s.kernel_width)
        return "the padding is as wide as the kernel";
    if (depth > PlanesWorkspace::kMostDepth) return "it sums over at most 16 channels";
    if (width != 1 && width != 2 && width != 4 && width != 8)
        return "its results have 1, 2, 4 or 8 channels";
    return nullptr;
}

/// Elements from one row of a plane to the next: what is right of one row is left of the next.
std::int64_t plane_columns(const ConvShape& s, std::int64_t source_width, std::int64_t out_width,
                           std::int64_t pad_left) {
    const std::int64_t pad_right = out_width + s.kernel_width - 1 - source_width - pad_left;
    return source_width + std::max(pad_left, pad_right);
}

/// Output rows of a band, about as many in each: `row_bytes` of source and result together.
std::int64_t even_band(std::int64_t row_bytes, std::int64_t kernel_height, std::int64_t rows) {
    const std::int64_t fitting =
        std::max(PlanesWorkspace::kBandBytes / row_bytes - (kernel_height - 1), std::int64_t{4});
    const std::int64_t bands = (rows + fitting - 1) / fitting;
    return (rows + bands - 1) / bands;
}

/// The elements of a plane of the source: a band's last vector reads past its rows.
std::int64_t plane_elements(const ConvShape& s, std::int64_t band, std::int64_t columns,
                            std::int64_t element_bytes) {
    const std::int64_t lanes = kVectorBytes / element_bytes;
    return round_up((band + s.kernel_height - 1) * columns + s.kernel_width + lanes, lanes);
}

}  // namespace

PlanesWorkspace::PlanesWorkspace(const ConvShape& shape, std::int64_t depth, std::int64_t width,
                                 std::int64_t source_width, std::int64_t out_height,
                                 std::int64_t out_width, std::int64_t pad_left,
                                 std::int64_t element_bytes, int threads) {
    refusal = unsuited(shape, depth, width);
    if (refusal) return;
    columns = plane_columns(shape, source_width, out_width, pad_left);
    band = even_band((depth + width) * columns * element_bytes, shape.kernel_height, out_height);
    source = plane_elements(shape, band, columns, element_bytes);
    results = depth * source * element_bytes;
    const std::int64_t cells = round_up(band * columns, kVectorBytes / element_bytes);
    statistics = results + cells * width * element_bytes;
    bytes_per_thread = statistics + round_up(2 * width * 8, 64);
    weights = threads * bytes_per_thread;
    bias = weights + round_up(shape.taps() * depth * width * element_bytes, 64);
    bytes = bias + round_up(width * element_bytes, 64);
}

PlanesOuterWorkspace::PlanesOuterWorkspace(const ConvShape& shape, std::int64_t element_bytes,
                                           int threads) {
    refusal = unsuited(shape, shape.channels, shape.filters);
    if (refusal) return;
    columns = plane_columns(shape, shape.width, shape.out_width, shape.pad_left);
    band = even_band((shape.channels + shape.filters) * columns * element_bytes,
                     shape.kernel_height, shape.out_height);
    const std::int64_t lanes = kVectorBytes / element_bytes;
    source = plane_elements(shape, band, columns, element_bytes);
    gradient = round_up(band * columns + lanes, lanes);
    gradients = shape.channels * source * element_bytes;
    sums = gradients + shape.filters * gradient * element_bytes;
    bias = sums + shape.weight_elements() * kVectorBytes;
    bytes_per_thread = bias + shape.filters * lanes * 8;
    bytes = threads * bytes_per_thread;
}

namespace predicates {
namespace {

/// Calls visit with the workspace for what the problem makes.
template <class Visit>
auto of_planes(const Problem& problem, const Visit& visit) {
    const ConvShape s = conv_shape(problem);
    const std::int64_t bytes = element_bytes(problem);
    const int threads = problem.threads;
    switch (side_of(problem)) {
        case ProductSide::backward_data:
            return visit(PlanesWorkspace::backward(s, bytes, threads));
        case ProductSide::backward_weights:
            return visit(PlanesOuterWorkspace(s, bytes, threads));
        case ProductSide::forward:
            break;
    }
    return visit(PlanesWorkspace::forward(s, bytes, threads));
}

}  // namespace

Refused unless_planes_suit(const Problem& problem) {
    if (auto reason = unless_convolution_is_channels_last(problem)) return reason;
    const char* refusal = of_planes(problem, [](const auto& planes) { return planes.refusal; });
    return refusal ? Refused(refusal) : std::nullopt;
}

Refused planes_slower(const Problem& problem) {
    const ConvShape s = conv_shape(problem);
    const ProductSide side = side_of(problem);
    // Sums are read and written by every band.
    if (side == ProductSide::backward_weights && s.out_height * s.out_width < 128)
        return "it pays from 128 results of an image on";
    const std::int64_t width = side == ProductSide::backward_data ? s.channels : s.filters;
    if (width * element_bytes(problem) < vector_bytes(problem)) return std::nullopt;
    return "results that fill a vector need no planes";
}

std::int64_t planes_workspace(const Problem& problem) {
    return of_planes(problem, [](const auto& planes) { return planes.bytes; });
}

}  // namespace predicates
}  // namespace dtnn::kernels
