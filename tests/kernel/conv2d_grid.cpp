#include <doctest/doctest.h>

#include <cmath>

#include "kernels/catalogue.hpp"
#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

struct Convolution {
    std::int64_t batch, channels, height, width, filters, kernel_height, kernel_width;
    std::vector<std::int64_t> stride{1, 1}, padding{0, 0, 0, 0}, dilation{1, 1};
    std::int64_t groups = 1;

    TensorType source() const { return tensor({batch, channels, height, width}); }
    TensorType weights() const {
        return {
            DType::f32, {filters, channels / groups, kernel_height, kernel_width}, {2, 3, 1, 0}};
    }
    TensorType result() const {
        const auto size = [&](std::int64_t length, std::int64_t kernel, std::size_t axis) {
            return (length + padding[2 * axis] + padding[2 * axis + 1] -
                    dilation[axis] * (kernel - 1) - 1) /
                       stride[axis] +
                   1;
        };
        return tensor(
            {batch, filters, size(height, kernel_height, 0), size(width, kernel_width, 1)});
    }
    Attributes attributes() const {
        return {
            {"stride", stride}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}};
    }
};

const std::vector<std::int64_t> kSame{1, 1, 1, 1};

std::vector<Convolution> convolutions() {
    return {
        // Layers of known networks.
        {2, 1, 28, 28, 4, 3, 3, {1, 1}, kSame},
        {3, 4, 28, 28, 8, 3, 3, {1, 1}, kSame},
        {2, 3, 16, 16, 64, 3, 3, {1, 1}, kSame},
        {2, 16, 16, 16, 16, 3, 3, {1, 1}, kSame},
        {2, 16, 16, 16, 32, 3, 3, {2, 2}, kSame},
        {2, 16, 16, 16, 32, 1, 1, {2, 2}},
        {2, 32, 9, 7, 48, 3, 3, {1, 1}, kSame},
        {2, 64, 12, 12, 64, 3, 3, {1, 1}, kSame},
        {2, 64, 8, 8, 64, 1, 1},
        {1, 3, 23, 23, 24, 11, 11, {4, 4}, {2, 2, 2, 2}},
        {2, 1, 12, 12, 8, 5, 5},
        // Small images in batches, where a tile is one cell of many images.
        {17, 40, 4, 4, 36, 3, 3, {1, 1}, kSame},
        {9, 64, 2, 2, 33, 3, 3, {1, 1}, kSame},
        {33, 64, 4, 4, 64, 3, 3, {1, 1}, kSame},
        {8, 16, 1, 1, 16, 3, 3, {1, 1}, kSame},
        {16, 24, 6, 3, 40, 5, 3, {1, 1}, {2, 2, 1, 1}},
        // Few filters of many channels, whole vectors of these and not; three vectors of filters,
        // one
        // more; more filters and channels than are taken at a time; a stem.
        {2, 48, 13, 11, 12, 3, 3, {1, 1}, kSame},
        {3, 40, 9, 7, 5, 3, 3, {2, 1}, kSame},
        {3, 33, 5, 6, 16, 3, 3, {1, 1}, kSame},
        {2, 84, 8, 8, 48, 1, 1},
        {2, 20, 6, 7, 144, 3, 1, {1, 1}, {1, 1, 0, 0}},
        {1, 20, 3, 3, 530, 1, 1},
        {1, 1025, 2, 3, 18, 1, 1},
        {2, 3, 33, 31, 20, 7, 7, {2, 2}, {3, 3, 3, 3}},
        {1, 96, 6, 6, 24, 3, 3, {1, 1}, kSame, {1, 1}, 2},
        // Winograd's: several blocks of tiles, filters that are transformed by every block, many
        // channels, three vectors of filters, tiles that end outside, uneven padding.
        {1, 40, 41, 37, 36, 3, 3, {1, 1}, kSame},
        {2, 130, 9, 10, 70, 3, 3, {1, 1}, {0, 1, 2, 1}},
        {1, 1025, 6, 7, 24, 3, 3, {1, 1}, kSame},
        {2, 33, 15, 8, 96, 3, 3, {1, 1}, kSame},
        {3, 96, 5, 11, 17, 3, 3, {1, 1}, {2, 0, 0, 1}},
        // Few channels whose rows are padded: strides of 2 in both directions and in one, vectors
        // of
        // filters that are full and that are half full, three channels for results of two pixels.
        {2, 3, 33, 30, 32, 3, 3, {2, 2}, kSame},
        {1, 3, 17, 16, 8, 3, 3, {2, 2}, {0, 1, 0, 1}},
        {2, 3, 21, 20, 4, 3, 3, {1, 1}, kSame},
        {1, 1, 20, 19, 16, 5, 5, {2, 2}, {2, 2, 2, 2}},
        {2, 4, 14, 15, 24, 3, 3, {1, 2}, {2, 0, 1, 2}},
        {2, 2, 13, 12, 16, 3, 3, {2, 1}, kSame},
        {1, 8, 9, 40, 8, 3, 3, {2, 2}, kSame},
        {1, 3, 40, 37, 64, 7, 7, {2, 2}, {3, 3, 3, 3}},
        // Odd sizes, strides, dilations, uneven padding, groups.
        {1, 64, 7, 9, 32, 3, 3, {1, 1}, {0, 1, 2, 1}},
        {1, 5, 7, 9, 11, 3, 3, {2, 1}, {0, 1, 2, 1}},
        {2, 7, 10, 11, 13, 2, 4, {1, 2}, {1, 0, 2, 3}, {2, 1}},
        {1, 3, 12, 12, 6, 3, 3, {3, 3}, {0, 0, 0, 0}, {2, 2}},
        {2, 8, 9, 9, 12, 3, 3, {1, 1}, kSame, {1, 1}, 4},
        {2, 32, 9, 9, 64, 3, 3, {1, 1}, {2, 2, 2, 2}, {2, 2}, 2},
        {2, 19, 9, 8, 19, 3, 3, {1, 1}, kSame, {1, 1}, 19},
        {2, 32, 9, 8, 32, 3, 3, {2, 2}, kSame, {1, 1}, 32},
        {2, 6, 8, 8, 12, 3, 3, {1, 1}, kSame, {1, 1}, 6},
        // One filter per channel: tiles and edges of every width, taps that miss the image.
        {2, 70, 9, 11, 70, 3, 3, {1, 1}, kSame, {1, 1}, 70},
        {1, 96, 14, 14, 96, 5, 5, {2, 2}, {1, 2, 1, 2}, {1, 1}, 96},
        {2, 33, 7, 7, 33, 7, 7, {1, 1}, {3, 3, 3, 3}, {1, 1}, 33},
        {1, 24, 10, 13, 24, 3, 2, {2, 3}, {0, 1, 1, 0}, {2, 2}, 24},
        {3, 17, 2, 3, 17, 5, 5, {1, 1}, {2, 2, 2, 2}, {1, 1}, 17},
        {2, 16, 9, 9, 16, 2, 2, {3, 3}, {0, 0, 0, 0}, {1, 1}, 16},
        // Bands of rows, of several samples, some channels at a time; windows that slide by one
        // and by two; rows of which some windows, or all, end outside.
        {3, 96, 15, 13, 96, 3, 3, {1, 1}, kSame, {1, 1}, 96},
        {2, 80, 9, 10, 80, 3, 3, {2, 2}, kSame, {1, 1}, 80},
        {1, 112, 12, 9, 112, 5, 5, {1, 1}, {2, 2, 2, 2}, {1, 1}, 112},
        {3, 65, 2, 7, 65, 3, 3, {1, 1}, kSame, {1, 1}, 65},
        {2, 48, 6, 2, 48, 5, 5, {1, 1}, {2, 2, 2, 2}, {1, 1}, 48},
        {1, 64, 11, 12, 64, 3, 3, {1, 2}, {2, 3, 0, 4}, {1, 1}, 64},
        {1, 64, 11, 12, 64, 3, 3, {1, 1}, {2, 2, 1, 1}, {2, 1}, 64},
        {2, 1024, 7, 7, 1024, 3, 3, {1, 1}, kSame, {1, 1}, 1024},
        // Gradients of stride 2, whose windows of cells spread: even and odd padding, dilated rows.
        {2, 72, 9, 46, 72, 5, 5, {2, 2}, {2, 2, 2, 2}, {1, 1}, 72},
        {1, 48, 20, 23, 48, 3, 3, {2, 2}, {0, 1, 0, 1}, {1, 1}, 48},
        {1, 64, 8, 39, 64, 3, 3, {1, 2}, {1, 1, 3, 2}, {1, 1}, 64},
        {3, 40, 26, 38, 40, 3, 3, {2, 2}, kSame, {1, 1}, 40},
        {1, 32, 9, 12, 32, 3, 3, {2, 2}, {2, 2, 1, 1}, {2, 1}, 32},
        // Several filters a channel.
        {2, 9, 7, 8, 27, 3, 3, {2, 1}, kSame, {1, 1}, 9},
        {1, 16, 8, 9, 64, 5, 3, {1, 2}, {2, 2, 1, 1}, {1, 1}, 16},
        // More padding than the kernel is wide, as zero_pad2d before a convolution becomes: windows
        // of zeros only.
        {2, 3, 5, 6, 16, 3, 3, {1, 1}, {4, 5, 6, 3}},
        {2, 40, 4, 4, 33, 3, 3, {2, 1}, {5, 3, 4, 7}},
        {1, 12, 4, 5, 8, 3, 2, {1, 3}, {9, 0, 0, 8}, {2, 1}, 4},
        {2, 24, 4, 5, 24, 3, 3, {1, 1}, {5, 4, 6, 3}, {1, 1}, 24},
        {1, 17, 5, 4, 34, 3, 3, {2, 3}, {7, 6, 5, 4}, {1, 1}, 17},
        // Few channels on both sides: planes by vectors of all widths and by elements, several
        // bands, the last of fewer rows, tiles of what is left, every number of filters and of
        // taps.
        {2, 8, 37, 21, 4, 3, 3, {1, 1}, kSame},
        {3, 16, 23, 29, 8, 5, 5, {1, 1}, {2, 2, 2, 2}},
        {2, 2, 65, 33, 2, 3, 4, {1, 1}, {1, 1, 0, 3}},
        {1, 5, 41, 19, 1, 7, 7, {1, 1}, {3, 3, 6, 0}},
        {2, 1, 130, 70, 1, 1, 5},
        {2, 4, 3, 5, 8, 2, 2, {1, 1}, {0, 1, 1, 0}},
        {1, 16, 9, 2, 1, 3, 1, {1, 1}, {2, 0, 0, 0}},
        {1, 1, 1, 1, 1, 1, 1},
        {1, 2, 5, 5, 3, 5, 5},
        {2, 4, 6, 6, 4, 1, 1, {3, 3}, kSame},
        {1, 8, 70, 6, 16, 3, 3, {1, 1}, kSame},
        {1, 64, 6, 6, 64, 3, 3, {1, 1}, {2, 2, 2, 2}},
        {1, 2, 9, 13, 4, 3, 3, {1, 1}, kSame},
        // Tiles for devices: dilated windows, strides in one direction, one image with more pixels
        // than the slices of a gradient have, pixels that end within a step and within a tile.
        {2, 16, 9, 11, 32, 3, 3, {1, 1}, {2, 2, 2, 2}, {2, 2}},
        {1, 48, 10, 7, 16, 3, 2, {2, 1}, {1, 0, 0, 1}},
        {1, 16, 67, 71, 16, 3, 3, {1, 1}, kSame},
        {5, 32, 5, 3, 16, 5, 5, {1, 2}, {2, 2, 2, 2}},
    };
}

