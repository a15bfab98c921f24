// Plans made by hand: what differs, what it means, how it is told.

#include "plan/diff/diff.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/diff/align_layers.hpp"
#include "plan/diff/layer_meanings.hpp"
#include "plan/diff/words.hpp"
#include "tests/unit/plan/sample_plan.hpp"

namespace diff_test {

using namespace dtnn;
using namespace dtnn::plan;

namespace {

// The change with these words in its line.
const Change* find_change(const std::vector<Change>& changes, const std::string& words) {
    for (const Change& change : changes)
        if (change_words(change).find(words) != std::string::npos) return &change;
    return nullptr;
}

std::size_t count_chosen(const std::vector<Change>& changes) {
    return std::size_t(
        std::count_if(changes.begin(), changes.end(), [](const Change& c) { return c.chosen; }));
}

Layer layer(const std::string& name, const std::string& type, std::int64_t filters = 0) {
    Layer layer;
    layer.name = name;
    layer.type = type;
    if (filters > 0) layer.attributes["filters"] = filters;
    return layer;
}

// A chain with no parameters, programs or values: only its layers can differ.
Plan chain(std::vector<Layer> layers) {
    Plan plan;
    plan.layers = std::move(layers);
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        plan.layers[i].index = int(i);
        if (plan.layers[i].from.empty())
            plan.layers[i].from = {i == 0 ? "input" : plan.layers[i - 1].name};
    }
    return plan;
}

}  // namespace

TEST_CASE("ranks that share the same global batch otherwise change no mathematics") {
    Plan a = sample_plan(), b = sample_plan();
    a.target.ranks = 4, a.training.batch_size = 6;
    b.target.ranks = 2, b.training.batch_size = 12;
    for (Plan* plan : {&a, &b}) {
        plan->values = {{"training.batch_size",
                         std::to_string(plan->training.batch_size),
                         OriginKind::file,
                         {}}};
        plan->layers = {layer("dense_1", "dense")};
        plan->parallel = {};
    }
    const auto label = [&](const char* what) {
        for (const Change& change : diff(a, b))
            if (change.what == what) return change.meaning;
        FAIL("no such change");
        return Meaning::performance;
    };
    CHECK(label("training.batch_size") == Meaning::performance);
    CHECK(label("target.ranks") == Meaning::performance);
    b.training.batch_size = 6;
    b.values[0].value = "6";
    CHECK(label("target.ranks") == Meaning::mathematics);
    b.training.batch_size = 12;
    b.values[0].value = "12";
    const auto back = [&](auto change) {
        for (Plan* plan : {&a, &b})
            change(*plan);
        const Meaning meaning = label("training.batch_size");
        for (Plan* plan : {&a, &b})
            plan->parallel = {}, plan->layers = {layer("dense_1", "dense")};
        return meaning;
    };
    CHECK(back([](Plan& p) { p.parallel.learning_rate_scaling = RateScaling::linear; }) ==
          Meaning::mathematics);
    CHECK(back([](Plan& p) { p.parallel.compression = Compression::bf16; }) ==
          Meaning::mathematics);
    CHECK(back([](Plan& p) { p.parallel.data = true, p.parallel.local_steps = 3; }) ==
          Meaning::mathematics);
    CHECK(back([](Plan& p) { p.layers[0].type = "batch_norm"; }) == Meaning::mathematics);
    CHECK(back([](Plan& p) {
              p.layers[0].type = "batch_norm";
              p.parallel.batch_statistics = BatchStatistics::synchronised;
          }) == Meaning::performance);
}

TEST_CASE("a plan does not differ from itself, nor by places and origins") {
    Plan a = sample_plan(), b = sample_plan();
    b.layers[1].place = {"elsewhere.yaml", 70, 1};
    b.programs[0].steps[0].place = {};
    b.values[0].origin = OriginKind::command_line;
    b.values[0].place = {};
    CHECK(diff(a, b).empty());
    CHECK(diff_text({}, "a", "b") == "a and b: no difference\n");
    CHECK(headline({}).empty());
    CHECK(nlohmann::json::parse(diff_json({}))["same"] == true);
}

