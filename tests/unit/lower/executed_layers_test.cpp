#include "compiler/lower/executed_layers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace executed_layers_test {

using namespace dtnn;
using plan::Layer;
using plan::ProgramPhase;

namespace {

Layer layer(const char* name, const char* type, std::vector<std::string> from) {
    Layer one;
    one.name = name;
    one.type = type;
    one.from = std::move(from);
    return one;
}

using Lists = std::vector<std::vector<int>>;

Lists executed(const std::vector<Layer>& layers, plan::Program program) {
    compiler::note_executed_layers(layers, program);
    Lists lists;
    for (const plan::Step& step : program.steps)
        lists.push_back(step.layers);
    return lists;
}

}  // namespace

TEST_CASE("the layers that a step executes are those up to the next written value") {
    std::vector<Layer> layers = {layer("c", "conv2d", {"input"}),   layer("n", "batch_norm", {"c"}),
                                 layer("a", "add", {"n", "input"}), layer("r", "relu", {"a"}),
                                 layer("f", "flatten", {"r"}),      layer("o", "dropout", {"f"}),
                                 layer("d", "dense", {"o"})};
    plan::Program program;
    const auto tensor = [&](const char* name) {
        program.tensors.emplace_back().name = name;
        return int(program.tensors.size()) - 1;
    };
    const auto step = [&](int own_layer, std::vector<int> sources, int destination) {
        plan::Step& one = program.steps.emplace_back();
        one.layer = own_layer;
        one.sources = std::move(sources);
        one.destinations = {destination};
    };
    const int source = tensor("source"), c = tensor("c"), r = tensor("r"), d = tensor("d");
    SUBCASE("training") {
        const int o = tensor("o");
        step(0, {source}, c);
        step(1, {c, source}, r);
        step(5, {r}, o);
        step(6, {o}, d);
        CHECK(executed(layers, program) == Lists{{0}, {1, 2, 3}, {4, 5}, {6}});
    }
    SUBCASE("inference, where dropout does nothing") {
        SUBCASE("dropout") {}
        SUBCASE("spatial_dropout2d") {
            layers[5].type = "spatial_dropout2d";
        }
        program.phase = ProgramPhase::inference;
        step(0, {source}, r);
        step(6, {r}, d);
        CHECK(executed(layers, program) == Lists{{0, 1, 2, 3}, {4, 6}});
    }
}

}  // namespace executed_layers_test
