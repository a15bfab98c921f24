#include "kernels/arguments/layerwise_update.hpp"

#include <cmath>

#include "kernels/cpu/norm_chunks.hpp"
#include "kernels/cpu/update_terms.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(lars_update_fused, LarsUpdateArguments) {
    const UpdateTerms<T> terms(a);
    const T *const weights = a.weights, *const diff = a.diff, *const velocity = a.velocity;
    T *const new_weights = a.new_weights, *const new_velocity = a.new_velocity;
    double ratio = 1;
    if (a.adaptive) {
        double sums[2];
        chunked_sums<T, 2>(
            a.count, a.sums, sums, team, [=](auto lanes, std::int64_t i, auto& into) {
                using L = decltype(lanes);
                auto g = L::load(diff + i) * terms.scale;
                g = g > terms.limit ? L::broadcast(terms.limit) : g;
                g = g < -terms.limit ? L::broadcast(-terms.limit) : g;
                const auto w = L::to_double(L::load(weights + i)), wide = L::to_double(g);
                into[0] += w * w;
                into[1] += wide * wide;
            });
        const double norm = std::sqrt(sums[0]);
        ratio = lars_ratio(a.trust_coefficient, norm,
                           std::sqrt(sums[1]) + a.weight_decay * norm + a.epsilon);
    }
    const T momentum = T(a.momentum), rate = T(a.rate() * ratio), decay = T(a.weight_decay);
    team.for_pieces(
        a.count, kUpdateGrain, [=](std::int64_t begin, std::int64_t end, int) DTNN_UPDATE_LOOP {
#pragma GCC ivdep
            for (std::int64_t i = begin; i < end; ++i) {
                const T w = weights[i];
                const T u = momentum * velocity[i] + rate * (terms.clipped(diff[i]) + decay * w);
                new_velocity[i] = u;
                new_weights[i] = w - u;
            }
        });
}

/// Elements whose changes lie on the stack between their making and their sum.
constexpr std::int64_t kBlock = 512;

/// The moments first, which may overwrite their sources; the change is then made of them twice, for
/// its norm and for the weights, instead of being kept for all.
DTNN_KERNEL(lamb_update_fused, LambUpdateArguments) {
    const UpdateTerms<T> terms(a);
    const auto t = double(*a.update + 1);
    const T beta1 = T(a.beta1), rest1 = T(1 - a.beta1), beta2 = T(a.beta2), rest2 = T(1 - a.beta2);
    const T upscale = T(1 / (1 - std::pow(a.beta1, t)));
    const T deviation = T(1 / std::sqrt(1 - std::pow(a.beta2, t)));
    const T epsilon = T(a.epsilon), decay = T(a.weight_decay);
    const T *const weights = a.weights, *const diff = a.diff;
    const T *const first = a.first_moment, *const second = a.second_moment;
    T *const new_weights = a.new_weights, *const new_first = a.new_first_moment;
    T* const new_second = a.new_second_moment;
    double* const sums = a.sums;
    const std::int64_t count = a.count, chunks = norm_chunks_of(count);
    team.for_pieces(chunks, 1, [=](std::int64_t from, std::int64_t to, int) DTNN_UPDATE_LOOP {
        T change[kBlock];
        for (std::int64_t chunk = from; chunk < to; ++chunk) {
            const std::int64_t last =
                count - chunk * kNormChunk < kNormChunk ? count : (chunk + 1) * kNormChunk;
            double own[2] = {};
            for (std::int64_t begin = chunk * kNormChunk; begin < last; begin += kBlock) {
                const std::int64_t length = last - begin < kBlock ? last - begin : kBlock;
#pragma GCC ivdep
                for (std::int64_t k = 0; k < length; ++k) {
                    const std::int64_t i = begin + k;
                    const T g = terms.clipped(diff[i]);
                    const T m = beta1 * first[i] + rest1 * g;
                    const T v = beta2 * second[i] + rest2 * g * g;
                    new_first[i] = m;
                    new_second[i] = v;
                    change[k] =
                        upscale * m / (std::sqrt(v) * deviation + epsilon) + decay * weights[i];
                }
                row_sums<T, 2>(length, own, [&](auto lanes, std::int64_t k, auto& into) {
                    using L = decltype(lanes);
                    const auto w = L::to_double(L::load(weights + begin + k));
                    const auto c = L::to_double(L::load(change + k));
                    into[0] += w * w;
                    into[1] += c * c;
                });
            }
            sums[2 * chunk] = own[0];
            sums[2 * chunk + 1] = own[1];
        }
    });
    double of_weights = 0, of_changes = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        of_weights += sums[2 * chunk];
        of_changes += sums[2 * chunk + 1];
    }
    const double ratio = a.adaptive ? lamb_ratio(std::sqrt(of_weights), std::sqrt(of_changes)) : 1;
    const T rate = T(a.rate() * ratio);
    team.for_pieces(
        count, kUpdateGrain, [=](std::int64_t begin, std::int64_t end, int) DTNN_UPDATE_LOOP {
#pragma GCC ivdep
            for (std::int64_t i = begin; i < end; ++i) {
                const T w = weights[i];
                const T c =
                    upscale * new_first[i] / (std::sqrt(new_second[i]) * deviation + epsilon) +
                    decay * w;
                new_weights[i] = w - rate * c;
            }
        });
}

}  // namespace dtnn::kernels::DTNN_ISA