/// Sources are uniform in [-1, 1). A sum of `terms` products that is added up in order has an error
/// of about terms/3 roundings; anything wrong is thousands of times as large.
Case with_tolerance(Problem problem, std::int64_t terms) {
    const double roundings = 16 + double(terms);
    return {.problem = std::move(problem),
            .f32_tolerance = 6e-8 * roundings,
            .f64_tolerance = 1.2e-16 * roundings};
}

/// The cases, and those of them again, with factors rounded to bfloat16, whose kernels do one group
/// and weights as they are.
std::vector<Case> with_rounded(std::vector<Case> cases) {
    const std::size_t count = cases.size();
    for (std::size_t i = 0; i < count; ++i) {
        const Attributes& attributes = cases[i].problem.attributes;
        const auto groups = attributes.find("groups");
        if (attributes.contains("packed")) continue;
        if (groups != attributes.end() && std::get<std::int64_t>(groups->second) != 1) continue;
        cases.push_back(cases[i]);
        cases.back().problem.attributes["bf16"] = true;
    }
    return cases;
}

/// One image, and few rows: what tiles of one, four and seven rows are for.
std::vector<Convolution> small_convolutions() {
    return {
        {1, 40, 7, 7, 96, 1, 1},
        {1, 24, 7, 7, 40, 3, 3, {1, 1}, kSame},
        {1, 33, 2, 2, 48, 3, 3, {1, 1}, kSame},
        {1, 20, 1, 1, 80, 1, 1},
        {3, 17, 7, 7, 5, 3, 3, {1, 1}, kSame},
        {1, 6, 1, 3, 12, 1, 2, {1, 2}, {0, 0, 1, 0}},
        {1, 64, 14, 14, 130, 1, 1},
    };
}

