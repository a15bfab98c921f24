#pragma once
/// What tells a network at which step it is. Operands are [N, steps, features], row-major.
///
/// class_token: dst[n, 0, f] = weights[f], dst[n, 1 + t, f] = src[n, t, f].
///
/// position_embedding: dst[n, t, f] = src[n, t, f] + weights[t, f], or (Vaswani and others, 2017)
/// without weights
///
///     dst[n, t, 2i]     = src[n, t, 2i]     + sin(t / base^(2i / features))
///     dst[n, t, 2i + 1] = src[n, t, 2i + 1] + cos(t / base^(2i / features))
///
/// backward: diff_weights[t, f] = sum over n of diff_dst[n, t, f], zeros for later positions.
///
/// rotary_embedding (Su and others, "RoFormer", 2021): the numbers i and j of each of `heads` heads
/// of `width` numbers are turned by an angle,
///
///     dst[i] = src[i] * cos(a) - src[j] * sin(a),   dst[j] = src[j] * cos(a) + src[i] * sin(a)
///     a      = t * base^(-2p / width), p = 0 .. width/2 - 1
///
/// with i = p and j = p + width/2, or, of `neighbours`, i = 2p and j = 2p + 1. `inverse` turns
/// back: the gradient.
///
/// With `placed` step t of position_embedding and rotary_embedding is step place + t of its text.
///
/// keep_steps: kept[n, place + t, f] = src[n, t, begin + f]; other rows stay.

#include "base/turn.hpp"
#include "kernels/arguments/arguments.hpp"
#include "kernels/arguments/step_place.hpp"

namespace dtnn::kernels {

template <class T>
struct ClassTokenArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t batch = o.source("src").type()->dims[0], steps = o.source("src").type()->dims[1],
                 features = o.source("src").type()->dims[2];  ///< steps of src
    const T* src = o.source("src");
    const T* weights = o.source("weights");
    T* dst = o.result("dst");

    /// Row t of sample n of the result.
    DTNN_DEVICE const T* row(std::int64_t n, std::int64_t t) const {
        return t == 0 ? weights : src + (n * steps + t - 1) * features;
    }
};

template <class T>
struct PositionEmbeddingArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t batch = o.source("src").type()->dims[0], steps = o.source("src").type()->dims[1],
                 features = o.source("src").type()->dims[2];
    double base = o.problem.real("base");
    const T* src = o.source("src");
    const T* weights = o.source("weights");  ///< null: sines and cosines
    std::int64_t positions = weights == nullptr ? kMostPlaces : o.source("weights").type()->dims[0];
    const std::int64_t* place = o.source("place");  ///< null: 0
    T* dst = o.result("dst");
    std::byte* workspace = o.scratch();

    /// The place of step 0 in its text.
    DTNN_DEVICE std::int64_t first() const {
        return place == nullptr ? 0 : place_within(*place, positions - steps);
    }
};

template <class T>
struct PositionEmbeddingBackwardArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t batch = o.source("diff_dst").type()->dims[0],
                 steps = o.source("diff_dst").type()->dims[1],
                 features = o.source("diff_dst").type()->dims[2],
                 positions = o.result("diff_weights").type()->dims[0];
    const T* diff_dst = o.source("diff_dst");
    T* diff_weights = o.result("diff_weights");
};

template <class T>
struct RotaryEmbeddingArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t batch = o.source("src").type()->dims[0], steps = o.source("src").type()->dims[1],
                 features = o.source("src").type()->dims[2],
                 width = features / o.problem.integer("heads");
    double base = o.problem.real("base");
    bool neighbours = o.problem.flag("neighbours"), inverse = o.problem.flag("inverse");
    const T* src = o.source("src");
    const std::int64_t* place = o.source("place");  ///< null: 0
    T* dst = o.result("dst");
    std::byte* workspace = o.scratch();

    /// The place of step 0 in its text.
    DTNN_DEVICE std::int64_t first() const {
        return place == nullptr ? 0 : place_within(*place, kMostPlaces - steps);
    }
    DTNN_DEVICE std::int64_t first_of(std::int64_t pair) const {
        return neighbours ? 2 * pair : pair;
    }
    DTNN_DEVICE std::int64_t second_of(std::int64_t pair) const {
        return neighbours ? 2 * pair + 1 : pair + width / 2;
    }
};

template <class T>
struct KeepStepsArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t batch = o.source("src").type()->dims[0], steps = o.source("src").type()->dims[1],
                 row = o.source("src").type()->dims[2],  ///< numbers of a step of src
        room = o.source("kept").type()->dims[1],         ///< steps of kept
        features = o.source("kept").type()->dims[2], begin = o.problem.integer("begin");
    const T* before = o.source("kept");
    const T* src = o.source("src");
    const std::int64_t* place = o.source("place");
    T* kept = o.result("kept");

    DTNN_DEVICE std::int64_t first() const { return place_within(*place, room - steps); }
};

}  // namespace dtnn::kernels
