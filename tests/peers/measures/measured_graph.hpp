#pragma once
/// A model's end with its loss and its metrics, as a training attaches them.

#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/verifier.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "tests/gradient/interpreter.hpp"
#include "tests/graphs/parser.hpp"

namespace dtnn::tests {

/// The graph of the text, which returns predictions, behind the passes of the context's program up
/// to the update: all of them, or with `plain` only those that give operators their meaning.
inline compiler::Graph measured(const std::string& text, compiler::PassContext context,
                                bool plain) {
    using namespace compiler;
    Graph graph = parse_graph(text, infer_types);
    for (const PassInfo& pass : all_passes()) {
        if (!pass.programs.contains(context.program) || pass.name == "attach_update") continue;
        if (plain && (pass.optional || pass.name == "layout" || pass.name == "schedule")) continue;
        graph = pass.run(graph, context);
        CAPTURE(pass.name);
        REQUIRE(verify(graph).empty());
        REQUIRE(check_types(graph).empty());
    }
    return graph;
}

/// The graph's result of that name; invalid when there is none.
inline compiler::ValueId output_of(const compiler::Graph& graph, const std::string& name) {
    for (const compiler::GraphOutput& output : graph.outputs)
        if (output.name == name) return output.value;
    return {};
}

/// The input or parameter of that name.
inline compiler::ValueId operand_of(const compiler::Graph& graph, const std::string& name) {
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
        const compiler::ValueId id(i);
        if (graph.value(id).name == name && graph.value(id).kind != compiler::ValueKind::result)
            return id;
    }
    return {};
}

}  // namespace dtnn::tests