/// Widths of a block of the kernels of all instruction sets, in both types.
constexpr std::int64_t kBlocks[] = {2, 4, 8, 16, 24, 32, 48};

GRID(conv2d) {
    std::vector<Case> cases;
    std::vector<Convolution> packed = small_convolutions();
    for (const Convolution& c : convolutions())
        if (c.groups == 1) packed.push_back(c);
    for (const Convolution& c : packed) {
        const std::int64_t terms = c.weights().elements() / c.filters;
        for (const std::int64_t block : kBlocks) {
            const TensorType weights{DType::f32,
                                     {(c.filters + block - 1) / block, c.channels, c.kernel_height,
                                      c.kernel_width, block},
                                     {0, 2, 3, 1, 4}};
            Problem full =
                problem("conv2d", {c.source(), weights, row_major({c.filters}), c.result()},
                        {c.result()}, c.attributes());
            full.attributes["bias"] = true;
            full.attributes["residual"] = true;
            full.attributes["epilogue"] = std::string("relu");
            full.attributes["packed"] = std::vector<std::int64_t>{c.filters, block};
            cases.push_back(with_tolerance(full, terms));
            full.sources.pop_back();
            full.attributes["residual"] = false;
            full.attributes["epilogue"] = std::string("expression");
            full.attributes["expression"] = std::string("x0 x0 sigmoid mul");
            cases.push_back(with_tolerance(full, 2 * terms));
        }
    }
    std::vector<Convolution> plain = small_convolutions();
    for (const Convolution& c : convolutions())
        plain.push_back(c);
    for (const Convolution& c : plain) {
        const std::int64_t terms = c.weights().elements() / c.filters;
        cases.push_back(with_tolerance(
            problem("conv2d", {c.source(), c.weights()}, {c.result()}, c.attributes()), terms));
        Problem biased = problem("conv2d", {c.source(), c.weights(), row_major({c.filters})},
                                 {c.result()}, c.attributes());
        biased.attributes["bias"] = true;
        biased.attributes["epilogue"] = std::string("relu");
        cases.push_back(with_tolerance(biased, terms));
        Problem written = biased;
        written.attributes["epilogue"] = std::string("expression");
        written.attributes["expression"] = std::string("x0 sigmoid x0 mul x0 -1 max sub");
        cases.push_back(with_tolerance(written, 3 * terms));
        const TensorType statistics = row_major({3, c.filters}, DType::f64);
        Problem full = problem("conv2d", {c.source(), c.weights(), c.result()},
                               {c.result(), statistics}, c.attributes());
        full.attributes["residual"] = true;
        full.attributes["statistics"] = true;
        // The statistics add up the errors of all cells.
        Case item = with_tolerance(full, terms);
        const std::int64_t cells = c.result().elements() / c.filters;
        item.f32_tolerance *= 2 * std::sqrt(double(cells));
        item.f64_tolerance *= 2 * std::sqrt(double(cells));
        item.in_place = {{0, 2}};
        cases.push_back(item);
        // Sums of distances from the bias.
        biased.destinations.push_back(statistics);
        biased.attributes["statistics"] = true;
        biased.attributes.erase("epilogue");
        item.problem = biased;
        item.in_place = {};
        item.prepare = [](std::vector<Buffer>& buffers) {
            for (std::int64_t f = 0; f < buffers[2].tensor().elements(); ++f)
                buffers[2].set(f, double(f % 5));
        };
        cases.push_back(item);
    }
    return with_rounded(cases);
}

