#include "tools/dtnnc/draw/graph_families.hpp"

#include <algorithm>
#include <cstddef>

#include "compiler/ops/op.hpp"

namespace dtnn::tools {
namespace {

/// In the order of compiler::Family.
constexpr const char* kNames[] = {
    "convolution", "dense",   "normalisation", "activation",       "pooling", "join",
    "shape",       "dropout", "sequence",      "loss and metrics", "update",  "other"};

}  // namespace

const std::vector<FamilyStyle>& families() {
    // Light fills of one brightness and darker borders of the same hue: black text is readable on
    // all of them, and neighbours in usual networks (convolution, normalisation, activation) differ
    // in hue for colour-blind eyes as well.
    static const std::vector<FamilyStyle> list = {
        {"input", "#eeeeee", "#666666"},
        {"convolution", "#cfe2ff", "#2f6fd0"},
        {"dense", "#d8d4fb", "#6a55c9"},
        {"normalisation", "#fff0c2", "#b98a00"},
        {"activation", "#ffd9c7", "#d0602c"},
        {"pooling", "#cdeede", "#2a8f62"},
        {"join", "#f9d0e4", "#b93d7f"},
        {"shape", "#dfe5ea", "#64788a"},
        {"dropout", "#e9e2d6", "#8d7650"},
        {"sequence", "#e3f3c4", "#6b8e23"},
        {"loss and metrics", "#f8caca", "#b83434"},
        {"update", "#d5f0f2", "#2b8a92"},
        {"block", "#f4f6fb", "#44516b"},
        {"other", "#ffffff", "#555555"},
    };
    return list;
}

const FamilyStyle& family_named(std::string_view name) {
    const auto& list = families();
    auto found = std::find_if(list.begin(), list.end(),
                              [&](const FamilyStyle& family) { return family.name == name; });
    return found == list.end() ? list.back() : *found;
}

const FamilyStyle& family_of(std::string_view op) {
    // What a graph begins with is no operator.
    if (op == "input" || op == "source") return family_named("input");
    const compiler::OpDef* def = compiler::find_op(op);
    return family_named(def == nullptr ? "other" : kNames[std::size_t(*def->family)]);
}

}  // namespace dtnn::tools