TEST_CASE("a hyper-parameter is told once, with its label") {
    Plan a = sample_plan(), b = sample_plan();
    b.values[0].value = "4";
    b.training.batch_size = 4;
    b.memory.arena = 1 << 20;
    auto changes = diff(a, b);
    CHECK(diff_text(changes, "a.yaml", "b.yaml") == R"(--- a.yaml
+++ b.yaml
batch 2 -> 4: mathematics; memory 704 bytes -> 1.0 MiB

training.batch_size: 2 -> 4
    changes the mathematics: every update averages over another number of samples, and an epoch has another number of updates

consequences
  memory  arena: 704 bytes -> 1.0 MiB (+148845.5 %)

1 chosen difference, 1 of the mathematics; 1 consequence
)");
    CHECK(diff_text(changes, "a", "b", {true, false}) ==
          "batch 2 -> 4: mathematics; memory 704 bytes -> 1.0 MiB\n"
          "1 chosen difference, 1 of the mathematics; 1 consequence\n");
    CHECK(diff_text(changes, "a", "b", {false, true}).find("\x1b[1;31mchanges the") !=
          std::string::npos);
    auto json = nlohmann::json::parse(diff_json(changes));
    CHECK(json["version"] == 4);
    CHECK(json["changes_the_mathematics"] == true);
    CHECK(json["counts"]["mathematics"] == 1);
    CHECK(json["chosen"][0]["before"] == 2);
    CHECK(json["chosen"][0]["meaning"] == "changes the mathematics");
    CHECK(json["consequences"][0]["after"] == 1 << 20);
    CHECK_FALSE(nlohmann::json::parse(diff_json(changes, true)).contains("chosen"));
}

TEST_CASE("another optimizer is one fact") {
    Plan a = sample_plan(), b = sample_plan();
    b.training.optimizer = "adam";
    b.training.optimizer_attributes = {{"beta1", 0.9}};
    b.programs[0].steps[3].name = "dense_1.adam_update";
    b.programs[0].steps[3].op = "adam_update";
    auto changes = diff(a, b);
    REQUIRE(count_chosen(changes) == 1);
    CHECK(changes[0].what == "training.optimizer");
    CHECK(headline(changes) == "optimizer sgd -> adam: mathematics");
    const Change* update = find_change(changes, "adam_update");
    REQUIRE(update);
    CHECK_FALSE(find_change(changes, "- sgd_update")->chosen);
}

TEST_CASE("what has no spec is compared by what the runtime goes by") {
    Plan a = sample_plan(), b = sample_plan();
    b.parameters[0].initializer.kind = "he_normal";
    b.target.dtype = DType::f64;
    b.training.learning_rate = 0.2;
    b.dataset.attributes["noise"] = 0.5;
    b.dataset.test_samples = 6;
    auto changes = diff(a, b);
    CHECK(find_change(changes, "glorot_uniform -> he_normal")->meaning == Meaning::mathematics);
    CHECK(find_change(changes, "training.dtype: f32 -> f64")->meaning == Meaning::mathematics);
    CHECK(find_change(changes, "sgd.learning_rate: 0.1 -> 0.2"));
    CHECK(find_change(changes, "dataset.noise: 0.25 -> 0.5"));
    CHECK(find_change(changes, "test samples: 4 -> 6"));
    CHECK(changes_mathematics(changes));
}

TEST_CASE("kernels, fusion, passes, threads and memory are performance only") {
    Plan a = sample_plan(), b = sample_plan();
    b.programs[0].steps[0].kernel = "blis";
    b.programs[0].steps[0].attributes["epilogue"] = "relu";
    b.programs[0].steps.erase(b.programs[0].steps.begin() + 1);
    b.passes[1] = "fuse_epilogues";
    b.target.threads = 8;
    b.memory.arena += 64;
    auto changes = diff(a, b);
    CHECK_FALSE(changes_mathematics(changes));
    CHECK(count_chosen(changes) == 2);
    CHECK(find_change(changes, "dense in train: reference -> blis: dense_1.dense"));
    CHECK(find_change(changes, "dense fused in train"));
    CHECK(find_change(changes, "- softmax_cross_entropy"));
    CHECK(find_change(changes, "compiler.passes.fuse_epilogues: off -> on")->chosen);
    CHECK(find_change(changes, "target.threads: 1 -> 8")->chosen);
    CHECK_FALSE(find_change(changes, "arena")->chosen);
    CHECK(headline(changes) ==
          "threads 1 -> 8, fuse epilogues off -> on: performance only; memory 704 -> 768 bytes; "
          "1 kernel changed");
}