GRID(conv2d_backward_data) {
    std::vector<Case> cases;
    for (const Convolution& c : convolutions()) {
        const std::int64_t terms = c.weights().elements() * c.groups / c.channels;
        Problem plain = problem("conv2d_backward_data", {c.result(), c.weights()}, {c.source()},
                                c.attributes());
        plain.attributes["source_shape"] = c.source().dims;
        cases.push_back(with_tolerance(plain, terms));
        plain.sources.push_back(c.source());
        plain.attributes["mask"] = true;
        Case masked = with_tolerance(plain, terms);
        masked.in_place = {{0, 2}};
        cases.push_back(masked);
    }
    return with_rounded(cases);
}

GRID(conv2d_transpose) {
    std::vector<Case> cases;
    for (const Convolution& c : convolutions()) {
        const std::int64_t terms = c.weights().elements() * c.groups / c.channels;
        Problem plain =
            problem("conv2d_transpose", {c.result(), c.weights()}, {c.source()}, c.attributes());
        cases.push_back(with_tolerance(plain, terms));
        plain.sources.push_back(row_major({c.channels}));
        plain.attributes["bias"] = true;
        cases.push_back(with_tolerance(plain, terms));
        plain.attributes["epilogue"] = std::string("relu");
        cases.push_back(with_tolerance(plain, terms));
    }
    return with_rounded(cases);
}

