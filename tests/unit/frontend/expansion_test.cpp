// Blocks, repeats, choices, expressions and defaults: what a model comes to, layer by layer.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "compiler/frontend/expand/standard_blocks.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ir/graph.hpp"

namespace expansion_test {

namespace fs = std::filesystem;
using namespace dtnn;
using namespace dtnn::compiler;

namespace {

class ModelFile {
  public:
    explicit ModelFile(const std::string& text)
        : path_(fs::temp_directory_path() /
                ("dtnn_expand_" + std::to_string(::getpid()) + ".yaml")) {
        std::ofstream(path_) << text;
    }
    ~ModelFile() { fs::remove(path_); }
    ModelFile(const ModelFile&) = delete;
    ModelFile& operator=(const ModelFile&) = delete;
    std::string path() const { return path_.string(); }

  private:
    fs::path path_;
};

JobSpec load(const std::string& text, const std::vector<std::string>& settings = {}) {
    const ModelFile file("kind: model\nname: test\n" + text);
    Diagnostics diagnostics;
    JobSpec job = load_job(file.path(), {{}, settings}, diagnostics);
    const std::string said = diagnostics.render(false);
    CAPTURE(said);
    REQUIRE_FALSE(diagnostics.has_errors());
    return job;
}

Diagnostics refused(const std::string& text) {
    const ModelFile file("kind: model\nname: test\n" + text);
    Diagnostics diagnostics;
    load_job(file.path(), {}, diagnostics);
    return diagnostics;
}

/// "name <- sources : shape" of every layer.
std::vector<std::string> layers_of(const JobSpec& job) {
    std::vector<std::string> lines;
    for (const LayerSpec& layer : job.model.layers) {
        std::string line = layer.name + " <-";
        for (const int source : layer.sources)
            line += " " + (source < 0 ? std::string("input")
                                      : job.model.layers[std::size_t(source)].name);
        line += " :";
        for (const std::int64_t extent : layer.shape)
            line += " " + std::to_string(extent);
        lines.push_back(line);
    }
    return lines;
}

using Lines = std::vector<std::string>;

std::int64_t integer(const LayerSpec& layer, const std::string& field) {
    return std::get<std::int64_t>(layer.fields.at(field));
}

}  // namespace

TEST_CASE("a block is used like an operator, and its layers are below its name") {
    const JobSpec job = load(R"(
parameters: {width: 8, act: relu}
defaults:
  conv2d: {bias: false, padding: same}
input: {shape: [3, 16, 16]}
blocks:
  stage:
    parameters: {filters: integer, count: integer, stride: {type: integer, default: 1}}
    layers:
      - basic: {filters: "${filters}", stride: "${stride}"}
      - repeat: {times: "${count - 1}", layers: [basic: {filters: "${filters}"}]}
  basic:
    description: two convolutions and a shortcut
    parameters:
      filters: {type: integer, minimum: 1, doc: channels of the result}
      stride: {type: integer, default: 1}
      project: {type: boolean, default: "${true if stride != 1 else in.channels != filters}"}
    layers:
      - add:
          - [conv2d: {filters: "${filters}", kernel: 3, stride: "${stride}"}, "${act}"]
          - - if:
                condition: "${project}"
                then: [conv2d: {filters: "${filters}", kernel: 1, stride: "${stride}"}]
layers:
  - stage: {name: first, filters: "${width}", count: 2}
  - stage: {filters: "${2 * width}", count: 1, stride: 2}
  - flatten
  - dense: {units: 10}
  - softmax
)");
    CHECK_EQ(layers_of(job),
             Lines{"first/basic_1/conv2d_1 <- input : 8 16 16",
                   "first/basic_1/relu_1 <- first/basic_1/conv2d_1 : 8 16 16",
                   "first/basic_1/conv2d_2 <- input : 8 16 16",
                   "first/basic_1/add_1 <- first/basic_1/relu_1 first/basic_1/conv2d_2 : 8 16 16",
                   "first/basic_2/conv2d_1 <- first/basic_1/add_1 : 8 16 16",
                   "first/basic_2/relu_1 <- first/basic_2/conv2d_1 : 8 16 16",
                   "first/basic_2/add_1 <- first/basic_2/relu_1 first/basic_1/add_1 : 8 16 16",
                   "stage_2/basic_1/conv2d_1 <- first/basic_2/add_1 : 16 8 8",
                   "stage_2/basic_1/relu_1 <- stage_2/basic_1/conv2d_1 : 16 8 8",
                   "stage_2/basic_1/conv2d_2 <- first/basic_2/add_1 : 16 8 8",
                   std::string("stage_2/basic_1/add_1 <- stage_2/basic_1/relu_1 ") +
                       "stage_2/basic_1/conv2d_2 : 16 8 8",
                   "flatten_1 <- stage_2/basic_1/add_1 : 1024", "dense_1 <- flatten_1 : 10",
                   "softmax_1 <- dense_1 : 10"});
    CHECK_EQ(std::get<bool>(job.model.layers[0].fields.at("bias")), false);
    // A default of a type is not one of its operator: its origin is where it is written.
    CHECK(job.model.layers[0].spans.contains("bias"));
    CHECK_EQ(job.model.layers[0].spans.at("bias").place.line, 6);
}

TEST_CASE("repeats have scopes when they have a name, and names in them are paths") {
    const JobSpec job = load(R"(
input: {shape: [1, 8, 8]}
blocks:
  pair: {layers: [relu, add: {from: [relu_1, input]}]}
layers:
  - repeat:
      times: 2
      name: stage
      index: i
      layers:
        - conv2d: {filters: "${10 * (i + 1)}", kernel: 1}
        - repeat: {times: 2, index: k, layers: [conv2d: {filters: "${i + k + 1}", kernel: 1, name: "inner${k}"}]}
  - pair: {name: p}
  - concat: {from: [stage_1/conv2d_1, stage_2/inner1, stage, stage_1, p, p/relu_1]}
)");
    CHECK_EQ(
        layers_of(job),
        Lines{"stage_1/conv2d_1 <- input : 10 8 8", "stage_1/inner0 <- stage_1/conv2d_1 : 1 8 8",
              "stage_1/inner1 <- stage_1/inner0 : 2 8 8",
              "stage_2/conv2d_1 <- stage_1/inner1 : 20 8 8",
              "stage_2/inner0 <- stage_2/conv2d_1 : 2 8 8",
              "stage_2/inner1 <- stage_2/inner0 : 3 8 8", "p/relu_1 <- stage_2/inner1 : 3 8 8",
              "p/add_1 <- p/relu_1 stage_2/inner1 : 3 8 8",
              std::string("concat_1 <- stage_1/conv2d_1 stage_2/inner1 stage_2/inner1 ") +
                  "stage_1/inner1 p/add_1 p/relu_1 : 24 8 8"});
}

TEST_CASE("parameters are set and keep their place in every expression") {
    const std::string text = R"(
parameters: {depth: 2, width: 1.5, kernel: 3, act: tanh, size: "${4 * depth}"}
input: {shape: [1, "${size}", "${size}"]}
layers:
  - repeat: {times: "${depth}", layers: [conv2d: {filters: "${round(4 * width)}", kernel: "${kernel}", padding: same}, "${act}"]}
)";
    CHECK_EQ(layers_of(load(text)),
             Lines{"conv2d_1 <- input : 6 8 8", "tanh_1 <- conv2d_1 : 6 8 8",
                   "conv2d_2 <- tanh_1 : 6 8 8", "tanh_2 <- conv2d_2 : 6 8 8"});
    CHECK_EQ(layers_of(load(text, {"model.parameters.depth=1", "model.parameters.act=relu"})),
             Lines{"conv2d_1 <- input : 6 4 4", "relu_1 <- conv2d_1 : 6 4 4"});
}

