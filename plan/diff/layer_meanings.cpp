// The labels of the operators' fields. A field that several operators have in the same sense has
// one rule ("*").

#include "plan/diff/layer_meanings.hpp"

#include "plan/diff/diff.hpp"

namespace dtnn::plan {

const std::vector<LayerMeaning>& layer_meanings() {
    static const std::vector<LayerMeaning> entries = {
        {"*", "name", kNames,
         "first weights depend on a layer's place, not its name; the names in weight files and "
         "checkpoints change"},
        {"*", "from", kMath, "the layer reads another layer"},
        {"*", kShare, kMath, "the layer has parameters of its own or those of another"},
        {"*", "filters", kMath, "the layer has another number of outputs and weights"},
        {"*", "units", kMath, "the layer has another number of outputs and weights"},
        {"*", "multiplier", kMath, "every channel has another number of outputs and weights"},
        {"*", "kernel", kMath, "windows have another extent"},
        {"*", "stride", kMath, "windows lie at other distances"},
        {"*", "padding", kMath, "other values surround the image or the sequence"},
        {"*", "dilation", kMath, "the cells of a window lie at other distances"},
        {"*", "groups", kMath, "other channels are computed together"},
        {"*", "bias", kMath, "a learned number is added or not"},
        {"*", "weights_initializer", kMath, "training starts from other weights"},
        {"*", "bias_initializer", kMath, "training starts from other biases"},
        {"*", "gamma_initializer", kMath, "training starts from other scales"},
        {"*", "beta_initializer", kMath, "training starts from other shifts"},
        {"*", "epsilon", kMath, "small variances are divided by another number"},
        {"*", "reversed", kMath, "steps are gone through the other way"},
        {"*", "hidden_weights_initializer", kMath, "training starts from other weights"},
        {"*", "hidden_bias_initializer", kMath, "training starts from other biases"},
        {"*", "momentum", kMath, "the moving statistics that evaluation uses reach back otherwise"},
        {"*", "rate", kMath, "another share of the values is dropped"},
        {"*", "axis", kMath, "values are taken together along another axis"},
        {"*", "affine", kMath, "a learned scale and shift follow or not"},
        {"*", "size", kMath, "the result has another extent"},
        {"*", "shape", kMath, "the values are arranged otherwise"},
        {"*", "output_padding", kMath, "the result has another extent"},
        {"*", "begin", kMath, "another part is taken"},
        {"*", "end", kMath, "another part is taken"},
        {"*", "expression", kMath, "another function of every value"},
        {"*", "negative_slope", kMath, "negative values are scaled by another factor"},
        {"*", "approximation", kMath, "another function, near the exact one"},
        {"*", "count_include_pad", kMath, "padded cells count in the mean or not"},
        {"one_hot", "classes", kMath, "another number of values is told apart"},
        {"matmul", "transpose_first", kMath, "another axis of the first input is summed over"},
        {"matmul", "transpose_second", kMath, "another axis of the second input is summed over"},
        {"matmul", "scale", kMath, "products are multiplied by another number"},
        {"attention", "heads", kMath, "other parts of the features attend by themselves"},
        {"attention", "key_value_heads", kMath, "other heads share keys and values"},
        {"attention", "causal", kMath, "steps see the ones behind them or not"},
        {"attention", "scale", kMath, "scores are multiplied by another number"},
        {"attention", "dropout", kMath, "another share of what steps take of others is dropped"},
        {"position_embedding", "form", kMath, "steps are told apart by other numbers"},
        {"position_embedding", "positions", kMath, "the table has another number of rows"},
        {"*", "base", kMath, "angles grow otherwise with the steps"},
        {"rotary_embedding", "heads", kMath, "other parts of the features are turned alike"},
        {"rotary_embedding", "pairs", kMath, "other numbers are turned together"},
        {"embedding", "entries", kMath, "the table has another number of rows"},
        {"elu", "alpha", kMath, "negative values tend to another limit"},
        {"softplus", "beta", kMath, "the bend at zero has another width"},
        {"scale", "factor", kMath, "values are multiplied by another number"},
        {"scale", "offset", kMath, "another number is added to the values"},
        {"upsample2d", "factor", kMath, "the result has another extent"},
        {"upsample2d", "mode", kMath, "new cells are made of old ones in another way"},
        {"upsample2d", "align_corners", kMath, "new cells lie at other places between old ones"},
        {"local_response_norm", "size", kMath, "another number of channels is taken together"},
        {"local_response_norm", "alpha", kMath, "neighbours weigh otherwise"},
        {"local_response_norm", "beta", kMath, "neighbours weigh otherwise"},
        {"local_response_norm", "k", kMath, "neighbours weigh otherwise"},
    };
    return entries;
}

const LayerMeaning* find_layer_meaning(std::string_view type, std::string_view field) {
    const LayerMeaning* common = nullptr;
    for (const LayerMeaning& entry : layer_meanings()) {
        if (entry.field != field) continue;
        if (entry.type == type) return &entry;
        if (entry.type == "*") common = &entry;
    }
    return common;
}

const LayerMeaning& meaning_of_layer_field(std::string_view type, std::string_view field) {
    static const LayerMeaning unknown = {"*", "*", kMath, kNoLabel};
    const LayerMeaning* entry = find_layer_meaning(type, field);
    return entry ? *entry : unknown;
}

}  // namespace dtnn::plan
