#include "kernels/catalogue/predicates.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::predicates {
namespace {

/// Those with as many axes as the first source.
Refused check(const Problem& problem, const std::vector<TensorType>& tensors, const char* side) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].dims.size() == problem.sources[0].dims.size() &&
            !is_stored_last(axis_of(problem), tensors[i])) {
            return std::string(side) + " " + std::to_string(i) + " is not stored channels last";
        }
    }
    return std::nullopt;
}

}  // namespace

Refused unless_stored_channels_last(const Problem& problem) {
    if (Refused refused = check(problem, problem.sources, "source")) return refused;
    return check(problem, problem.destinations, "destination");
}

Refused unless_window_2x2(const Problem& problem) {
    if (Refused refused = unless_stored_channels_last(problem)) return refused;
    const auto is = [&](const char* name, std::int64_t wanted) {
        for (const std::int64_t value : problem.integers(name)) {
            if (value != wanted) return false;
        }
        return true;
    };
    if (!is("kernel", 2) || !is("stride", 2)) return "the window is not 2x2 with stride 2";
    if (!is("dilation", 1)) return "the window is dilated";
    if (!is("padding", 0)) return "the image is padded";
    return std::nullopt;
}

}  // namespace dtnn::kernels::predicates
