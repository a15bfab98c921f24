/// What repeats in an imported network becomes blocks, which stand for the same lines as before.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <random>

#include "compiler/onnx/in/spec_layers.hpp"

using namespace dtnn::compiler;
using namespace dtnn::compiler::onnx;

namespace {

SpecLayer convolution(const std::string& name, const std::string& filters, std::vector<int> sources,
                      int layer) {
    return {
        "conv2d",
        name,
        {{"filters", FieldType::integer, filters}, {"kernel", FieldType::integer_pair, "1", true}},
        std::move(sources),
        {{layer, ""}}};
}

SpecLayer plain(const std::string& type, const std::string& name, std::vector<int> sources) {
    return {type, name, {}, std::move(sources), {}};
}

/// One line of the network without blocks.
struct FlatLine {
    std::string type;
    std::vector<std::string> values;
    std::vector<int> sources;
    bool operator==(const FlatLine&) const = default;
};

struct Flat {
    std::vector<FlatLine> lines;
    std::map<int, std::string> names;  ///< of layers with parameters
};

class Flattener {
  public:
    explicit Flattener(const std::vector<SpecBlock>& blocks) {
        for (const SpecBlock& block : blocks)
            blocks_[block.name] = &block;
    }

    Flat flat(const std::vector<SpecLayer>& layers) {
        add(layers, {}, std::nullopt);
        for (const SpecLayer& layer : layers)
            for (const SpecPart& part : layer.parts)
                flat_.names[part.layer] = layer.name + (part.path.empty() ? "" : "/") + part.path;
        return flat_;
    }

  private:
    using Given = std::map<std::string, std::string>;

    /// The place of the last line.
    int add(const std::vector<SpecLayer>& layers, const Given& given, std::optional<int> entry) {
        std::vector<int> places;
        for (const SpecLayer& layer : layers) {
            std::vector<int> sources;
            for (const int source : layer.sources)
                sources.push_back(source >= 0 ? places[std::size_t(source)]
                                              : entry.value_or(source));
            Given values;
            FlatLine line{layer.type, {}, sources};
            for (const SpecValue& value : layer.values) {
                const bool parameter = value.text.starts_with("\"${");
                const std::string text =
                    parameter ? given.at(value.text.substr(3, value.text.size() - 5)) : value.text;
                values[value.field] = text;
                line.values.push_back(value.field + "=" + text);
            }
            const auto block = blocks_.find(layer.type);
            if (block == blocks_.end()) {
                flat_.lines.push_back(line);
                places.push_back(int(flat_.lines.size()) - 1);
                continue;
            }
            REQUIRE(sources.size() == 1);
            for (const SpecParameter& parameter : block->second->parameters)
                values.try_emplace(parameter.name, parameter.fallback);
            places.push_back(add(block->second->layers, values, sources[0]));
        }
        return places.back();
    }

    std::map<std::string, const SpecBlock*> blocks_;
    Flat flat_;
};

}  // namespace

TEST_CASE("modules that repeat are blocks, called as the file calls them") {
    std::vector<SpecLayer> layers;
    int last = -1;
    for (int i = 0; i < 4; ++i) {
        const std::string module = fmt::format("stage_{}", i);
        const std::string filters = i == 0 ? "16" : "32";
        layers.push_back(convolution(module + "_conv1", filters, {last}, 10 * i));
        layers.push_back(plain("relu", fmt::format("node_relu_{}", i), {4 * i}));
        layers.push_back(convolution(module + "_conv2", filters, {4 * i + 1}, 10 * i + 1));
        layers.push_back(plain("add", fmt::format("node_add_{}", i), {4 * i + 2, last}));
        last = 4 * i + 3;
    }
    layers.push_back(plain("flatten", "node_flatten", {last}));
    const std::vector<SpecBlock> blocks = fold_blocks(layers, {"input"});
    CHECK(blocks_text(blocks) + layers_text(layers, {"input"}) == R"(blocks:
  residual:
    parameters: {filters: {type: integer, default: 32}}
    layers:
      - conv2d: {name: conv1, filters: "${filters}"}
      - relu
      - conv2d: {name: conv2, filters: "${filters}"}
      - add: {from: [conv2, input]}
layers:
  - residual: {name: stage_0, filters: 16}
  - repeat: {times: 3, index: i, layers: [residual: {name: "stage_${i + 1}"}]}
  - flatten: {name: node_flatten}
)");
    REQUIRE(layers[3].parts.size() == 2);
    CHECK(layers[3].parts[1].layer == 31);
    CHECK(layers[3].parts[1].path == "conv2");
}

TEST_CASE("blocks stand for the lines that were there, whatever reads what") {
    std::mt19937 random(1);
    const auto below = [&](int n) { return int(random() % unsigned(n)); };
    std::size_t folded = 0;
    for (int round = 0; round < 300; ++round) {
        CAPTURE(round);
        std::vector<SpecLayer> layers;
        const int kinds = 1 + below(4), count = 4 + below(60), reach = 1 + below(4);
        for (int i = 0; i < count; ++i) {
            // Mostly what stands some lines before, again.
            const int period = 2 + round % 5;
            const int kind = below(8) == 0 ? below(kinds) : (i % period) % kinds;
            const int before = below(6) == 0 ? std::max(-1, i - 1 - below(reach)) : i - 1;
            const std::string name = fmt::format("m{}_{}_k{}", i / period, i % period, below(3));
            if (kind == 0)
                layers.push_back(convolution(name, std::to_string(8 << below(2)), {before}, i));
            else if (kind == 1)
                layers.push_back(plain("add", "n" + name, {before, std::max(-1, i - period)}));
            else
                layers.push_back(plain(kind == 2 ? "relu" : "tanh", "n" + name, {before}));
        }
        const Flat before = Flattener({}).flat(layers);
        const std::vector<SpecBlock> blocks = fold_blocks(layers, {"input"});
        folded += blocks.size();
        const Flat after = Flattener(blocks).flat(layers);
        REQUIRE(before.lines.size() == after.lines.size());
        for (std::size_t i = 0; i < before.lines.size(); ++i)
            CHECK(before.lines[i] == after.lines[i]);
        std::set<std::string> names;
        for (const auto& [layer, name] : after.names)
            CHECK(names.insert(name).second);
        CHECK(before.names.size() == after.names.size());
    }
    CHECK(folded > 50);
}
