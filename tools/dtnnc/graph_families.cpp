#include "tools/dtnnc/graph_families.hpp"

#include <algorithm>

namespace dtnn::tools {

const std::vector<Family>& families() {
    // Light fills of one brightness and darker borders of the same hue: black text is readable on
    // all of them, and neighbours in usual networks (convolution, normalisation, activation) differ
    // in hue for colour-blind eyes as well.
    static const std::vector<Family> list = {
        {"input", "#eeeeee", "#666666"},      {"convolution", "#cfe2ff", "#2f6fd0"},
        {"dense", "#d8d4fb", "#6a55c9"},      {"normalisation", "#fff0c2", "#b98a00"},
        {"activation", "#ffd9c7", "#d0602c"}, {"pooling", "#cdeede", "#2a8f62"},
        {"join", "#f9d0e4", "#b93d7f"},       {"shape", "#dfe5ea", "#64788a"},
        {"dropout", "#e9e2d6", "#8d7650"},    {"loss and metrics", "#f8caca", "#b83434"},
        {"update", "#d5f0f2", "#2b8a92"},     {"block", "#f4f6fb", "#44516b"},
        {"other", "#ffffff", "#555555"},
    };
    return list;
}

const Family& family_named(std::string_view name) {
    const auto& list = families();
    auto found = std::find_if(list.begin(), list.end(),
                              [&](const Family& family) { return family.name == name; });
    return found == list.end() ? list.back() : *found;
}

const Family& family_of(std::string_view op) {
    auto has = [&](std::string_view part) { return op.find(part) != std::string_view::npos; };
    auto is = [&](std::initializer_list<std::string_view> names) {
        return std::any_of(names.begin(), names.end(),
                           [&](std::string_view name) { return op.starts_with(name); });
    };
    if (op == "input" || op == "source") return family_named("input");
    if (has("cross_entropy") || has("squared_error") || has("likelihood") || has("accuracy") ||
        op == "one_hot")
        return family_named("loss and metrics");
    if (op.ends_with("_update")) return family_named("update");
    if (has("conv2d")) return family_named("convolution");
    if (has("dense")) return family_named("dense");
    if (has("norm")) return family_named("normalisation");
    if (has("pool")) return family_named("pooling");
    if (has("dropout")) return family_named("dropout");
    if (is({"add", "concat", "multiply", "channel_scale"})) return family_named("join");
    if (is({"relu", "leaky", "elu", "selu", "gelu", "silu", "sigmoid", "hard_", "tanh", "arctanh",
            "softplus", "softmax", "log", "scale", "identity", "elementwise"}))
        return family_named("activation");
    if (is({"flatten", "unflatten", "reshape", "reorder", "pixels_to_rows", "rows_to_pixels",
            "slice", "zero_pad2d", "upsample"}))
        return family_named("shape");
    return family_named("other");
}

}  // namespace dtnn::tools
