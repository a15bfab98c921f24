/// Convolutions in float of few channels, where cuDNN has no fast engine that adds floats as
/// floats: a product of matrices whose columns are made as they are read (Chetlur and others,
/// "cuDNN: Efficient Primitives for Deep Learning", 2014, section 3). A group of threads has a tile
/// of pixels and filters; a step of it is sixteen channels of a tap.

#include "kernels/cuda/conv_terms.hpp"
#include "kernels/cuda/conv_tiles.hpp"
#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

constexpr int kQuad = 4;                            ///< numbers that one access moves
constexpr int kQuads = int(kTileChannels) / kQuad;  ///< of a step
constexpr int kPixelsOfThread = 4, kFiltersOfThread = 4;

using Quad = Pack<float, kQuad>;

DTNN_DEVICE void clear(Quad& quad) {
    for (float& number : quad.of)
        number = 0;
}

/// An axis of the windows: a result's cell `to` has, of tap k, the source's cell
/// to * stride + origin + k * tap.
struct TileAxis {
    int extent;  ///< the source's
    int stride, origin, tap;
};

/// What is convolved: the forward convolution, or the gradient of its source, which is one too
/// where the stride is 1. "Source" and "result" are of that.
struct TiledConvolution {
    const float* source;   ///< [n, rows.extent, columns.extent, depth]
    const float* weights;  ///< of filter j, tap t and channel d at j * of_filter + t * of_tap + d *
                           ///< of_channel
    float* result;         ///< [pixels, filters]
    int depth, filters;
    int pixels;
    TileAxis rows, columns;
    int of_filter, of_tap, of_channel;
    Divider result_width, result_height, kernel_width, chunks;
    int taps;
    Epilogue<float> epilogue;
};

/// A tile has FilterThreads x 4 filters, and as many pixels as the other threads have by fours.
template <int FilterThreads>
struct ConvTile {
    static constexpr int kPixelThreads = kThreads / FilterThreads;
    static constexpr int kPixels = kPixelThreads * kPixelsOfThread;
    static constexpr int kFilters = FilterThreads * kFiltersOfThread;
    static constexpr int kRowsAtOnce = kThreads / kQuads;
    static constexpr int kFetches = kPixels / kRowsAtOnce;  ///< quads of pixels that a thread reads
    static_assert(kFetches >= 1 && kFilters <= kRowsAtOnce);

    /// A row more at its end lets the quads that are written at the same time lie in other banks.
    struct Shared {
        Quad pixels[kQuads][kPixels + 2];
        Quad filters[kQuads][kFilters + 2];
    };
    struct Own {
        float sums[kPixelsOfThread][kFiltersOfThread];
        int place[kFetches];  ///< of the cell under tap 0; counts where `row` and `column` are
                              ///< inside
        int row[kFetches], column[kFetches];
        int first_pixel, first_filter;
        Quad pixels[kFetches], filter;  ///< what was fetched
    };

    TiledConvolution c;
    Divider filter_tiles;

    DTNN_DEVICE std::int64_t steps() const { return std::int64_t(c.taps) * c.chunks.by(); }

    DTNN_DEVICE void begin(std::int64_t group, int thread, Own& own) const {
        const int tile = int(filter_tiles.quotient(group));
        own.first_pixel = tile * kPixels;
        own.first_filter = int(group - tile * filter_tiles.by()) * kFilters;
        for (int i = 0; i < kFetches; ++i) {
            const int pixel = own.first_pixel + thread / kQuads + i * kRowsAtOnce;
            const int line = int(c.result_width.quotient(pixel));
            const int n = int(c.result_height.quotient(line));
            const int y = line - n * int(c.result_height.by());
            const int x = pixel - line * int(c.result_width.by());
            const int row = y * c.rows.stride + c.rows.origin;
            const int column = x * c.columns.stride + c.columns.origin;
            const bool there = pixel < c.pixels;
            own.row[i] = there ? row : kNowhere;
            own.column[i] = column;
            own.place[i] =
                there ? ((n * c.rows.extent + row) * c.columns.extent + column) * c.depth : 0;
        }
        for (auto& of_pixel : own.sums)
            for (float& sum : of_pixel)
                sum = 0;
    }

