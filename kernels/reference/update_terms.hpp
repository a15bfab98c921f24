#pragma once
/// The terms that every optimizer step starts from (update.hpp), in double.

#include <algorithm>

#include "kernels/arguments/update.hpp"

namespace dtnn::kernels::reference {

/// Copies a state, or the weights, of a step that is skipped.
template <class T>
void leave(const T* from, T* to, std::int64_t count) {
    if (from != nullptr && from != to) std::copy(from, from + count, to);
}
template <class T>
void leave_weights(const UpdateArguments<T>& a) {
    leave(a.weights, a.new_weights, a.count);
}

/// Scaled and clipped, without weight decay.
template <class T>
double clipped_gradient_of(const UpdateArguments<T>& a, std::int64_t i) {
    const double g = double(a.diff[i]) * (a.scale == nullptr ? 1.0 : double(*a.scale));
    if (g > a.clip_value) return a.clip_value;
    return g < -a.clip_value ? -a.clip_value : g;
}

template <class T>
double gradient_of(const UpdateArguments<T>& a, std::int64_t i) {
    const double g = clipped_gradient_of(a, i);
    return a.decoupled ? g : g + a.weight_decay * double(a.weights[i]);
}

/// The weight that the change is taken from.
template <class T>
double kept_of(const UpdateArguments<T>& a, std::int64_t i) {
    const auto w = double(a.weights[i]);
    return a.decoupled ? w - a.rate() * a.weight_decay * w : w;
}

}  // namespace dtnn::kernels::reference
