/// The maps that ship for torchvision's models: every tensor of every model goes to a parameter of
/// the same shape, every parameter gets one, and the way back gives the same names and shapes.
/// modules.txt has torchvision's; no number is needed.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/driver/compile_job.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/parameter_names.hpp"
#include "runtime/checkpoint/weight_exchange.hpp"
#include "runtime/checkpoint/weight_layout.hpp"
#include "runtime/checkpoint/weight_maps.hpp"
#include "runtime/checkpoint/weight_match.hpp"

namespace dtnn::torchvision_test {
namespace {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is about its maps

const std::vector<std::string> kSpecs = {"specs"};

using Shapes = std::map<std::string, Dims>;

/// Adds the tensors of `conv1 64x3x7x7`, `fc 10x64 bias` or `bn1 64 norm`.
void add_module(Shapes& shapes, const std::string& within, const std::string& text) {
    std::istringstream words(text);
    std::string name, shape, kind;
    words >> name >> shape >> kind;
    const std::string module = within + name;
    Dims dims;
    std::istringstream extents(shape);
    for (std::string extent; std::getline(extents, extent, 'x');)
        dims.push_back(std::stoll(extent));
    shapes[module + ".weight"] = dims;
    if (!kind.empty()) shapes[module + ".bias"] = {dims[0]};
    if (kind != "norm") return;
    shapes[module + ".running_mean"] = shapes[module + ".running_var"] = dims;
    shapes[module + ".num_batches_tracked"] = {};
}

/// The tensors of each model, by our name: those that load_state_dict() wants, in its order.
std::map<std::string, Shapes> their_models() {
    std::map<std::string, Shapes> models;
    std::ifstream file("tests/peers/torchvision/modules.txt");
    Shapes* at = nullptr;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        if (line.front() == '[') {
            at = &models[line.substr(1, line.find(' ') - 1)];
            continue;
        }
        REQUIRE(at != nullptr);
        const std::string within = line.substr(0, line.find(": "));
        std::istringstream modules(line.substr(within.size() + 2));
        for (std::string module; std::getline(modules, module, ',');)
            add_module(*at, within == "." ? "" : within + ".", module);
    }
    return models;
}

plan::Plan plan_of(const std::string& model, const std::vector<std::string>& settings = {}) {
    compiler::Diagnostics diagnostics;
    compiler::LoadOptions options;
    options.settings = settings;
    const auto job =
        compiler::load_job("specs/models/published/" + model + ".yaml", options, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    const auto plan = compiler::compile_job(job, {.isa = "avx2", .threads = 1}, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return *plan;
}

/// Names and shapes; what would be numbers is nowhere looked at.
WeightFile file_of(const Shapes& shapes) {
    WeightFile file;
    file.path = "theirs.safetensors";
    file.metadata["format"] = "pt";
    for (const auto& [name, dims] : shapes)
        file.tensors.push_back(
            {name, name.ends_with(kBatchCount) ? DType::i64 : DType::f32, dims, {}});
    return file;
}

WeightRequest asked(const std::string& map = "") {
    WeightRequest request{.path = "theirs.safetensors", .map = map};
    request.map_folders = kSpecs;
    return request;
}

std::string lines(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& line : all)
        text += line + "\n";
    return text;
}

/// The name is of a head that only training has.
bool is_auxiliary(const std::string& name) {
    return name.starts_with("aux") || name.starts_with("AuxLogits");
}

}  // namespace

TEST_CASE("every map of torchvision is for models of the zoo, and has its list of modules") {
    const auto theirs = their_models();
    std::set<std::string> mapped;
    for (const ShippedMap& shipped : shipped_maps(kSpecs, "torchvision")) {
        CHECK_FALSE(shipped.map.models().empty());
        for (const auto& model : shipped.map.models()) {
            CHECK_MESSAGE(mapped.insert(model.first).second, model.first, " has two maps");
            CHECK_MESSAGE(theirs.contains(model.first), model.first, " has no list in modules.txt");
        }
    }
    CHECK(mapped.size() == theirs.size());
    CHECK(mapped.size() >= 27);
}

TEST_CASE(
    "every tensor of torchvision's models becomes a parameter, and every parameter one of them") {
    const auto theirs = their_models();
    for (const auto& one : theirs) {
        const std::string& model = one.first;
        const Shapes& shapes = one.second;
        CAPTURE(model);
        const plan::Plan plan = plan_of(model);
        const WeightFile file = file_of(shapes);
        ShippedMap found = wanted_map(plan, file, asked());
        REQUIRE_FALSE(found.name.empty());
        CHECK(found.map.models().contains(model));
        CHECK(wanted_map(plan, file, asked("torchvision")).name == found.name);

        const WeightMatch match = match_weights(plan, file, asked(), found.map);
        CHECK_MESSAGE(match.differences.empty(), lines(match.differences));
        CHECK(match.missing.empty());
        CHECK(match.unused.empty());
        CHECK(match.layout == WeightLayout::torch);
        for (const std::string& name : match.dropped)
            CHECK_MESSAGE(is_auxiliary(name), name);

        const ShippedMap back = map_for_others(plan, "torchvision", kSpecs);
        CHECK(back.name == found.name);
        Shapes ours;
        const LayoutRules rules(plan);
        for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
            const plan::Parameter& parameter = plan.parameters[i];
            if (parameter.optimizer_state) continue;
            const auto name = name_for_others(parameter, back.map, WeightLayout::torch);
            REQUIRE_MESSAGE(name, parameter.name);
            CHECK_MESSAGE(
                ours.emplace(*name, rules.forms(i, WeightLayout::torch).front().dims).second,
                *name);
        }
        for (const auto& tensor : shapes) {
            const std::string& name = tensor.first;
            if (is_auxiliary(name) || name.ends_with(kBatchCount)) continue;
            REQUIRE_MESSAGE(ours.contains(name), name);
            CHECK_MESSAGE(ours[name] == tensor.second, name);
            ours.erase(name);
        }
        CHECK(ours.empty());
    }
}

