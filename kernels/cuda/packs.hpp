#pragma once
/// Neighbouring channels that one thread works on together: where channels are stored last, one
/// access moves them all, and what belongs to a channel stays in registers while a thread walks
/// through its rows. A row is what lies at one place (a pixel): an element of every channel.

#include <type_traits>

#include "kernels/cuda/dense_channels.hpp"
#include "kernels/cuda/reduce.hpp"
#include "kernels/reduced.hpp"

namespace dtnn::kernels::cuda {

/// Numbers that lie together; one access moves up to 16 bytes.
template <class T, int W>
struct alignas(sizeof(T) * W < 16 ? sizeof(T) * W : 16) Pack {
    T of[W];
};

template <class T, int W>
DTNN_DEVICE Pack<T, W> pack_at(const T* place) {
    return *reinterpret_cast<const Pack<T, W>*>(place);
}
template <class T, int W>
DTNN_DEVICE void store(const Pack<T, W>& pack, T* place) {
    *reinterpret_cast<Pack<T, W>*>(place) = pack;
}

/// f(width) with the width as a type's `value`: kChannelPack where the channels are stored last and
/// are a multiple of it, else 1.
template <class F>
void with_pack_width(const DenseChannels& shape, const F& f) {
    if (shape.stored_last() && shape.channels() % kChannelPack == 0) {
        f(std::integral_constant<int, kChannelPack>{});
    } else {
        f(std::integral_constant<int, 1>{});
    }
}

/// Whether images may be walked through in packs of kChannelPack channels.
inline bool is_packed(const ImageLayout& image) {
    const std::int64_t strides[] = {image.batch_stride, image.row_stride, image.column_stride};
    bool whole = image.channel_stride == 1 && image.channels % kChannelPack == 0;
    for (const std::int64_t stride : strides)
        whole = whole && stride % kChannelPack == 0;
    return whole;
}

/// Whether its pixels lie one behind the other.
inline bool has_no_gaps(const ImageLayout& image) {
    return image.column_stride == image.channels &&
           image.row_stride == image.width * image.column_stride &&
           image.batch_stride == image.height * image.row_stride;
}

/// Rows that a thread reads before it works on them, so that several accesses are under way.
inline constexpr int kRowsAhead = 4;
/// Threads that fill any device.
inline constexpr std::int64_t kManyThreads = std::int64_t{1} << 18;

/// What is done with packs is a plain struct with
///     constants(channel)     what belongs to the W channels from there, made once for many rows
///     load(place)            what is read, of the pack whose first number is there
/// and one of
///     work(constants, place, loaded)
///     add(constants, loaded, sums)     adds to `sums`, a Number[N][W]

/// Of the pack whose first channel is `channel`. Packs of several are of channels stored last.
template <int W>
DTNN_DEVICE std::int64_t place_of(const DenseChannels& shape, std::int64_t row,
                                  std::int64_t channel) {
    return W > 1 ? row * shape.channels() + channel : shape.place(row, channel);
}

/// Works on all rows and all packs of W channels, in any order.
template <int W, class Packs>
static void each_pack(const Launch& launch, std::int64_t rows, const DenseChannels& shape,
                      const Packs& packs) {
    const std::int64_t of_row = shape.channels() / W;
    if (of_row == 0 || rows == 0) return;
    const std::int64_t wanted = (kManyThreads + of_row - 1) / of_row;
    const std::int64_t lanes = wanted < rows ? wanted : rows;
    const Divider across(of_row);
    launch.each(of_row * lanes, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t lane = across.quotient(i), column = (i - lane * across.by()) * W;
        const auto constants = packs.constants(column);
        for (std::int64_t row = lane; row < rows; row += kRowsAhead * lanes) {
            decltype(packs.load(row)) loaded[kRowsAhead];
            for (int k = 0; k < kRowsAhead; ++k)
                if (row + k * lanes < rows)
                    loaded[k] = packs.load(place_of<W>(shape, row + k * lanes, column));
            for (int k = 0; k < kRowsAhead; ++k)
                if (row + k * lanes < rows)
                    packs.work(constants, place_of<W>(shape, row + k * lanes, column), loaded[k]);
        }
    });
}

/// The sums of the packs of a group of threads, those of a thread in different banks, and then what
/// reduce_groups has there.
template <int N, int W>
union SharedPackSums {
    double of[N * W][kThreads + 8];
    Sums<N> by_thread[kThreads];
};

/// Terms that a thread adds in the numbers' own type before their sum is added in double.
inline constexpr int kNarrowTerms = 16;

/// For each channel: finish(0, channel, Sums<N>) of the sums over the rows of what packs.add adds,
/// as a Number. `of_chunks` is as in reduce_columns.
template <int N, int W, class Number, class Packs, class Finish>
static void reduce_packs(const Launch& launch, std::int64_t rows, const DenseChannels& shape,
                         Sums<N>* of_chunks, const Packs& packs, const Finish& finish) {
    const std::int64_t columns = shape.channels();
    const ColumnCut cut = cut_columns(1, rows, columns);
    const int width = int((cut.width + W - 1) / W), height = kThreads / width;
    const ColumnGroups<N> groups(cut, of_chunks);
    using Shared = SharedPackSums<N, W>;
    reduce_groups<N, Shared>(
        launch, groups, finish,
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            const std::int64_t column = groups.column(group, thread % width * W);
            const std::int64_t begin = groups.chunk(group) * cut.chunk;
            const std::int64_t end = begin + cut.chunk < rows ? begin + cut.chunk : rows;
            double sums[N][W] = {};
            if (column < columns) {
                const auto constants = packs.constants(column);
                std::int64_t row = begin + thread / width;
                while (row < end) {
                    Number narrow[N][W] = {};
                    for (int turn = 0; turn < kNarrowTerms / kRowsAhead && row < end; ++turn) {
                        decltype(packs.load(row)) loaded[kRowsAhead];
                        for (int k = 0; k < kRowsAhead; ++k)
                            if (row + k * height < end)
                                loaded[k] =
                                    packs.load(place_of<W>(shape, row + k * height, column));
                        for (int k = 0; k < kRowsAhead; ++k)
                            if (row + k * height < end) packs.add(constants, loaded[k], narrow);
                        row += kRowsAhead * height;
                    }
                    for (int n = 0; n < N; ++n)
                        for (int w = 0; w < W; ++w)
                            sums[n][w] += double(narrow[n][w]);
                }
            }
            for (int n = 0; n < N; ++n)
                for (int w = 0; w < W; ++w)
                    shared.of[n * W + w][thread] = sums[n][w];
        },
        [=] DTNN_DEVICE(std::int64_t, int thread, Shared& shared) {
            // The sums of the threads that have the same pack, in the place of the first of them.
            for (int sum = thread; sum < N * W * width; sum += kThreads) {
                double* const of = shared.of[sum / width] + sum % width;
                double total = of[0];
                for (int other = 1; other < height; ++other)
                    total += of[other * width];
                of[0] = total;
            }
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            if (thread >= width * W || groups.column(group, thread) >= columns) return;
            Sums<N> sums;
            for (int n = 0; n < N; ++n)
                sums.of[n] = shared.of[n * W + thread % W][thread / W];
            groups.put(group, thread, sums, finish);
        });
}

}  // namespace dtnn::kernels::cuda