TEST_CASE("pairs and paddings go through blocks whole") {
    const JobSpec job = load(R"(
input: {shape: [1, 8, 8]}
blocks:
  unit:
    parameters: {kernel: integer_pair, padding: {type: padding, default: [0, 1]}, rate: {type: real, default: 0.5}}
    layers: [conv2d: {filters: 2, kernel: "${kernel}", padding: "${padding}"}, dropout: {rate: "${rate}"}]
layers:
  - unit: {kernel: [1, 3]}
  - unit: {kernel: 3, padding: same, rate: 0.25}
)");
    CHECK_EQ(layers_of(job), Lines{"unit_1/conv2d_1 <- input : 2 8 8",
                                   "unit_1/dropout_1 <- unit_1/conv2d_1 : 2 8 8",
                                   "unit_2/conv2d_1 <- unit_1/dropout_1 : 2 8 8",
                                   "unit_2/dropout_1 <- unit_2/conv2d_1 : 2 8 8"});
    CHECK_EQ(std::get<double>(job.model.layers[3].fields.at("rate")), 0.25);
}

TEST_CASE("a given name is not taken by a made one before it") {
    const JobSpec job = load(R"(
input: {shape: [1, 8, 8]}
layers: [relu, relu: {name: relu_1}]
)");
    CHECK_EQ(layers_of(job), Lines{"relu_1_ <- input : 1 8 8", "relu_1 <- relu_1_ : 1 8 8"});
}