TEST_CASE("a renamed layer is the same layer") {
    Plan a = sample_plan(), b = sample_plan();
    b.layers[1].name = "head";
    for (Parameter& parameter : b.parameters)
        parameter.name.replace(0, 7, "head");
    for (Program& program : b.programs)
        for (Step& step : program.steps)
            if (step.name.starts_with("dense_1.")) step.name.replace(0, 7, "head");
    b.programs[0].steps[0].kernel = "blis";
    auto changes = diff(a, b);
    REQUIRE(changes.size() == 3);
    CHECK(change_words(changes[0]) == "dense_1 renamed to head");
    CHECK(changes[0].meaning == Meaning::names);
    CHECK(change_words(changes[1]) == "dense_1.* -> head.*; --map reads files of the other");
    CHECK(changes[2].members == std::vector<std::string>{"head.dense"});

    b.layers[1].attributes["units"] = std::int64_t{4};
    CHECK(find_change(diff(a, b), "head.units: 3 -> 4"));
}

TEST_CASE("layers that came, went, moved or changed") {
    Plan a = chain({layer("conv2d_1", "conv2d", 16), layer("relu_1", "relu"),
                    layer("conv2d_2", "conv2d", 32), layer("relu_2", "relu"),
                    layer("flatten_1", "flatten")});
    SUBCASE("an inserted layer shifts the made names, which is no choice") {
        Plan b = chain({layer("conv2d_1", "conv2d", 16), layer("relu_1", "relu"),
                        layer("conv2d_2", "conv2d", 8), layer("relu_2", "relu"),
                        layer("conv2d_3", "conv2d", 32), layer("relu_3", "relu"),
                        layer("flatten_1", "flatten")});
        auto changes = diff(a, b);
        REQUIRE(count_chosen(changes) == 1);
        CHECK(changes[0].action == Action::added);
        CHECK(changes[0].members == std::vector<std::string>{"conv2d_2", "relu_2"});
        CHECK(find_change(changes, "2 layers are numbered anew, from conv2d_2 -> conv2d_3 on"));
    }
    SUBCASE("a removed one too") {
        Plan b = chain({layer("relu_1", "relu"), layer("conv2d_1", "conv2d", 32),
                        layer("relu_2", "relu"), layer("flatten_1", "flatten")});
        auto changes = diff(a, b);
        REQUIRE(count_chosen(changes) == 1);
        CHECK(change_words(changes[0]) == "- conv2d_1: conv2d filters=16");
    }
    SUBCASE("a moved one is one fact") {
        Plan b = chain({layer("relu_1", "relu"), layer("conv2d_1", "conv2d", 32),
                        layer("relu_2", "relu"), layer("conv2d_2", "conv2d", 16),
                        layer("flatten_1", "flatten")});
        auto changes = diff(a, b);
        REQUIRE(count_chosen(changes) == 1);
        CHECK(change_words(changes[0]) == "conv2d_2 moved: reads input -> relu_2");
        CHECK(changes[0].meaning == Meaning::mathematics);
    }
    SUBCASE("equal changes are told once") {
        Plan b = a;
        b.layers[0].attributes["bias"] = b.layers[2].attributes["bias"] = false;
        auto changes = diff(a, b);
        REQUIRE(changes.size() == 1);
        CHECK(change_words(changes[0]) ==
              "bias of 2 conv2d layers: (none) -> false in conv2d_1, conv2d_2");
    }
    SUBCASE("another operator in the same place") {
        Plan b = a;
        for (int i : {1, 3}) {
            auto k = std::size_t(i);
            b.layers[k] = layer("gelu_" + std::to_string((i + 1) / 2), "gelu");
            b.layers[k].from = a.layers[k].from;
            b.layers[k + 1].from = {b.layers[k].name};
        }
        auto changes = diff(a, b);
        REQUIRE(changes.size() == 1);
        CHECK(headline(changes) == "relu -> gelu in 2 layers: mathematics");
    }
    SUBCASE("another source") {
        Plan b = a;
        b.layers[3].from = {"conv2d_1"};
        auto changes = diff(a, b);
        REQUIRE(changes.size() == 1);
        CHECK(change_words(changes[0]) == "relu_2 reads: conv2d_2 -> conv2d_1");
        CHECK(changes[0].chosen);
    }
    SUBCASE("a block with a name") {
        Plan b = a;
        for (std::size_t i = 0; i < 4; ++i)
            b.layers[i].name = "stem/" + b.layers[i].name;
        b = chain(b.layers);
        for (std::size_t i = 0; i < 5; ++i)
            b.layers[i].from = {i == 0 ? "input" : b.layers[i - 1].name};
        auto changes = diff(a, b);
        REQUIRE(changes.size() == 1);
        CHECK(change_words(changes[0]) == "layers are below stem/ now (4 layers)");
        CHECK(changes[0].meaning == Meaning::names);
    }
}

