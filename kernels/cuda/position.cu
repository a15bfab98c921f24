#include "kernels/arguments/position.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {

DTNN_CUDA_KERNEL(class_token_each, ClassTokenArguments) {
    const std::int64_t steps = a.steps + 1;
    launch.each(a.batch * steps * a.features, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t row = i / a.features;
        a.dst[i] = a.row(row / steps, row % steps)[i % a.features];
    });
}

DTNN_CUDA_KERNEL(position_embedding_each, PositionEmbeddingArguments) {
    const std::int64_t of_sample = a.steps * a.features;
    launch.each(a.batch * of_sample, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t place = i % of_sample, f = place % a.features;
        double more = 0;
        if (a.weights != nullptr) {
            more = double(a.weights[a.first() * a.features + place]);
        } else {
            const Turn turn = turn_of(a.first() + place / a.features, f / 2, a.features, a.base);
            more = f % 2 == 0 ? turn.sine : turn.cosine;
        }
        a.dst[i] = T(double(a.src[i]) + more);
    });
}

DTNN_CUDA_KERNEL(position_embedding_backward_each, PositionEmbeddingBackwardArguments) {
    const std::int64_t of_sample = a.steps * a.features;
    launch.each(a.positions * a.features, [=] DTNN_DEVICE(std::int64_t i) {
        double sum = 0;
        for (std::int64_t n = 0; n < a.batch && i < of_sample; ++n)
            sum += double(a.diff_dst[n * of_sample + i]);
        a.diff_weights[i] = T(sum);
    });
}

DTNN_CUDA_KERNEL(rotary_embedding_each, RotaryEmbeddingArguments) {
    const std::int64_t pairs = a.width / 2;
    launch.each(a.batch * a.steps * a.features / 2, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t pair = i % pairs, head = i / pairs;
        const std::int64_t t = head / (a.features / a.width) % a.steps;
        const std::int64_t first = head * a.width + a.first_of(pair),
                           second = head * a.width + a.second_of(pair);
        const Turn turn = turn_of(a.first() + t, pair, a.width, a.base);
        const double sine = a.inverse ? -turn.sine : turn.sine;
        const auto x = double(a.src[first]), y = double(a.src[second]);
        a.dst[first] = T(x * turn.cosine - y * sine);
        a.dst[second] = T(y * turn.cosine + x * sine);
    });
}

DTNN_CUDA_KERNEL(keep_steps_each, KeepStepsArguments) {
    const std::int64_t kept_sample = a.room * a.features, of_sample = a.steps * a.features;
    if (a.kept != a.before)
        launch.each(a.batch * kept_sample,
                    [=] DTNN_DEVICE(std::int64_t i) { a.kept[i] = a.before[i]; });
    launch.each(a.batch * of_sample, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t n = i / of_sample, t = i % of_sample / a.features;
        const std::int64_t f = i % a.features;
        a.kept[n * kept_sample + (a.first() + t) * a.features + f] =
            a.src[(n * a.steps + t) * a.row + a.begin + f];
    });
}

}  // namespace dtnn::kernels::cuda
