#include "compiler/passes/shared/image_parameters.hpp"

#include <algorithm>

#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

void add_image_parameters(const Graph& graph, const Uses& uses, std::vector<Dims>& dims) {
    std::vector<bool> updated(graph.values.size());
    for (const Update& update : graph.updates)
        updated[update.state.index()] = true;
    for (const Parameter& parameter : graph.parameters) {
        const ValueId value = parameter.value;
        const Dims& own = graph.type(value).dims;
        if (own.size() != 3 || uses.leaves(value) || updated[value.index()]) continue;
        const auto& readers = uses.readers(value);
        const bool normalises =
            !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
                return op(graph.node(reader).op).image_parameters;
            });
        if (normalises) dims[value.index()] = {1, own[0], own[1], own[2]};
    }
}

}  // namespace dtnn::compiler