TEST_CASE("standard blocks are sound, documented and expand") {
    for (const SourceEntry& block : standard_blocks().entries) {
        CAPTURE(block.key);
        CHECK(block.value.find("description"));
        for (const SourceEntry& parameter : block.value.find("parameters")->value.entries) {
            CAPTURE(parameter.key);
            CHECK(parameter.value.find("doc"));
        }
    }
    const JobSpec job = load(R"(
input: {shape: [3, 9, 9]}
defaults: {separable_conv2d: {bias: false}}
layers:
  - separable_conv2d: {filters: 32, kernel: [3, 5], stride: 2, padding: same}
  - squeeze_excite: {ratio: 8, name: se}
  - squeeze_excite: {reduced: 5, activation: tanh, gate: hard_sigmoid}
)");
    CHECK_EQ(
        layers_of(job),
        Lines{"separable_conv2d_1/depthwise_conv2d_1 <- input : 3 5 5",
              "separable_conv2d_1/conv2d_1 <- separable_conv2d_1/depthwise_conv2d_1 : 32 5 5",
              "se/global_avg_pool2d_1 <- separable_conv2d_1/conv2d_1 : 32 1 1",
              "se/conv2d_1 <- se/global_avg_pool2d_1 : 4 1 1", "se/relu_1 <- se/conv2d_1 : 4 1 1",
              "se/conv2d_2 <- se/relu_1 : 32 1 1", "se/sigmoid_1 <- se/conv2d_2 : 32 1 1",
              "se/multiply_1 <- separable_conv2d_1/conv2d_1 se/sigmoid_1 : 32 5 5",
              "squeeze_excite_2/global_avg_pool2d_1 <- se/multiply_1 : 32 1 1",
              "squeeze_excite_2/conv2d_1 <- squeeze_excite_2/global_avg_pool2d_1 : 5 1 1",
              "squeeze_excite_2/tanh_1 <- squeeze_excite_2/conv2d_1 : 5 1 1",
              "squeeze_excite_2/conv2d_2 <- squeeze_excite_2/tanh_1 : 32 1 1",
              "squeeze_excite_2/hard_sigmoid_1 <- squeeze_excite_2/conv2d_2 : 32 1 1",
              std::string("squeeze_excite_2/multiply_1 <- se/multiply_1 ") +
                  "squeeze_excite_2/hard_sigmoid_1 : 32 5 5"});
    CHECK_FALSE(std::get<bool>(job.model.layers[1].fields.at("bias")));
}

