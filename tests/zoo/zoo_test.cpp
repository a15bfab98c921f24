/// The zoo: every model compiles for training, and has exactly the trainable parameters and the
/// work that its source says.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/driver/compile_job.hpp"
#include "compiler/frontend/explain/operator_example.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/ops/emit.hpp"
#include "kernels/catalogue.hpp"
#include "plan/audit/audit.hpp"
#include "plan/diff/diff.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/checkpoint/weight_match.hpp"
#include "tests/graphs/parser.hpp"
#include "tests/rewrite_goldens.hpp"

namespace dtnn::zoo_test {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLines = 120;

struct Expected {
    std::int64_t trainable = 0;
    double mega_macs = 0;
};

const std::map<std::string, Expected>& expected_models() {
    static const std::map<std::string, Expected> table = {
#define ZOO(name, trainable, mega_macs) {#name, {trainable, mega_macs}},
#include "tests/zoo/counts.def"
#undef ZOO
    };
    return table;
}

std::vector<fs::path> shipped_models() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator("specs/models"))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

plan::Plan compile_for_training(const std::string& file, const std::string& device = "cpu",
                                const compiler::LoadOptions& load = {}) {
    compiler::Diagnostics diagnostics;
    const compiler::JobSpec job = compiler::load_job(file, load, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
    compiler::CompileOptions options{.device = device};
    if (device == "cpu") {
        options.isa = "avx2";
        options.threads = 1;
    }
    const auto plan = compiler::compile_job(job, options, diagnostics);
    REQUIRE_MESSAGE(plan.has_value(), diagnostics.render(false));
    return *plan;
}

/// Steps of training by reference kernels, which are for comparisons and a hundred times slower.
std::string slow_steps(const plan::Plan& plan) {
    std::string slow;
    for (const plan::Step& step : plan::find_program(plan, plan::ProgramKind::train)->steps)
        if (step.kernel == "reference") slow += step.name + "; ";
    return slow;
}

/// Multiply-adds of convolutions and dense layers, biases not counted.
double mega_macs(const plan::Plan& plan) {
    double total = 0;
    for (const plan::Layer& layer : plan.layers) {
        if (layer.weights_shape.empty()) continue;
        const auto bias = layer.attributes.find("bias");
        const bool biased = bias != layer.attributes.end() && std::get<bool>(bias->second);
        const std::int64_t outputs = element_count(layer.output_shape);
        total += double(layer.forward_flops - (biased ? outputs : 0)) / 2e6;
    }
    return total;
}

}  // namespace

TEST_CASE("every model compiles for training and has exactly its parameters") {
    int compiled = 0;
    for (const fs::path& file : shipped_models()) {
        const std::string name = file.stem().string();
        CAPTURE(name);
        const auto expected = expected_models().find(name);
        if (expected == expected_models().end()) {
            FAIL_CHECK("tests/zoo/counts.def does not have " << name);
            continue;
        }
        const plan::Plan plan = compile_for_training(file.string());
        std::int64_t trainable = 0;
        for (const plan::Layer& layer : plan.layers)
            trainable += layer.trainable;
        CHECK_EQ(trainable, expected->second.trainable);
        if (expected->second.mega_macs > 0) {
            // The sources round to three or four digits.
            const double macs = mega_macs(plan), wanted = expected->second.mega_macs;
            CAPTURE(macs);
            CHECK(std::abs(macs - wanted) <= std::max(0.004 * wanted, 0.06));
        }
        CHECK(plan::find_program(plan, "train"));
        CHECK_EQ(slow_steps(plan), "");
        CHECK_EQ(plan.model, name);
        ++compiled;
    }
    MESSAGE(compiled << " models");
    CHECK_EQ(compiled, expected_models().size());
}

namespace {

/// A model of each operator for layers, and of each formula that ships.
std::map<std::string, std::string> one_layer_models() {
    std::map<std::string, std::string> texts;
    for (const std::string& name : compiler::layer_names())
        texts[name] = compiler::example_model(compiler::op(name));
    for (const auto& entry : fs::directory_iterator("specs/operators")) {
        const std::string name = entry.path().stem().string();
        texts[name] = "kind: model\nname: formula\ninput: {shape: [4, 8, 8]}\noperators: [" + name +
                      "]\nlayers:\n  - conv2d: {filters: 8, kernel: 3}\n  - " + name +
                      "\n  - flatten\n  - dense: {units: 10}\n  - softmax\n";
    }
    return texts;
}

plan::Plan compile_text(const std::string& text) {
    compiler::LoadOptions load;
    load.spec_path = {"specs"};
    load.texts["one_layer"] = text;
    return compile_for_training("one_layer", "cpu", load);
}

}  // namespace

TEST_CASE("no operator or formula that ships trains by a reference kernel") {
    for (const auto& [name, text] : one_layer_models()) {
        CAPTURE(name);
        CHECK_EQ(slow_steps(compile_text(text)), "");
    }
}

