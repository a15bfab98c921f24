#pragma once
/// The closed sets that attributes of operators are chosen from, by compiler and kernels alike:
/// each an enum and, beside it, its words (base/enum_names.hpp). `choice` reads them.

#include <cstdint>

#include "base/enum_names.hpp"

namespace dtnn {

/// An axis by its name: `channels` and `features` are where the features lie, `steps` those of a
/// sequence, `height` and `width` those of an image.
enum class AxisName : std::uint8_t { channels, features, steps, height, width };
constexpr auto names_of(AxisName) {
    return std::to_array<const char*>({"channels", "features", "steps", "height", "width"});
}

/// How many cells of zeros surround an image, in words: none, or as many as make the result as
/// large as the source divided by the stride.
enum class PaddingWord : std::uint8_t { valid, same };
constexpr auto names_of(PaddingWord) {
    return std::to_array<const char*>({"valid", "same"});
}

/// The same of the steps of a sequence: none, as of images, or before the first alone, so many that
/// no window has a step behind the one that it is of.
enum class StepPadding : std::uint8_t { valid, same, causal };
constexpr auto names_of(StepPadding) {
    return std::to_array<const char*>({"valid", "same", "causal"});
}

/// How cells between those of an image get their values.
enum class Resampling : std::uint8_t { nearest, bilinear };
constexpr auto names_of(Resampling) {
    return std::to_array<const char*>({"nearest", "bilinear"});
}

/// How gelu's distribution function is computed: exactly (`none`), or by tanh.
enum class GeluApproximation : std::uint8_t { none, tanh };
constexpr auto names_of(GeluApproximation) {
    return std::to_array<const char*>({"none", "tanh"});
}

/// Which of the others a hinge loss compares a label's prediction with: the largest, or each.
enum class HingeForm : std::uint8_t { largest, all };
constexpr auto names_of(HingeForm) {
    return std::to_array<const char*>({"largest", "all"});
}

/// What the loss of a sequence of labels is a mean over: a sample's is divided by its labels, or
/// counts as it is.
enum class LossPer : std::uint8_t { label, sample };
constexpr auto names_of(LossPer) {
    return std::to_array<const char*>({"label", "sample"});
}

/// Nadam's momentum: dozat's grows over the updates, as PyTorch's does; pydtnn's is PyDTNN's.
enum class NadamVariant : std::uint8_t { dozat, pydtnn };
constexpr auto names_of(NadamVariant) {
    return std::to_array<const char*>({"dozat", "pydtnn"});
}

/// What a mean is taken over: all numbers, or samples (of images and sequences: their places).
enum class MeanOver : std::uint8_t { elements, rows };
constexpr auto names_of(MeanOver) {
    return std::to_array<const char*>({"elements", "rows"});
}

/// What mask_steps makes of the steps that a sample has: what they are, with zeros behind them
/// (`zeros`) or what is less than any number (`lowest`); what has their mean over as many steps as
/// there is room for (`mean`), or the last of them first (`reversed`), with zeros behind.
enum class StepMask : std::uint8_t { zeros, mean, reversed, lowest };
constexpr auto names_of(StepMask) {
    return std::to_array<const char*>({"zeros", "mean", "reversed", "lowest"});
}

}  // namespace dtnn