GRID(conv2d_backward_weights) {
    std::vector<Case> cases;
    for (const Convolution& c : convolutions()) {
        const std::int64_t terms = c.result().elements() / c.filters;
        Problem plain = problem("conv2d_backward_weights", {c.source(), c.result()}, {c.weights()},
                                c.attributes());
        plain.attributes["kernel"] = std::vector<std::int64_t>{c.kernel_height, c.kernel_width};
        cases.push_back(with_tolerance(plain, terms));
        plain.destinations.push_back(row_major({c.filters}));
        plain.attributes["bias"] = true;
        cases.push_back(with_tolerance(plain, terms));
    }
    return with_rounded(cases);
}

struct Dense {
    TensorType source, weights;
    std::int64_t batch, units;
    std::ptrdiff_t leading = 1;  ///< axes of the rows
    TensorType result() const {
        Dims dims(source.dims.begin(), source.dims.begin() + leading);
        dims.push_back(units);
        return row_major(dims);
    }
    std::int64_t depth() const { return weights.elements() / units; }
};

std::vector<Dense> dense_layers() {
    std::vector<Dense> list;
    const std::vector<std::vector<std::int64_t>> sizes{{64, 128, 10},
                                                       {5, 784, 128},
                                                       {7, 33, 65},
                                                       {1, 1, 1},
                                                       {1, 300, 40},
                                                       {33, 10, 3},
                                                       {3, 64, 512},
                                                       // For "few_rows", in several stretches.
                                                       {1, 530, 2500},
                                                       {4, 67, 2051},
                                                       // Large enough for "blis", slabs uneven.
                                                       {17, 2100, 1030}};
    list.reserve(sizes.size());
    for (const auto& size : sizes) {
        list.push_back(
            {row_major({size[0], size[1]}), row_major({size[1], size[2]}), size[0], size[2]});
    }
    // One that absorbed a flatten: both operands keep their channels last.
    list.push_back({tensor({3, 5, 2, 4}), {DType::f32, {5, 2, 4, 20}, {1, 2, 0, 3}}, 3, 20});
    // Rows of several axes.
    list.push_back({row_major({2, 3, 33}), row_major({33, 7}), 6, 7, 2});
    list.push_back({row_major({1, 2, 1, 4, 10}), row_major({10, 17}), 8, 17, 4});
    return list;
}

GRID(dense) {
    std::vector<Case> cases;
    for (const Dense& d : dense_layers()) {
        for (const std::int64_t block : kBlocks) {
            TensorType weights = row_major({(d.units + block - 1) / block, d.depth(), block});
            if (d.weights.dims.size() == 4)
                weights = {DType::f32,
                           {weights.dims[0], d.weights.dims[0], d.weights.dims[1],
                            d.weights.dims[2], block},
                           {0, 2, 3, 1, 4}};
            Problem packed =
                problem("dense", {d.source, weights, row_major({d.units})}, {d.result()});
            packed.attributes["bias"] = true;
            packed.attributes["packed"] = std::vector<std::int64_t>{d.units, block};
            cases.push_back(with_tolerance(packed, d.depth()));
        }
        Problem plain = problem("dense", {d.source, d.weights}, {d.result()});
        cases.push_back(with_tolerance(plain, d.depth()));
        plain.sources.push_back(row_major({d.units}));
        plain.attributes["bias"] = true;
        plain.attributes["epilogue"] = std::string("relu");
        cases.push_back(with_tolerance(plain, d.depth()));
    }
    return with_rounded(cases);
}

