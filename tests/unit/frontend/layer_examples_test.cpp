/// The example of every operator that users write as a layer is a line of a model that builds.

#include <doctest/doctest.h>

#include "compiler/frontend/explain/operator_example.hpp"

namespace layer_examples_test {

using namespace dtnn::compiler;

TEST_CASE("every layer's example builds in a model") {
    for (const std::string& name : layer_names()) {
        CAPTURE(name);
        // A mistake in it is thrown, with what was said about it.
        const OperatorExample example = compile_example(op(name));
        CHECK(example.graph.node(example.node).op == name);
        CHECK(example.graph.layers[example.layer.index()].type == name);
        CHECK(example_model(op(name)).find(op(name).example) != std::string::npos);
    }
}

}  // namespace layer_examples_test
