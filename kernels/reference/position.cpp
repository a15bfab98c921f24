#include "kernels/arguments/position.hpp"

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

template <class Visit>
void for_steps(std::int64_t batch, std::int64_t steps, Visit visit) {
    for (std::int64_t n = 0; n < batch; ++n) {
        for (std::int64_t t = 0; t < steps; ++t)
            visit(n, t);
    }
}

}  // namespace

DTNN_REFERENCE(class_token, ClassTokenArguments) {
    for_steps(a.batch, a.steps + 1, [&](auto n, auto t) {
        for (std::int64_t f = 0; f < a.features; ++f)
            a.dst[(n * (a.steps + 1) + t) * a.features + f] = a.row(n, t)[f];
    });
}

DTNN_REFERENCE(position_embedding, PositionEmbeddingArguments) {
    for_steps(a.batch, a.steps, [&](auto n, auto t) {
        for (std::int64_t f = 0; f < a.features; ++f) {
            const Turn turn = turn_of(a.first() + t, f / 2, a.features, a.base);
            const double more = a.weights != nullptr
                                    ? double(a.weights[(a.first() + t) * a.features + f])
                                : f % 2 == 0 ? turn.sine
                                             : turn.cosine;
            const std::int64_t at = (n * a.steps + t) * a.features + f;
            a.dst[at] = T(double(a.src[at]) + more);
        }
    });
}

DTNN_REFERENCE(position_embedding_backward, PositionEmbeddingBackwardArguments) {
    for_steps(1, a.positions, [&](auto, auto t) {
        for (std::int64_t f = 0; f < a.features; ++f) {
            double sum = 0;
            for (std::int64_t n = 0; n < a.batch && t < a.steps; ++n)
                sum += double(a.diff_dst[(n * a.steps + t) * a.features + f]);
            a.diff_weights[t * a.features + f] = T(sum);
        }
    });
}

DTNN_REFERENCE(rotary_embedding, RotaryEmbeddingArguments) {
    for_steps(a.batch, a.steps, [&](auto n, auto t) {
        for (std::int64_t h = 0; h < a.features / a.width; ++h) {
            const std::int64_t at = (n * a.steps + t) * a.features + h * a.width;
            for (std::int64_t pair = 0; pair < a.width / 2; ++pair) {
                const Turn turn = turn_of(a.first() + t, pair, a.width, a.base);
                const double sine = a.inverse ? -turn.sine : turn.sine;
                const auto x = double(a.src[at + a.first_of(pair)]);
                const auto y = double(a.src[at + a.second_of(pair)]);
                a.dst[at + a.first_of(pair)] = T(x * turn.cosine - y * sine);
                a.dst[at + a.second_of(pair)] = T(y * turn.cosine + x * sine);
            }
        }
    });
}

DTNN_REFERENCE(keep_steps, KeepStepsArguments) {
    for_steps(a.batch, a.room, [&](auto n, auto t) {
        const std::int64_t from = t - a.first();
        for (std::int64_t f = 0; f < a.features; ++f) {
            const std::int64_t at = (n * a.room + t) * a.features + f;
            a.kept[at] = from >= 0 && from < a.steps
                             ? a.src[(n * a.steps + from) * a.row + a.begin + f]
                             : a.before[at];
        }
    });
}

}  // namespace dtnn::kernels::reference