TEST_CASE("the resolved document of every layer and formula compiles to the same plan") {
    for (const auto& [name, text] : one_layer_models()) {
        CAPTURE(name);
        const plan::Plan plan = compile_text(text);
        const auto changes = plan::diff(plan, compile_text(plan.resolved_spec));
        CHECK_MESSAGE(changes.empty(), plan::diff_text(changes, "spec", "resolved"));
    }
}

TEST_CASE("a file of a plan's own names fits it, of every layer") {
    for (const auto& [name, text] : one_layer_models()) {
        CAPTURE(name);
        const plan::Plan plan = compile_text(text);
        std::vector<std::vector<std::byte>> numbers;
        runtime::WeightFile file;
        file.path = "weights.npz";
        for (const plan::Parameter& parameter : plan.parameters) {
            if (parameter.optimizer_state) continue;
            numbers.emplace_back(
                std::size_t(element_count(parameter.dims) * size_of(parameter.dtype)));
            file.tensors.push_back(
                {parameter.name, parameter.dtype, parameter.dims, numbers.back()});
        }
        if (file.tensors.empty()) continue;
        const runtime::WeightMatch found =
            runtime::match_weights(plan, file, {.path = file.path}, {});
        CHECK_MESSAGE(found.differences.empty(), found.differences.front());
        CHECK(found.missing.empty());
        CHECK(found.unused.empty());
    }
}

namespace {

/// A plan for devices in two lines: its memory, and how often each kernel is in the program that
/// trains.
std::string text_of(const plan::Plan& plan) {
    const plan::Memory& memory = plan.memory;
    std::string text =
        fmt::format("{}: parameters {}, optimizer {}, inputs {}, transient {}\n", plan.model,
                    memory.parameters, memory.optimizer, memory.inputs, memory.transient);
    std::map<std::string, int> kernels;
    for (const plan::Step& step : plan::find_program(plan, plan::ProgramKind::train)->steps)
        ++kernels[step.op + "." + step.kernel];
    text += "   ";
    for (const auto& [kernel, count] : kernels)
        text += fmt::format(" {} {}", count, kernel);
    return text + "\n";
}

}  // namespace

TEST_CASE("every model compiles for cuda, with a sound plan of its kernels") {
    std::string all;
    for (const fs::path& file : shipped_models()) {
        CAPTURE(file.string());
        const plan::Plan plan = compile_for_training(file.string(), "cuda");
        const std::vector<std::string> findings = plan::audit(plan);
        CHECK_MESSAGE(findings.empty(), findings.front());
        for (const plan::Program& program : plan.programs) {
            for (const auto* list : {&program.prologue, &program.steps})
                for (const plan::Step& step : *list)
                    CHECK_MESSAGE((plan::is_collective(step.op) ||
                                   kernels::find_kernel(step.op, step.kernel, "cuda") != nullptr),
                                  step.op << ": " << step.kernel);
        }
        all += text_of(plan);
    }
    const char* const golden = "tests/zoo/cuda_plans.txt";
    if (rewrites_goldens()) std::ofstream(golden) << all;
    std::ostringstream wanted;
    wanted << std::ifstream(golden).rdbuf();
    CHECK_MESSAGE(all == wanted.str(), "plans for cuda differ from ", golden,
                  "; DTNN_REWRITE_GOLDENS=1 writes it anew, and git diff shows what has changed");
}

TEST_CASE("a model's graph reads back the same, with the axes of its values") {
    const auto types_in = [](const compiler::Graph& graph) {
        std::map<std::string, compiler::Type> types;
        for (std::size_t i = 0; i < graph.values.size(); ++i)
            types[std::string(graph.values[i].name)] = graph.type(compiler::ValueId(i));
        return types;
    };
    for (const fs::path& file : shipped_models()) {
        CAPTURE(file.string());
        compiler::Diagnostics diagnostics;
        const compiler::JobSpec job = compiler::load_job(file.string(), {}, diagnostics);
        const compiler::Graph graph = compiler::build_graph(job, 2, diagnostics);
        const compiler::Graph again =
            compiler::parse_graph(compiler::print(graph), compiler::infer_types);
        CHECK(compiler::print(again) == compiler::print(graph));
        CHECK((types_in(again) == types_in(graph)));
    }
}

TEST_CASE("a model's first line says its count, and none is long") {
    for (const fs::path& file : shipped_models()) {
        CAPTURE(file.string());
        std::ifstream stream(file);
        std::string line, first;
        int lines = 0;
        for (; std::getline(stream, line); ++lines)
            if (first.empty() && !line.starts_with("# yaml-language-server")) first = line;
        CHECK_LE(lines, kMostLines);
        const auto expected = expected_models().find(file.stem().string());
        if (expected == expected_models().end()) continue;
        std::string count = std::to_string(expected->second.trainable);
        for (auto at = std::ptrdiff_t(count.size()) - 3; at > 0; at -= 3)
            count.insert(std::size_t(at), ",");
        CHECK_MESSAGE(first.find(": " + count + " ") != std::string::npos, first);
    }
}

}  // namespace dtnn::zoo_test
