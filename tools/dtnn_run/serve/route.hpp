#pragma once
/// Where requests lead.

#include <array>

#include "base/enum_names.hpp"

namespace dtnn::serve {

enum class Route { server, live, ready, model, model_ready, infer, metrics, none };
constexpr auto names_of(Route) {
    return std::to_array<const char*>(
        {"server", "live", "ready", "model", "model_ready", "infer", "metrics", "none"});
}

}  // namespace dtnn::serve
