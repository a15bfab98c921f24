#pragma once
/// Walks over images. Neighbouring threads have neighbouring channels.

#include "kernels/cuda/chunks.hpp"
#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::cuda {

/// f(n, c, h, w) for all elements of an image.
template <class F>
void each_element(const Launch& launch, const ImageLayout& image, const F& f) {
    const std::int64_t count = image.pixels() * image.channels;
    const Divider channels(image.channels), height(image.height), width(image.width);
    launch.each(count, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t pixel = channels.quotient(i), row = width.quotient(pixel);
        const std::int64_t n = height.quotient(row);
        f(n, i - pixel * channels.by(), row - n * height.by(), pixel - row * width.by());
    });
}

template <class V>
struct SharedByChannel {
    V by_thread[kThreads];
};

/// For each group and channel: finish(group, c, V) of what take(V&, group, k, c) makes of a V that
/// is zero, for k = 0 .. length(group) - 1. Up to 32 channels side by side, the other threads share
/// the k; merge(V&, const V&) joins what they have, in order.
template <class V, class Length, class Take, class Merge, class Finish>
void reduce_by_channel(const Launch& launch, std::int64_t groups, std::int64_t channels,
                       const Length& length, const Take& take, const Merge& merge,
                       const Finish& finish) {
    int side_by_side = 32;
    while (side_by_side > 8 && side_by_side / 2 >= channels)
        side_by_side /= 2;
    const int width = side_by_side, lanes = kThreads / width;
    const std::int64_t blocks = (channels + width - 1) / width;
    using Shared = SharedByChannel<V>;
    launch.template groups<Shared>(
        groups * blocks,
        [=] DTNN_DEVICE(std::int64_t block, int thread, Shared& shared) {
            const std::int64_t group = block / blocks, c = block % blocks * width + thread % width;
            if (c >= channels) return;
            V value = {};
            const std::int64_t end = length(group);
            for (std::int64_t k = thread / width; k < end; k += lanes)
                take(value, group, k, c);
            shared.by_thread[thread] = value;
        },
        [=] DTNN_DEVICE(std::int64_t block, int thread, Shared& shared) {
            const std::int64_t group = block / blocks, c = block % blocks * width + thread;
            if (thread >= width || c >= channels) return;
            V value = shared.by_thread[thread];
            for (int lane = 1; lane < lanes; ++lane)
                merge(value, shared.by_thread[thread + lane * width]);
            finish(group, c, value);
        });
}

/// finish(n, c, sum over h and w of term(n, c, h, w)) for all channels of all samples of an image.
/// `of_chunks` has a number for each chunk of each (catalogue/device.cpp: device_plane_sums).
template <class Term, class Finish>
void sum_planes(const Launch& launch, const ImageLayout& image, double* of_chunks, const Term& term,
                const Finish& finish) {
    const std::int64_t channels = image.channels, pixels = image.height * image.width;
    const std::int64_t chunks = plane_chunks_of(pixels);
    const Divider width(image.width);
    reduce_by_channel<double>(
        launch, image.batch * chunks, channels,
        [=] DTNN_DEVICE(std::int64_t chunk) {
            const std::int64_t left = pixels - chunk % chunks * kPlaneChunk;
            return left < kPlaneChunk ? left : kPlaneChunk;
        },
        [=] DTNN_DEVICE(double& sum, std::int64_t chunk, std::int64_t k, std::int64_t c) {
            const std::int64_t pixel = chunk % chunks * kPlaneChunk + k;
            const std::int64_t row = width.quotient(pixel);
            sum += term(chunk / chunks, c, row, pixel - row * width.by());
        },
        [=] DTNN_DEVICE(double& sum, const double& more) { sum += more; },
        [=] DTNN_DEVICE(std::int64_t chunk, std::int64_t c, const double& sum) {
            if (chunks == 1) {
                finish(chunk, c, sum);
            } else {
                of_chunks[chunk * channels + c] = sum;
            }
        });
    if (chunks == 1) return;
    launch.each(image.batch * channels, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t n = i / channels, c = i % channels;
        double sum = 0;
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
            sum += of_chunks[(n * chunks + chunk) * channels + c];
        finish(n, c, sum);
    });
}

}  // namespace dtnn::kernels::cuda
