#include "kernels/arguments/batch_norm_synchronised.hpp"

#include "kernels/cpu/batch_norm_flat.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

void clear(double* sums, std::int64_t channels) {
    for (std::int64_t i = 0; i < 2 * channels + 1; ++i)
        sums[i] = 0;
}

}  // namespace

DTNN_KERNEL(batch_norm_sums_flat, BatchNormSumsArguments) {
    const Flat flat(a.src_layout);
    const std::int64_t channels = flat.channels;
    a.set_count(a.idle() ? 0 : a.count());
    if (a.idle()) {
        for (std::int64_t c = 0; c < channels; ++c)
            a.of_channel(c).clear();
        return;
    }
    if (a.statistics != nullptr) {
        for (std::int64_t c = 0; c < channels; ++c)
            a.of_channel(c).write(a.count(), a.statistics[2 * channels + c], a.statistics[c],
                                  a.statistics[channels + c]);
        return;
    }
    const Scratch<T> scratch(a.workspace, flat, team);
    // Distances from the channel's first element: their squares cancel little, whatever the mean.
    const T* const origin = scratch.constant(0);
    for (std::int64_t c = 0; c < channels; ++c)
        scratch.spread(0, flat, c, double(a.src[c * flat.inner]));
    scratch.sum(flat, team, [&](auto begin, auto end, auto piece) {
        add_terms<T>(flat, begin, end, scratch.first_sums(piece), scratch.second_sums(piece),
                     [&](auto lanes, std::int64_t i, std::int64_t p, auto& sum, auto& squares) {
                         using V = decltype(lanes);
                         const auto distance =
                             V::to_double(V::load(a.src + i)) - V::to_double(V::load(origin + p));
                         sum += distance;
                         squares += distance * distance;
                     });
    });
    for (std::int64_t c = 0; c < channels; ++c) {
        double sum = 0, squares = 0;
        scratch.total(flat, c, sum, squares);
        a.of_channel(c).write(a.count(), double(origin[c * flat.inner]), sum, squares);
    }
}

namespace {

template <Passing passing, class T>
void backward_sums(const BatchNormBackwardSumsArguments<T>& a, ThreadTeam& team) {
    const Flat flat(a.src_layout);
    const std::int64_t channels = flat.channels;
    const Scratch<T> scratch(a.workspace, flat, team);
    spread_forward<passing>(a, flat, scratch);
    add_gradients<passing>(a, flat, scratch, team);
    for (std::int64_t c = 0; c < channels; ++c) {
        double diff_beta = 0, diff_gamma = 0;
        total_gradients(a, flat, scratch, c, diff_beta, diff_gamma);
        a.diff_beta[c] = T(diff_beta);
        a.diff_gamma[c] = T(diff_gamma);
        a.sums[c] = diff_beta;
        a.sums[channels + c] = diff_gamma;
    }
    a.sums[2 * channels] = a.count();
    if (a.idle()) clear(a.sums, channels);
}

template <Passing passing, class T>
void backward_apply(const BatchNormBackwardApplyArguments<T>& a, ThreadTeam& team) {
    const Flat flat(a.src_layout);
    const Scratch<T> scratch(a.workspace, flat, team);
    spread_forward<passing>(a, flat, scratch);
    for (std::int64_t c = 0; c < flat.channels; ++c)
        spread_backward(a, flat, scratch, c, a.sums[c], a.sums[flat.channels + c], a.divisor());
    write_diff_src<passing>(a, flat, scratch, team);
}

}  // namespace

DTNN_KERNEL(batch_norm_backward_sums_flat, BatchNormBackwardSumsArguments) {
    choose_passing(a, [&](auto passing) { backward_sums<decltype(passing)::value>(a, team); });
}

DTNN_KERNEL(batch_norm_backward_apply_flat, BatchNormBackwardApplyArguments) {
    choose_passing(a, [&](auto passing) { backward_apply<decltype(passing)::value>(a, team); });
}

}  // namespace dtnn::kernels::DTNN_ISA