    DTNN_DEVICE void fetch(std::int64_t step, int thread, Own& own) const {
        const int tap = int(c.chunks.quotient(step));
        const int kh = int(c.kernel_width.quotient(tap));
        const int kw = tap - kh * int(c.kernel_width.by());
        const int channel =
            int(step - tap * c.chunks.by()) * int(kTileChannels) + thread % kQuads * kQuad;
        const int down = kh * c.rows.tap, right = kw * c.columns.tap;
        const int further = (down * c.columns.extent + right) * c.depth + channel;
        for (int i = 0; i < kFetches; ++i) {
            const bool inside = unsigned(own.row[i] + down) < unsigned(c.rows.extent) &&
                                unsigned(own.column[i] + right) < unsigned(c.columns.extent);
            if (inside) {
                own.pixels[i] = pack_at<float, kQuad>(c.source + own.place[i] + further);
            } else {
                clear(own.pixels[i]);
            }
        }
        if (thread / kQuads >= kFilters) return;
        const int filter = own.first_filter + thread / kQuads;
        const float* const weights =
            c.weights + filter * c.of_filter + tap * c.of_tap + channel * c.of_channel;
        if (c.of_channel == 1) {
            own.filter = pack_at<float, kQuad>(weights);
        } else {
            for (int k = 0; k < kQuad; ++k)
                own.filter.of[k] = weights[k * c.of_channel];
        }
    }

    DTNN_DEVICE void put(int thread, const Own& own, Shared& shared) const {
        const int quad = thread % kQuads, row = thread / kQuads;
        for (int i = 0; i < kFetches; ++i)
            shared.pixels[quad][row + i * kRowsAtOnce] = own.pixels[i];
        if (row < kFilters) shared.filters[quad][row] = own.filter;
    }

    DTNN_DEVICE void add(int thread, const Shared& shared, Own& own) const {
        const int of_filters = thread % FilterThreads, of_pixels = thread / FilterThreads;
        for (int quad = 0; quad < kQuads; ++quad) {
            Quad pixels[kPixelsOfThread], filters[kFiltersOfThread];
            for (int i = 0; i < kPixelsOfThread; ++i)
                pixels[i] = shared.pixels[quad][of_pixels + i * kPixelThreads];
            for (int j = 0; j < kFiltersOfThread; ++j)
                filters[j] = shared.filters[quad][of_filters + j * FilterThreads];
            for (int k = 0; k < kQuad; ++k)
                for (int i = 0; i < kPixelsOfThread; ++i)
                    for (int j = 0; j < kFiltersOfThread; ++j)
                        own.sums[i][j] += pixels[i].of[k] * filters[j].of[k];
        }
    }

    DTNN_DEVICE void end(std::int64_t, int thread, const Own& own) const {
        for (int i = 0; i < kPixelsOfThread; ++i) {
            const int pixel = own.first_pixel + thread / FilterThreads + i * kPixelThreads;
            if (pixel >= c.pixels) continue;
            for (int j = 0; j < kFiltersOfThread; ++j) {
                const int filter = own.first_filter + thread % FilterThreads + j * FilterThreads;
                const std::int64_t cell = std::int64_t(pixel) * c.filters + filter;
                c.result[cell] = c.epilogue(own.sums[i][j], filter, cell);
            }
        }
    }

  private:
    static constexpr int kNowhere = -(1 << 30);  ///< a row that no tap brings into an image
};

template <int FilterThreads>
void run_tiles(const Launch& launch, const TiledConvolution& c) {
    using Tile = ConvTile<FilterThreads>;
    const std::int64_t across = c.filters / Tile::kFilters;
    const std::int64_t along = (c.pixels + Tile::kPixels - 1) / Tile::kPixels;
    launch.steps(along * across, Tile{c, Divider(across)});
}

void run_tiles(const Launch& launch, const TiledConvolution& c) {
    if (c.pixels == 0) return;
    switch (tile_filters(c.filters)) {
        case 64:
            return run_tiles<16>(launch, c);
        case 32:
            return run_tiles<8>(launch, c);
        default:
            return run_tiles<4>(launch, c);
    }
}

/// The gradient of the weights of a slice of the pixels: weight i of filter f is
/// sums[(slice * filters + f) * weights + i], in the order of taps and channels.
struct SlicedGradient {
    const float* source;
    const float* gradient;  ///< of the result
    float* sums;
    int channels, filters, weights;
    int pixels, of_slice;
    int height, width;
    TileAxis rows, columns;
    Divider result_width, result_height, kernel_width, channel_count;
};

/// A tile has FilterThreads x 4 filters, and of their weights as many as the other threads have by
/// fours; a step is kTilePixels of the slice.
template <int FilterThreads>
struct GradientTile {
    static constexpr int kWeightThreads = kThreads / FilterThreads;
    static constexpr int kFilters = FilterThreads * kQuad, kWeights = kWeightThreads * kQuad;
    static constexpr int kPixels = int(kTilePixels);
    static constexpr int kPixelsAtOnce = kThreads / kWeightThreads;
    static constexpr int kFetches = kPixels / kPixelsAtOnce;
    static_assert(kFetches >= 1 && kPixels * FilterThreads <= kThreads &&
                  kFilters * kWeights == kTileWeights);

