#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "plan/json.hpp"
#include "plan/summary.hpp"
#include "tests/unit/plan/sample_plan.hpp"

using namespace dtnn::plan;

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
