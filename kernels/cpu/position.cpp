/// Steps of sequences: a thread has some steps of all samples, whose numbers it works out once.

#include "kernels/arguments/position.hpp"

#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

template <class T>
DTNN_INLINE void add_position_row(const T* x, const T* more, T* y, std::int64_t count) {
    for_channels<T>(count, [&](auto lanes, std::int64_t i) {
        using V = decltype(lanes);
        V::store(y + i, V::load(x + i) + V::load(more + i));
    });
}

}  // namespace

DTNN_KERNEL(class_token_steps, ClassTokenArguments) {
    constexpr std::int64_t kGrain = 4096;  // numbers that are worth a thread
    const std::int64_t steps = a.steps + 1, grain = (kGrain + a.features - 1) / a.features;
    team.for_pieces(a.batch * steps, grain, [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row)
            __builtin_memcpy(a.dst + row * a.features, a.row(row / steps, row % steps),
                             std::size_t(a.features) * sizeof(T));
    });
}

DTNN_KERNEL(position_embedding_steps, PositionEmbeddingArguments) {
    const std::int64_t features = a.features;
    team.for_pieces(a.steps, 1, [&](auto begin, auto end, int thread) {
        T* const own = reinterpret_cast<T*>(a.workspace) + thread * features;
        for (std::int64_t t = begin; t < end; ++t) {
            const T* row = own;
            if (a.weights != nullptr) {
                row = a.weights + (a.first() + t) * features;
            } else {
                for (std::int64_t f = 0; f < features; f += 2) {
                    const Turn turn = turn_of(a.first() + t, f / 2, features, a.base);
                    own[f] = T(turn.sine);
                    if (f + 1 < features) own[f + 1] = T(turn.cosine);
                }
            }
            for (std::int64_t n = 0; n < a.batch; ++n) {
                const std::int64_t at = (n * a.steps + t) * features;
                add_position_row(a.src + at, row, a.dst + at, features);
            }
        }
    });
}

DTNN_KERNEL(position_embedding_backward_steps, PositionEmbeddingBackwardArguments) {
    const std::int64_t features = a.features;
    team.for_pieces(a.positions, 1, [&](auto begin, auto end, int) {
        for (std::int64_t t = begin; t < end; ++t) {
            T* const sum = a.diff_weights + t * features;
            __builtin_memset(sum, 0, std::size_t(features) * sizeof(T));
            for (std::int64_t n = 0; n < a.batch && t < a.steps; ++n)
                add_position_row(sum, a.diff_dst + (n * a.steps + t) * features, sum, features);
        }
    });
}

DTNN_KERNEL(rotary_embedding_steps, RotaryEmbeddingArguments) {
    const std::int64_t pairs = a.width / 2;
    team.for_pieces(a.steps, 1, [&](auto begin, auto end, int thread) {
        T* const sines = reinterpret_cast<T*>(a.workspace) + thread * a.width;
        T* const cosines = sines + pairs;
        for (std::int64_t t = begin; t < end; ++t) {
            for (std::int64_t pair = 0; pair < pairs; ++pair) {
                const Turn turn = turn_of(a.first() + t, pair, a.width, a.base);
                sines[pair] = T(a.inverse ? -turn.sine : turn.sine);
                cosines[pair] = T(turn.cosine);
            }
            for (std::int64_t n = 0; n < a.batch; ++n) {
                for (std::int64_t h = 0; h < a.features; h += a.width) {
                    const std::int64_t at = (n * a.steps + t) * a.features + h;
                    const T* const x = a.src + at;
                    T* const y = a.dst + at;
                    if (a.neighbours) {
                        for (std::int64_t pair = 0; pair < pairs; ++pair) {
                            const T first = x[2 * pair], second = x[2 * pair + 1];
                            y[2 * pair] = first * cosines[pair] - second * sines[pair];
                            y[2 * pair + 1] = second * cosines[pair] + first * sines[pair];
                        }
                        continue;
                    }
                    for_channels<T>(pairs, [&](auto lanes, std::int64_t pair) {
                        using V = decltype(lanes);
                        const auto first = V::load(x + pair), second = V::load(x + pairs + pair);
                        const auto sine = V::load(sines + pair), cosine = V::load(cosines + pair);
                        V::store(y + pair, first * cosine - second * sine);
                        V::store(y + pairs + pair, second * cosine + first * sine);
                    });
                }
            }
        }
    });
}

DTNN_KERNEL(keep_steps_rows, KeepStepsArguments) {
    const std::int64_t first = a.first(), of_sample = a.room * a.features;
    for (std::int64_t n = 0; n < a.batch; ++n) {
        T* const kept = a.kept + n * of_sample;
        if (a.kept != a.before)
            __builtin_memcpy(kept, a.before + n * of_sample, std::size_t(of_sample) * sizeof(T));
        for (std::int64_t t = 0; t < a.steps; ++t)
            __builtin_memcpy(kept + (first + t) * a.features,
                             a.src + (n * a.steps + t) * a.row + a.begin,
                             std::size_t(a.features) * sizeof(T));
    }
}

}  // namespace dtnn::kernels::DTNN_ISA
