#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "plan/diff.hpp"
#include "plan/json.hpp"
#include "plan/meaning.hpp"
#include "plan/summary.hpp"
#include "tests/unit/plan/sample_plan.hpp"

using namespace dtnn::plan;

namespace {

const Change* find_change(const std::vector<Change>& changes, const std::string& what) {
    for (const Change& change : changes)
        if (change.what == what) return &change;
    return nullptr;
}

bool changes_mathematics(const std::vector<Change>& changes) {
    for (const Change& change : changes)
        if (change.meaning == Meaning::mathematics) return true;
    return false;
}

}  // namespace

TEST_CASE("numbers as people read them") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(15245130) == "15,245,130");
    CHECK(grouped(-1000) == "-1,000");
    CHECK(grouped(-100) == "-100");
    CHECK(bytes_text(12) == "12 bytes");
    CHECK(bytes_text(1536) == "1.5 KiB");
    CHECK(flops_text(2500000) == "2.5 MFLOP");
}

TEST_CASE("the summary as text") {
    CHECK(summary_text(sample_plan(), 100) ==
          R"(sample (model one_dense)

#  name       type     parameters  output shape  weights shape  attributes
---------------------------------------------------------------------------------
0  flatten_1  flatten           0  4
1  dense_1    dense            15  3             4x3            bias=true units=3

parameters  15 in all, 15 trainable, 60 bytes
memory      704 bytes arena: parameters 128 bytes, optimizer 64 bytes, inputs 192 bytes, transient 320 bytes; prepared batches 80 bytes
work        24 FLOP forward per sample; 400 FLOP and at least 1.6 KiB of traffic per training step of 2 samples
steps       4 kernels per training step, 1 per evaluation step
training    3 epochs of 5 steps, 10 samples; 2 for validation, 4 for the test
target      cpu avx2 f32, 1 thread, 1 rank
)");
}

TEST_CASE("the table fits the width") {
    for (int width : {75, 78, 60, 0}) {
        std::string text = summary_text(sample_plan(), width);
        std::string rule = text.substr(text.find("---"));
        rule = rule.substr(0, rule.find('\n'));
        CHECK(rule.size() <= static_cast<std::size_t>(std::max(width, 64)));
    }
    CHECK(summary_text(sample_plan(), 75).find("bias=tru...\n") != std::string::npos);
    CHECK(summary_text(sample_plan(), 60).find("attributes") == std::string::npos);
}

TEST_CASE("the summary as JSON") {
    auto json = nlohmann::json::parse(summary_json(sample_plan()));
    CHECK(json["version"] == 1);
    CHECK(json["name"] == "sample");
    CHECK(json["layers"].size() == 2);
    for (const char* key :
         {"index", "name", "type", "parameters", "output_shape", "weights_shape", "attributes"})
        CHECK(json["layers"][1].contains(key));
    CHECK(json["layers"][1]["weights_shape"] == nlohmann::json::array({4, 3}));
    CHECK(json["parameters"] == nlohmann::json({{"total", 15}, {"trainable", 15}, {"bytes", 60}}));
    CHECK(json["memory"]["arena"] == 704);
    CHECK(json["work"]["train_step"]["flops"] == 400);
}

TEST_CASE("a plan does not differ from itself, nor by places and origins") {
    Plan a = sample_plan(), b = sample_plan();
    b.layers[1].place = {"elsewhere.yaml", 70, 1};
    b.programs[0].steps[0].place = {};
    b.values[0].origin = OriginKind::command_line;
    b.values[0].place = {};
    CHECK(diff(a, b).empty());
    CHECK(diff_text({}, "a", "b") == "a and b are the same plan\n");
    CHECK(nlohmann::json::parse(diff_json({}))["same"] == true);
}