TEST_CASE("one tensor too few, too many, or of another shape is told by both names") {
    const auto theirs = their_models();
    const plan::Plan plan = plan_of("resnet18");
    const auto differences = [&](const Shapes& shapes) {
        const WeightFile file = file_of(shapes);
        const ShippedMap found = wanted_map(plan, file, asked());
        CHECK(found.name == "torchvision/resnet");
        return lines(match_weights(plan, file, asked(), found.map).differences);
    };
    Shapes fewer = theirs.at("resnet18");
    fewer.erase("layer3.1.bn2.running_var");
    CHECK(differences(fewer) ==
          "stage_3/residual_2/batch_norm_2.running_variance f32 [256] is missing\n");
    Shapes more = theirs.at("resnet18");
    more["layer1.7.conv1.weight"] = {64, 64, 3, 3};
    CHECK(differences(more) ==
          "stage_1/residual_8/conv2d_1.weight (from layer1.7.conv1.weight) is not in the plan\n");
    Shapes other = theirs.at("resnet18");
    other["fc.weight"] = {512, 1000};
    CHECK(differences(other) ==
          "head_1/dense_1.weights (from fc.weight) is f32 [512,1000] in the file and f32 "
          "[512,1000] in the "
          "plan, so f32 [1000,512] in a file of torch weights\n");
}

TEST_CASE("the names in the files that torchvision downloads are read, too") {
    // Its DenseNets rename `norm.1` when they load them.
    const auto theirs = their_models();
    Shapes old;
    for (const auto& [name, dims] : theirs.at("densenet121")) {
        std::string called = name;
        const std::size_t layer = called.find("denselayer");
        const std::size_t module = called.find('.', layer);
        if (layer != std::string::npos) called.insert(module + 5, ".");
        old[called] = dims;
    }
    REQUIRE(old.contains("features.denseblock1.denselayer1.norm.1.weight"));
    const plan::Plan plan = plan_of("densenet121");
    const WeightFile file = file_of(old);
    const ShippedMap found = wanted_map(plan, file, asked());
    CHECK(found.name == "torchvision/densenet");
    CHECK(match_weights(plan, file, asked(), found.map).differences.empty());
}

TEST_CASE("a model of another name is found by its layers, and a new head is kept") {
    const auto theirs = their_models();
    plan::Plan plan = plan_of("resnet18", {"model.parameters.classes=5"});
    plan.model = "birds";
    const WeightFile file = file_of(theirs.at("resnet18"));
    WeightRequest request = asked();
    CHECK(wanted_map(plan, file, request).name == "torchvision/resnet");
    CHECK_FALSE(match_weights(plan, file, request, wanted_map(plan, file, request).map)
                    .differences.empty());
    request.keep = {"head_1/*"};
    const ShippedMap found = wanted_map(plan, file, request);
    const WeightMatch match = match_weights(plan, file, request, found.map);
    CHECK_MESSAGE(match.differences.empty(), lines(match.differences));
    REQUIRE(match.missing.size() == 2);
    CHECK(plan.parameters[match.missing[0]].name == "head_1/dense_1.weights");
    CHECK(map_for_others(plan, "torchvision", kSpecs).name == "torchvision/resnet");
    // A network of other layers has no map, and files of its own names need none.
    const plan::Plan lenet = plan_of("lenet5");
    CHECK(wanted_map(lenet, file, asked()).name.empty());
    CHECK_THROWS_AS(static_cast<void>(wanted_map(lenet, file, asked("torchvision"))), RunError);
    CHECK_THROWS_AS(static_cast<void>(map_for_others(lenet, "torchvision", kSpecs)), RunError);
}

}  // namespace dtnn::torchvision_test