    struct Shared {
        Quad source[kPixels][kWeightThreads];
        Quad gradient[kPixels][FilterThreads];
    };
    struct Own {
        float sums[kQuad][kQuad];                   ///< of filter and weight
        int n[kFetches], y[kFetches], x[kFetches];  ///< the next pixels
        int down, right, channel;                   ///< of this thread's weights
        int first_filter, first_weight, slice;
        Quad source[kFetches], gradient;
    };

    SlicedGradient g;
    Divider tiles, filter_tiles;
    std::int64_t count;  ///< steps of a slice

    DTNN_DEVICE std::int64_t steps() const { return count; }

    DTNN_DEVICE void begin(std::int64_t group, int thread, Own& own) const {
        own.slice = int(tiles.quotient(group));
        const int tile = int(group - own.slice * tiles.by());
        const int down = int(filter_tiles.quotient(tile));
        own.first_filter = (tile - down * int(filter_tiles.by())) * kFilters;
        own.first_weight = down * kWeights;
        const int weight = own.first_weight + thread % kWeightThreads * kQuad;
        const int tap = int(g.channel_count.quotient(weight));
        const int kh = int(g.kernel_width.quotient(tap));
        own.channel = weight < g.weights ? weight - tap * g.channels : -1;
        own.down = kh * g.rows.tap + g.rows.origin;
        own.right = (tap - kh * int(g.kernel_width.by())) * g.columns.tap + g.columns.origin;
        for (int i = 0; i < kFetches; ++i) {
            const int pixel = own.slice * g.of_slice + thread / kWeightThreads + i * kPixelsAtOnce;
            const int line = int(g.result_width.quotient(pixel));
            own.n[i] = int(g.result_height.quotient(line));
            own.y[i] = line - own.n[i] * g.height;
            own.x[i] = pixel - line * g.width;
        }
        for (auto& of_filter : own.sums)
            for (float& sum : of_filter)
                sum = 0;
    }

    DTNN_DEVICE void fetch(std::int64_t step, int thread, Own& own) const {
        const int first = own.slice * g.of_slice + int(step) * kPixels;
        for (int i = 0; i < kFetches; ++i) {
            const int row = own.y[i] * g.rows.stride + own.down;
            const int column = own.x[i] * g.columns.stride + own.right;
            const bool inside = first + thread / kWeightThreads + i * kPixelsAtOnce < g.pixels &&
                                own.channel >= 0 && unsigned(row) < unsigned(g.rows.extent) &&
                                unsigned(column) < unsigned(g.columns.extent);
            if (inside) {
                const int cell = (own.n[i] * g.rows.extent + row) * g.columns.extent + column;
                own.source[i] = pack_at<float, kQuad>(g.source + cell * g.channels + own.channel);
            } else {
                clear(own.source[i]);
            }
            own.x[i] += kPixels;
            while (own.x[i] >= g.width) {
                own.x[i] -= g.width;
                if (++own.y[i] < g.height) continue;
                own.y[i] = 0;
                ++own.n[i];
            }
        }
        if (thread >= kPixels * FilterThreads) return;
        const int pixel = first + thread / FilterThreads;
        if (pixel < g.pixels) {
            own.gradient = pack_at<float, kQuad>(g.gradient + pixel * g.filters + own.first_filter +
                                                 thread % FilterThreads * kQuad);
        } else {
            clear(own.gradient);
        }
    }

    DTNN_DEVICE void put(int thread, const Own& own, Shared& shared) const {
        for (int i = 0; i < kFetches; ++i)
            shared.source[thread / kWeightThreads + i * kPixelsAtOnce][thread % kWeightThreads] =
                own.source[i];
        if (thread < kPixels * FilterThreads)
            shared.gradient[thread / FilterThreads][thread % FilterThreads] = own.gradient;
    }

    DTNN_DEVICE void add(int thread, const Shared& shared, Own& own) const {
        for (int pixel = 0; pixel < kPixels; ++pixel) {
            const Quad source = shared.source[pixel][thread / FilterThreads];
            const Quad gradient = shared.gradient[pixel][thread % FilterThreads];
            for (int j = 0; j < kQuad; ++j)
                for (int i = 0; i < kQuad; ++i)
                    own.sums[j][i] += gradient.of[j] * source.of[i];
        }
    }

    DTNN_DEVICE void end(std::int64_t, int thread, const Own& own) const {
        const int weight = own.first_weight + thread / FilterThreads * kQuad;
        if (weight >= g.weights) return;
        for (int j = 0; j < kQuad; ++j) {
            const int filter = own.first_filter + thread % FilterThreads * kQuad + j;
            Quad sums;
            for (int i = 0; i < kQuad; ++i)
                sums.of[i] = own.sums[j][i];
            store(sums,
                  g.sums + (std::int64_t(own.slice) * g.filters + filter) * g.weights + weight);
        }
    }
};

