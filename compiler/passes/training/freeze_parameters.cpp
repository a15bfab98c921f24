#include <algorithm>

#include "compiler/passes/pass.hpp"
#include "plan/rules/parameter_groups.hpp"

namespace dtnn::compiler {

/// Makes the parameters of groups with `frozen: true` untrainable.
///
///     @conv2d_1.weights: f32[8,3,3,3]   ->   @conv2d_1.weights: f32[8,3,3,3] frozen
///
/// They then get no gradient, no update, no optimizer's state and no average, and the backward part
/// below the lowest trainable parameter is never made. The statistics of a batch norm with frozen
/// gamma and beta go on moving in training. In every program, because all agree about what
/// parameters are; before differentiate. Must not fire where no group freezes.
std::optional<Graph> freeze_parameters(const Graph& graph, PassContext& context) {
    const auto freezes = [&](const Parameter& parameter) {
        return parameter.trainable && group_freezes(context.training, parameter.name);
    };
    if (std::none_of(graph.parameters.begin(), graph.parameters.end(), freezes))
        return std::nullopt;
    Graph result = graph;
    result.parameters = {};
    for (Parameter parameter : graph.parameters) {
        if (freezes(parameter)) parameter.trainable = false;
        result.parameters.push_back(std::move(parameter));
    }
    return result;
}

}  // namespace dtnn::compiler
