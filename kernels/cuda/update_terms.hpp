#pragma once
/// The terms that every optimizer step starts from (arguments/update.hpp), as the device computes
/// them.

#include "kernels/arguments/update.hpp"

namespace dtnn::kernels::cuda {

template <class T>
DTNN_DEVICE void leave(const UpdateArguments<T>& a, std::int64_t i) {
    a.new_weights[i] = a.weights[i];
}
template <class T>
DTNN_DEVICE void leave(const T* state, T* new_state, std::int64_t i) {
    if (state != nullptr) new_state[i] = state[i];
}

/// Scaled and clipped, without weight decay.
template <class T>
DTNN_DEVICE double clipped_gradient(const UpdateArguments<T>& a, std::int64_t i) {
    const double g = double(a.diff[i]) * (a.scale == nullptr ? 1.0 : double(*a.scale));
    return g > a.clip_value ? a.clip_value : (g < -a.clip_value ? -a.clip_value : g);
}
template <class T>
DTNN_DEVICE double gradient(const UpdateArguments<T>& a, std::int64_t i) {
    const double g = clipped_gradient(a, i);
    return a.decoupled ? g : g + a.weight_decay * double(a.weights[i]);
}
/// The weight that the change is taken from.
template <class T>
DTNN_DEVICE double kept_weight(const UpdateArguments<T>& a, std::int64_t i) {
    const double w = double(a.weights[i]);
    return a.decoupled ? w - a.rate() * a.weight_decay * w : w;
}

}  // namespace dtnn::kernels::cuda