TEST_CASE("differences are told by their meaning") {
    Plan a = sample_plan(), b = sample_plan();
    SUBCASE("a hyper-parameter") {
        b.values[0].value = "4";
        auto changes = diff(a, b);
        REQUIRE(changes.size() == 1);
        CHECK(diff_text(changes, "a.yaml", "b.yaml") == R"(--- a.yaml
+++ b.yaml

settings
  training.batch_size: 2 -> 4
      changes the mathematics: every update averages over another number of samples, and an epoch has another number of updates

1 difference: 1 changes the mathematics
)");
        auto json = nlohmann::json::parse(diff_json(changes));
        CHECK(json["changes_the_mathematics"] == true);
        CHECK(json["changes"][0]["before"] == "2");
    }
    SUBCASE("layers") {
        b.layers[1].attributes["units"] = std::int64_t{4};
        b.layers[0].name = "flatten_2";
        b.layers[0].type = "relu";
        auto changes = diff(a, b);
        REQUIRE(find_change(changes, "dense_1.units"));
        CHECK(find_change(changes, "dense_1.units")->after == "4");
        const Change* gone = find_change(changes, "flatten_1");
        REQUIRE(gone);
        CHECK(gone->after.empty());
        REQUIRE(find_change(changes, "flatten_2"));
        CHECK(changes_mathematics(changes));
    }
    SUBCASE("steps of another optimizer are its consequence, not a fusion") {
        b.training.optimizer = "adam";
        b.programs[0].steps[3].name = "dense_1.adam_update";
        b.programs[0].steps[3].op = "adam_update";
        auto changes = diff(a, b);
        CHECK(find_change(changes, "dense_1.adam_update in train")->meaning == Meaning::result);
        CHECK(find_change(changes, "dense_1.sgd_update in train")->meaning == Meaning::result);
    }
    SUBCASE("a renamed layer is the same layer") {
        b.layers[1].name = "head";
        for (Parameter& parameter : b.parameters)
            parameter.name.replace(0, 7, "head");
        for (Program& program : b.programs)
            for (Step& step : program.steps)
                if (step.name.starts_with("dense_1.")) step.name.replace(0, 7, "head");
        b.programs[0].steps[0].kernel = "blis";
        auto changes = diff(a, b);
        REQUIRE(changes.size() == 2);
        CHECK(changes[0].what == "dense_1 name");
        CHECK(changes[0].after == "head");
        CHECK(changes[0].meaning == Meaning::name);
        CHECK(changes[1].what == "head.dense in train");

        b.layers[1].attributes["units"] = std::int64_t{4};
        CHECK(changes_mathematics(diff(a, b)));
    }
    SUBCASE("a layer's place in the list is no difference of the layers after it") {
        a.values.push_back({"model.layers.0.dense.units", "3", OriginKind::file, {}});
        b.values.push_back({"model.layers.1.dense.units", "3", OriginKind::file, {}});
        CHECK(diff(a, b).empty());
    }
    SUBCASE("kernels, fusion, passes, threads and memory are performance") {
        b.programs[0].steps[0].kernel = "blis";
        b.programs[0].steps[0].attributes["epilogue"] = "relu";
        b.programs[0].steps.erase(b.programs[0].steps.begin() + 1);
        b.passes[1] = "fuse_relu";
        b.target.threads = 8;
        b.memory.arena += 64;
        auto changes = diff(a, b);
        CHECK_FALSE(changes_mathematics(changes));
        CHECK(find_change(changes, "dense_1.dense in train")->after == "dense/blis");
        CHECK(find_change(changes, "dense_1.dense fused in train"));
        CHECK(find_change(changes, "softmax_cross_entropy in train")->after.empty());
        CHECK(find_change(changes, "fuse_relu")->before == "off");
        CHECK(find_change(changes, "threads"));
        CHECK(find_change(changes, "arena")->meaning == Meaning::result);
    }
    SUBCASE("initial values and precision") {
        b.parameters[0].initializer.kind = "he_normal";
        b.target.dtype = DType::f64;
        b.training.learning_rate = 0.2;
        auto changes = diff(a, b);
        CHECK(find_change(changes, "dense_1.weights.initializer")->meaning == Meaning::mathematics);
        CHECK(find_change(changes, "dtype")->meaning == Meaning::mathematics);
        CHECK(find_change(changes, "learning rate")->after == "0.2");
    }
    SUBCASE("datasets") {
        b.dataset.attributes["noise"] = 0.5;
        b.dataset.test_samples = 6;
        auto changes = diff(a, b);
        CHECK(find_change(changes, "noise")->before == "0.25");
        CHECK(find_change(changes, "test samples"));
        CHECK(changes_mathematics(changes));
    }
}

TEST_CASE("meanings: the longest entry counts, and the unknown is taken for mathematics") {
    CHECK(meaning_of("training.metrics").meaning == Meaning::performance);
    CHECK(meaning_of("training.metrics.0").meaning == Meaning::performance);
    CHECK(meaning_of("training.optimizer.adam.beta1").meaning == Meaning::mathematics);
    CHECK(meaning_of("threads").meaning == Meaning::performance);
    CHECK(meaning_of("threadsx").meaning == Meaning::mathematics);
    CHECK(meaning_of("dataset.path").meaning == Meaning::performance);
    CHECK(meaning_of("dataset.classes").meaning == Meaning::mathematics);
    CHECK(meaning_of("model.layers.0.relu.name").meaning == Meaning::name);
    CHECK(meaning_of("anything").meaning == Meaning::mathematics);
}