TEST_CASE("operands of a sum in another order are performance only, those of concat are not") {
    for (const char* type : {"add", "concat"}) {
        Layer sum = layer("sum", type);
        sum.from = {"relu_1", "conv2d_1"};
        Plan a = chain({layer("conv2d_1", "conv2d", 4), layer("relu_1", "relu"), sum});
        Plan b = a;
        std::swap(b.layers[2].from[0], b.layers[2].from[1]);
        auto changes = diff(a, b);
        REQUIRE(changes.size() == 1);
        CHECK((changes[0].meaning == Meaning::performance) == (std::string(type) == "add"));
    }
}

TEST_CASE("a parameter of the model is what was chosen, the layers follow") {
    Plan a = chain({layer("conv2d_1", "conv2d", 16)}), b = chain({layer("conv2d_1", "conv2d", 8)});
    a.values = {{"model.parameters.width", "1.0", OriginKind::file, {}}};
    b.values = {{"model.parameters.width", "0.5", OriginKind::file, {}}};
    auto changes = diff(a, b);
    REQUIRE(count_chosen(changes) == 1);
    CHECK(changes[0].what == "model.parameters.width");
    CHECK(changes[0].meaning == Meaning::mathematics);
    // A resolved spec has the layers and no parameters.
    b.values.clear();
    CHECK(find_change(diff(a, b), "conv2d_1.filters: 16 -> 8")->chosen);
    b.layers = a.layers;
    CHECK(diff(a, b).empty());
    // One that no layer reads.
    b.values = {{"model.parameters.width", "0.5", OriginKind::file, {}}};
    CHECK_FALSE(changes_mathematics(diff(a, b)));
}

TEST_CASE("deep networks align by what their layers are") {
    auto network = [](int blocks, int without) {
        std::vector<Layer> layers;
        for (int i = 0, made = 0; i < blocks; ++i) {
            if (i == without) continue;
            ++made;
            layers.push_back(layer("conv2d_" + std::to_string(made), "conv2d", i % 97 + 1));
            layers.push_back(layer("batch_norm_" + std::to_string(made), "batch_norm"));
            layers.push_back(layer("relu_" + std::to_string(made), "relu"));
        }
        return chain(layers);
    };
    for (int blocks : {1000, 20'000}) {
        auto changes = diff(network(blocks, -1), network(blocks, blocks / 3));
        REQUIRE(count_chosen(changes) == 1);
        CHECK(changes[0].action == Action::removed);
        CHECK(changes[0].members.size() == 3);
    }
}

TEST_CASE("made names differ by their numbers") {
    CHECK(renumbered("conv2d_1", "conv2d_12"));
    CHECK(renumbered("basic_2/conv2d_1", "basic_3/conv2d_1"));
    CHECK_FALSE(renumbered("conv2d_1", "conv2d_1"));
    CHECK_FALSE(renumbered("conv2d_1", "first"));
    CHECK_FALSE(renumbered("conv2d", "conv3d"));
    CHECK_FALSE(renumbered("stem/conv2d_1", "conv2d_1"));
}

TEST_CASE("a setting has the label that its plan gives it, and mathematics without one") {
    Plan a = chain({layer("dense_1", "dense")}), b = a;
    a.values = {{"training.metrics", "[]", OriginKind::file, {}, Meaning::performance, "a reason"},
                {"threadsx", "1", OriginKind::file, {}},
                {"dataset.path", "\"here\"", OriginKind::file, {}, Meaning::unread, "files"}};
    b.values = a.values;
    b.values[0].value = "[\"f1\"]", b.values[1].value = "2", b.values[2].value = "\"there\"";
    const std::vector<Change> changes = diff(a, b);
    const auto meaning = [&](const char* what) {
        for (const Change& change : changes)
            if (change.what == what) return change.meaning;
        FAIL("no such change");
        return Meaning::performance;
    };
    REQUIRE(changes.size() == 3);
    CHECK(meaning("threadsx") == Meaning::mathematics);
    CHECK(meaning("dataset.path") == Meaning::unread);
    CHECK(meaning("training.metrics[0].f1") == Meaning::performance);
    // The path of a dataset that only one of the two has.
    b.values.pop_back();
    for (const Change& change : diff(a, b))
        if (change.what == "dataset.path") CHECK(change.meaning == Meaning::mathematics);
}

TEST_CASE("labels of layers' fields") {
    CHECK(meaning_of_layer_field("relu", "name").meaning == Meaning::names);
    CHECK(meaning_of_layer_field("conv2d", "bias").meaning == Meaning::mathematics);
    CHECK(meaning_of_layer_field("conv2d", "nothing").meaning == Meaning::mathematics);
}

}  // namespace diff_test
