#include "kernels/catalogue/predicates.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::predicates {
namespace {

Refused check(const std::vector<TensorDesc>& tensors, const char* side) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::size_t rank = tensors[i].dims.size();
        if ((rank == 2 || rank == 4) && !is_channels_last(tensors[i])) {
            return std::string(side) + " " + std::to_string(i) + " is not stored channels last";
        }
    }
    return std::nullopt;
}

}  // namespace

Refused unless_stored_channels_last(const Problem& problem) {
    const std::size_t rank = problem.destinations[0].dims.size();
    if (rank != 2 && rank != 4) {
        return "it takes [N,C] and [N,C,H,W], not rank " + std::to_string(rank);
    }
    if (Refused refused = check(problem.sources, "source")) return refused;
    return check(problem.destinations, "destination");
}

Refused unless_source_is_channels_last(const Problem& problem) {
    return check(problem.sources, "source");
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
