#pragma once
/// The terms that every optimizer step starts from (update.hpp), in numbers that a loop can hold in
/// registers. Without clipping, scaling and decay the operations change no bit.

#include "kernels/arguments/update.hpp"
#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Marks the loops of updates: inlined into the caller, GCC 12 turns the clipping's choices into
/// jumps and gives up on vectors; in a function of its own it does not.
#define DTNN_UPDATE_LOOP __attribute__((noinline))

/// Elements that a thread takes at a time.
inline constexpr std::int64_t kUpdateGrain = 4096;

template <class T>
struct UpdateTerms {
    T rate, scale, limit, decay;
    T shrink;  ///< share of the weights that decoupled decay takes away

    explicit UpdateTerms(const UpdateArguments<T>& a)
        : rate(T(a.rate())),
          scale(a.scale == nullptr ? T(1) : *a.scale),
          limit(T(a.clip_value)),
          decay(a.decoupled ? T(0) : T(a.weight_decay)),
          shrink(a.decoupled ? T(a.rate() * a.weight_decay) : T(0)) {}

    /// Not-a-number stays what it is.
    DTNN_INLINE T clipped(T diff) const {
        T g = diff * scale;
        g = g > limit ? limit : g;
        return g < -limit ? -limit : g;
    }
    /// The share is not taken from 1 first: in float little of it would be left.
    DTNN_INLINE T moved(T weight, T change) const { return weight - change - shrink * weight; }
    DTNN_INLINE T gradient(T diff, T weight) const { return clipped(diff) + decay * weight; }
};

}  // namespace dtnn::kernels::DTNN_ISA
