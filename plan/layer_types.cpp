#include "plan/layer_types.hpp"

#include <algorithm>
#include <iterator>

namespace dtnn::plan {
namespace {

constexpr LayerType kLayerTypes[] = {
#define LAYER_TYPE(type, ...) {.name = #type, __VA_ARGS__},
#include "plan/layer_types.def"
#undef LAYER_TYPE
};

}  // namespace

std::span<const LayerType> layer_types() {
    return kLayerTypes;
}

const LayerType& layer_type(std::string_view name) {
    static constexpr LayerType kOther = {};
    const auto* const found = std::find_if(std::begin(kLayerTypes), std::end(kLayerTypes),
                                           [&](const auto& type) { return type.name == name; });
    return found == std::end(kLayerTypes) ? kOther : *found;
}

}  // namespace dtnn::plan
