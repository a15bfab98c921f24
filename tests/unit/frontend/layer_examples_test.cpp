/// The example of every operator that users write as a layer is a line of a model that builds.

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compiler/frontend/specs.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/ops/op.hpp"

using namespace dtnn::compiler;

TEST_CASE("every layer's example builds in a model") {
    const auto file = std::filesystem::temp_directory_path() /
                      ("dtnn_example_" + std::to_string(::getpid()) + ".yaml");
    for (const std::string& name : layer_names()) {
        CAPTURE(name);
        std::ofstream(file) << "kind: model\nname: example\ninput: {shape: [1, 28, 28]}\nlayers:\n"
                               "  - conv2d: {filters: 16, kernel: 3, padding: same}\n"
                               "  - conv2d: {filters: 16, kernel: 3, padding: same}\n"
                            << (name == "dense" ? "  - flatten\n" : "") << "  " << op(name).example
                            << "\n"
                            << (name == "dense" || name == "flatten" ? "" : "  - flatten\n")
                            << "  - dense: {units: 10}\n";
        Diagnostics diagnostics;
        const JobSpec job = load_job(file.string(), {}, diagnostics);
        if (!diagnostics.has_errors()) {
            const Graph graph = build_graph(job, 2, diagnostics);
            bool found = false;
            for (const Node& node : graph.nodes)
                found = found || node.op == name;
            CHECK(found);
        }
        const std::string said = diagnostics.render(false);
        CAPTURE(said);
        CHECK_FALSE(diagnostics.has_errors());
    }
    std::filesystem::remove(file);
}