template <int FilterThreads>
void run_slices(const Launch& launch, const SlicedGradient& g, const TileSlices& slices) {
    const std::int64_t across = g.filters / (FilterThreads * kQuad);
    launch.steps(slices.count * slices.tiles,
                 GradientTile<FilterThreads>{g, Divider(slices.tiles), Divider(across),
                                             slices.pixels / kTilePixels});
}

void run_slices(const Launch& launch, const SlicedGradient& g, const TileSlices& slices) {
    switch (tile_filters(g.filters)) {
        case 64:
            return run_slices<16>(launch, g, slices);
        case 32:
            return run_slices<8>(launch, g, slices);
        default:
            return run_slices<4>(launch, g, slices);
    }
}

/// The axes of the windows over the source of a convolution, from its result.
TileAxis rows_under(const ConvShape& s) {
    return {int(s.height), int(s.stride_height), -int(s.pad_top), int(s.dilation_height)};
}
TileAxis columns_under(const ConvShape& s) {
    return {int(s.width), int(s.stride_width), -int(s.pad_left), int(s.dilation_width)};
}

}  // namespace

DTNN_CUDA_KERNEL_OF_FLOAT(conv2d_tiles, Conv2dArguments) {
    const ConvShape& s = a.shape;
    run_tiles(launch, {.source = a.src,
                       .weights = a.weights,
                       .result = a.dst,
                       .depth = int(s.channels),
                       .filters = int(s.filters),
                       .pixels = int(s.out_pixels()),
                       .rows = rows_under(s),
                       .columns = columns_under(s),
                       .of_filter = int(s.taps() * s.channels),
                       .of_tap = int(s.channels),
                       .of_channel = 1,
                       .result_width = Divider(s.out_width),
                       .result_height = Divider(s.out_height),
                       .kernel_width = Divider(s.kernel_width),
                       .chunks = Divider(s.channels / kTileChannels),
                       .taps = int(s.taps()),
                       .epilogue = epilogue_of(a)});
}

/// With stride 1 the cell of the result whose tap k is a cell of the image stands at a distance of
/// its padding, less k times the dilation.
DTNN_CUDA_KERNEL_OF_FLOAT(conv2d_backward_data_tiles, Conv2dBackwardDataArguments) {
    const ConvShape& s = a.shape;
    run_tiles(launch, {.source = a.diff_dst,
                       .weights = a.weights,
                       .result = a.diff_src,
                       .depth = int(s.filters),
                       .filters = int(s.channels),
                       .pixels = int(s.pixels()),
                       .rows = {int(s.out_height), 1, int(s.pad_top), -int(s.dilation_height)},
                       .columns = {int(s.out_width), 1, int(s.pad_left), -int(s.dilation_width)},
                       .of_filter = 1,
                       .of_tap = int(s.channels),
                       .of_channel = int(s.taps() * s.channels),
                       .result_width = Divider(s.width),
                       .result_height = Divider(s.height),
                       .kernel_width = Divider(s.kernel_width),
                       .chunks = Divider(s.filters / kTileChannels),
                       .taps = int(s.taps()),
                       .epilogue = epilogue_of(a)});
}

DTNN_CUDA_KERNEL_OF_FLOAT(conv2d_backward_weights_tiles, Conv2dBackwardWeightsArguments) {
    const ConvShape& s = a.shape;
    const TileSlices slices = tile_slices(s);
    auto* const sums = reinterpret_cast<float*>(scratch_of(a).library.data());
    run_slices(launch,
               {.source = a.src,
                .gradient = a.diff_dst,
                .sums = sums,
                .channels = int(s.channels),
                .filters = int(s.filters),
                .weights = int(s.taps() * s.channels),
                .pixels = int(s.out_pixels()),
                .of_slice = int(slices.pixels),
                .height = int(s.out_height),
                .width = int(s.out_width),
                .rows = rows_under(s),
                .columns = columns_under(s),
                .result_width = Divider(s.out_width),
                .result_height = Divider(s.out_height),
                .kernel_width = Divider(s.kernel_width),
                .channel_count = Divider(s.channels)},
               slices);
    T* const diff_weights = a.diff_weights;
    const std::int64_t weights = s.weight_elements(), count = slices.count;
    launch.each(weights, [=] DTNN_DEVICE(std::int64_t i) {
        double sum = 0;
        for (std::int64_t slice = 0; slice < count; ++slice)
            sum += double(sums[slice * weights + i]);
        diff_weights[i] = T(sum);
    });
    sum_bias_gradient(a, launch);
}

}  // namespace dtnn::kernels::cuda
