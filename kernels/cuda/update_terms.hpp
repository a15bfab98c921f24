#pragma once
/// The terms that every optimizer step starts from (arguments/update.hpp), as the device reads
/// them.

#include "kernels/arguments/update.hpp"
#include "kernels/device.hpp"

namespace dtnn::kernels::cuda {

template <class T>
struct UpdateTerms {
    double learning_rate_scale, weight_decay, clip_value;
    bool decoupled, may_skip;
    const T *weights, *diff, *learning_rate, *scale;
    T* new_weights;

    explicit UpdateTerms(const UpdateArguments<T>& a)
        : learning_rate_scale(a.learning_rate_scale),
          weight_decay(a.weight_decay),
          clip_value(a.clip_value),
          decoupled(a.decoupled),
          may_skip(a.may_skip),
          weights(a.weights),
          diff(a.diff),
          learning_rate(a.learning_rate),
          scale(a.scale),
          new_weights(a.new_weights) {}

    /// Whether weights and states stay as they are.
    DTNN_DEVICE bool skips() const { return may_skip && *scale != *scale; }
    DTNN_DEVICE void leave(std::int64_t i) const { new_weights[i] = weights[i]; }
    DTNN_DEVICE static void leave(const T* state, T* new_state, std::int64_t i) {
        if (state != nullptr) new_state[i] = state[i];
    }

    DTNN_DEVICE double rate() const { return double(*learning_rate) * learning_rate_scale; }
    /// Scaled and clipped, without weight decay.
    DTNN_DEVICE double clipped_gradient(std::int64_t i) const {
        const double g = double(diff[i]) * (scale == nullptr ? 1.0 : double(*scale));
        return g > clip_value ? clip_value : (g < -clip_value ? -clip_value : g);
    }
    DTNN_DEVICE double gradient(std::int64_t i) const {
        const double g = clipped_gradient(i);
        return decoupled ? g : g + weight_decay * double(weights[i]);
    }
    /// The weight that the change is taken from.
    DTNN_DEVICE double kept(std::int64_t i) const {
        const double w = double(weights[i]);
        return decoupled ? w - rate() * weight_decay * w : w;
    }
};

}  // namespace dtnn::kernels::cuda