TEST_CASE("a large network expands to all of its layers") {
    const JobSpec job = load(R"(
input: {shape: [4, 8, 8]}
blocks:
  unit: {parameters: {k: integer}, layers: [conv2d: {filters: 4, kernel: "${k}", padding: same}, relu]}
layers:
  - repeat: {times: 25000, index: i, layers: [unit: {k: "${1 + 2 * (i % 2)}"}, repeat: {times: 2, layers: [relu]}]}
)");
    CHECK_EQ(job.model.layers.size(), 100'000);
    CHECK_EQ(integer(job.model.layers[4], "filters"), 4);
}

TEST_CASE("the bound is exact and does not depend on what is counted") {
    const auto text = [](const std::string& times, const std::string& body) {
        return "input: {shape: [1, 1, 1]}\nlayers:\n  - repeat: {times: " + times + ", layers: [" +
               body + "]}\n";
    };
    CHECK_FALSE(refused(text("250000", "relu")).has_errors());
    CHECK_FALSE(refused(text("200001", "repeat: {times: \"${index % 2}\", layers: [relu, relu]}"))
                    .has_errors());
    for (const auto& one : std::vector<std::array<std::string, 3>>{
             {"250001", "relu", "has 250001 layers"},
             {"1000000000", "repeat: {times: 1000000000, layers: [relu, relu]}",
              "has 1000000000000000000 layers"},
             {"9000000000000", "repeat: {times: 0, layers: [relu]}", "repetitions"}}) {
        const std::string &times = one[0], &body = one[1], &said = one[2];
        const Diagnostics diagnostics = refused(text(times, body));
        CAPTURE(times);
        CAPTURE(body);
        REQUIRE_EQ(diagnostics.error_count(), 1);
        CHECK_EQ(int(diagnostics.all()[0].code), int(Code::too_many_layers));
        CHECK_NE(diagnostics.all()[0].text.find(said), std::string::npos);
    }
}

TEST_CASE("the resolved document is flat and resolves to itself") {
    const JobSpec job = load(R"(
parameters: {n: 2}
input: {shape: [1, 8, 8]}
blocks: {pair: {layers: [add: [[relu], []]]}}
layers: [repeat: {times: "${n}", layers: [pair]}, flatten]
)");
    CHECK_EQ(job.resolved_text,
             "kind: model\nname: test\ninput: {shape: [1, 8, 8]}\nlayers:\n"
             "  - relu: {name: pair_1/relu_1}\n"
             "  - add: {name: pair_1/add_1, from: [pair_1/relu_1, input]}\n"
             "  - relu: {name: pair_2/relu_1}\n"
             "  - add: {name: pair_2/add_1, from: [pair_2/relu_1, pair_1/add_1]}\n"
             "  - flatten: {name: flatten_1}\n");
    const ModelFile again(job.resolved_text);
    Diagnostics diagnostics;
    const JobSpec second = load_job(again.path(), {}, diagnostics);
    REQUIRE_FALSE(diagnostics.has_errors());
    CHECK_EQ(second.resolved_text, job.resolved_text);
    CHECK_EQ(second.name, job.name);
    CHECK_EQ(layers_of(second), layers_of(job));
}

TEST_CASE("an initializer with its numbers passes through blocks") {
    const JobSpec job = load(R"(
input: {shape: [3, 8, 8]}
blocks:
  inner:
    parameters: {init: {type: initializer, default: he_normal}}
    layers: [conv2d: {filters: 4, kernel: 1, weights_initializer: "${init}"}]
  outer:
    parameters: {start: {type: initializer, default: {uniform: {low: -0.5, high: 0.25}}}}
    layers: [inner: {init: "${start}"}]
layers:
  - inner
  - outer
  - outer: {start: zeros}
  - separable_conv2d: {filters: 3, kernel: 1, weights_initializer: {normal: {deviation: 0.01}}}
)");
    std::vector<std::string> initializers;
    for (const LayerSpec& layer : job.model.layers)
        initializers.push_back(std::get<std::string>(layer.fields.at("weights_initializer")));
    const std::string normal = "normal: {mean: 0, deviation: 0.01}";
    CHECK_EQ(initializers,
             Lines{"he_normal", "uniform: {low: -0.5, high: 0.25}", "zeros", normal, normal});
}

TEST_CASE("layers are set by the names that they will have") {
    const std::string text = R"(
input: {shape: [1, 8, 8]}
blocks: {unit: {parameters: {filters: {type: integer, default: 2}}, layers: [conv2d: {filters: "${filters}", kernel: 1}]}}
layers:
  - add: [[conv2d: {filters: 4, kernel: 1}, relu], [conv2d: {filters: 4, kernel: 1}]]
  - conv2d: {filters: 4, kernel: 3}
  - repeat: {times: 2, name: stage, layers: [conv2d: {filters: 4, kernel: 1}]}
  - unit
  - relu
  - conv2d: {filters: 4, kernel: 1}
)";
    const JobSpec job =
        load(text, {"model.layers.conv2d_4.filters=9", "model.layers.unit_1.filters=7",
                    "model.layers.conv2d_2.conv2d.kernel=1", "model.layers.relu_2.name=last_relu",
                    "model.layers.add_1.name=sum"});
    std::map<std::string, std::int64_t> filters;
    for (const LayerSpec& layer : job.model.layers)
        if (layer.type == "conv2d") filters[layer.name] = integer(layer, "filters");
    CHECK_EQ(filters, std::map<std::string, std::int64_t>{{"conv2d_1", 4},
                                                          {"conv2d_2", 4},
                                                          {"conv2d_3", 4},
                                                          {"conv2d_4", 9},
                                                          {"stage_1/conv2d_1", 4},
                                                          {"stage_2/conv2d_1", 4},
                                                          {"unit_1/conv2d_1", 7}});
    const auto value = std::find_if(job.values.begin(), job.values.end(), [](const auto& one) {
        return one.path == "model.layers.conv2d_4.filters";
    });
    REQUIRE(value != job.values.end());
    CHECK_EQ(int(value->origin), int(plan::OriginKind::command_line));
    CHECK_EQ(value->place.file, "--set model.layers.conv2d_4.filters=9");
}

}  // namespace expansion_test