GRID(dense_backward_data) {
    std::vector<Case> cases;
    for (const Dense& d : dense_layers()) {
        Problem plain = problem("dense_backward_data", {d.result(), d.weights}, {d.source});
        plain.attributes["source_shape"] = d.source.dims;
        cases.push_back(with_tolerance(plain, d.units));
        plain.sources.push_back(d.source);
        plain.attributes["mask"] = true;
        Case masked = with_tolerance(plain, d.units);
        masked.in_place = {{0, 2}};
        cases.push_back(masked);
    }
    return with_rounded(cases);
}

GRID(dense_backward_weights) {
    std::vector<Case> cases;
    for (const Dense& d : dense_layers()) {
        Problem plain = problem("dense_backward_weights", {d.source, d.result()}, {d.weights});
        plain.attributes["weights_shape"] = d.weights.dims;
        cases.push_back(with_tolerance(plain, d.batch));
        plain.destinations.push_back(row_major({d.units}));
        plain.attributes["bias"] = true;
        cases.push_back(with_tolerance(plain, d.batch));
    }
    return with_rounded(cases);
}

TEST_CASE("convolutions refuse images that are not stored channels last") {
    const KernelInfo* direct = find_kernel("conv2d", "direct");
    REQUIRE(direct != nullptr);
    const Convolution c{2, 3, 8, 8, 4, 3, 3};
    Problem rows = problem("conv2d", {row_major({2, 3, 8, 8}), c.weights()}, {c.result()});
    const auto reason = refusal(*direct, rows);
    REQUIRE(reason.has_value());
    CHECK(reason->find("channels last") != std::string::npos);
    // One channel lies the same in any order.
    const Convolution grey{2, 1, 8, 8, 4, 3, 3};
    Problem single = problem("conv2d", {row_major({2, 1, 8, 8}), grey.weights()}, {grey.result()});
    CHECK(!refusal(*direct, single).has_value());
}

TEST_CASE("the reference convolution takes any order") {
    const Convolution c{2, 3, 6, 5, 4, 3, 3, {2, 1}, kSame};
    Problem last = problem("conv2d", {c.source(), c.weights()}, {c.result()}, c.attributes());
    Problem first = last;
    for (TensorType& desc : first.sources)
        desc.order = {};
    for (TensorType& desc : first.destinations)
        desc.order = {};
    const auto run = [](const Problem& p, std::vector<Buffer>& sources) {
        std::vector<Buffer> results;
        results.emplace_back(p.destinations[0]);
        run_reference(p, sources, results);
        return results;
    };
    std::vector<Buffer> a;
    std::vector<Buffer> b;
    for (std::size_t i = 0; i < 2; ++i) {
        a.emplace_back(last.sources[i]);
        b.emplace_back(first.sources[i]);
        const Dims& d = last.sources[i].dims;
        const bool weights = i == 1;
        for (std::int64_t e = 0; e < last.sources[i].elements(); ++e) {
            const std::int64_t w = e % d[3], h = e / d[3] % d[2], k = e / (d[3] * d[2]) % d[1];
            const std::int64_t n = e / (d[3] * d[2] * d[1]);
            const double value = noise(i, std::uint64_t(e)) - 0.5;
            b[i].set(e, value);
            a[i].set(weights ? ((h * d[3] + w) * d[1] + k) * d[0] + n
                             : ((n * d[2] + h) * d[3] + w) * d[1] + k,
                     value);
        }
    }
    const auto expected = run(last, a);
    const auto actual = run(first, b);
    const Dims& d = last.destinations[0].dims;
    for (std::int64_t e = 0; e < last.destinations[0].elements(); ++e) {
        const std::int64_t w = e % d[3], h = e / d[3] % d[2], k = e / (d[3] * d[2]) % d[1];
        const std::int64_t n = e / (d[3] * d[2] * d[1]);
        CHECK(actual[0].get(e) == expected[0].get(((n * d[2] + h) * d[3] + w) * d[1] + k));
    }
}

}  // namespace
}  // namespace dtnn::kernels::conformance
