// The labels of the operators' fields. A field that several operators have in the same sense has
// one rule ("*").

#include "plan/meaning.hpp"

namespace dtnn::plan {

namespace {

constexpr Meaning kMath = Meaning::mathematics;

}  // namespace

const std::vector<LayerMeaningEntry>& layer_meanings() {
    static const std::vector<LayerMeaningEntry> entries = {
        {"*", "filters", kMath, "the layer has another number of outputs and weights"},
        {"*", "units", kMath, "the layer has another number of outputs and weights"},
        {"*", "multiplier", kMath, "every channel has another number of outputs and weights"},
        {"*", "kernel", kMath, "windows have another extent"},
        {"*", "stride", kMath, "windows lie at other distances"},
        {"*", "padding", kMath, "other values surround the image"},
        {"*", "dilation", kMath, "the cells of a window lie at other distances"},
        {"*", "groups", kMath, "other channels are computed together"},
        {"*", "bias", kMath, "a learned number is added or not"},
        {"*", "weights_initializer", kMath, "training starts from other weights"},
        {"*", "bias_initializer", kMath, "training starts from other biases"},
        {"*", "gamma_initializer", kMath, "training starts from other scales"},
        {"*", "beta_initializer", kMath, "training starts from other shifts"},
        {"*", "epsilon", kMath, "small variances are divided by another number"},
        {"*", "momentum", kMath, "the moving statistics that evaluation uses reach back otherwise"},
        {"*", "rate", kMath, "another share of the values is dropped"},
        {"*", "axis", kMath, "values are taken together along another axis"},
    };
    return entries;
}

}  // namespace dtnn::plan
