#include "plan/summary/summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "plan/summary/columns.hpp"
#include "plan/summary/receptive_field.hpp"
#include "plan/summary/rows.hpp"
#include "tests/unit/plan/sample_plan.hpp"

namespace summary_test {

using namespace dtnn;
using namespace dtnn::plan;

namespace {

using List = std::vector<std::int64_t>;
using Size = std::array<std::int64_t, 2>;

Layer layer(const std::string& name, const std::string& type, Dims output,
            std::vector<std::string> from, Attributes attributes = {}) {
    Layer one;
    one.name = name;
    one.type = type;
    one.output_axes = output.size() == 3 ? image_axes() : Axes{AxisKind::feature};
    one.output_shape = std::move(output);
    one.from = std::move(from);
    one.attributes = std::move(attributes);
    return one;
}

Plan plan_of(std::vector<Layer> layers, Dims input) {
    Plan plan;
    plan.name = "net";
    plan.dataset.input().dims = std::move(input);
    plan.layers = std::move(layers);
    for (std::size_t i = 0; i < plan.layers.size(); ++i)
        plan.layers[i].index = int(i);
    return plan;
}

Attributes window(List kernel, List stride, List dilation = {1, 1}) {
    return {{"kernel", kernel}, {"stride", stride}, {"dilation", dilation}};
}

/// Layers in blocks: a, s_1/b_1/{c, d}, s_1/b_2/c, e.
Plan nested_plan() {
    Plan plan = plan_of(
        {layer("a", "relu", {3, 8, 8}, {"input"}), layer("s_1/b_1/c", "conv2d", {4, 8, 8}, {"a"}),
         layer("s_1/b_1/d", "add", {4, 8, 8}, {"s_1/b_1/c", "a"}),
         layer("s_1/b_2/c", "conv2d", {4, 4, 4}, {"s_1/b_1/d"}),
         layer("e", "relu", {4, 4, 4}, {"s_1/b_2/c"})},
        {3, 8, 8});
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        plan.layers[i].parameters = std::int64_t(1000 + i);
        plan.layers[i].trainable = std::int64_t(100 + i);
        plan.layers[i].forward_flops = std::int64_t(10 + i);
    }
    return plan;
}

std::string form(const Plan& plan, SummaryForm form, std::vector<std::string> columns = {},
                 int depth = 0) {
    SummaryOptions options;
    options.form = form;
    options.columns = options.chosen = std::move(columns);
    options.depth = depth;
    return summary(plan, options);
}

}  // namespace

TEST_CASE("the summary as text") {
    CHECK(summary_text(sample_plan(), 100) ==
          R"(sample (model one_dense)

#  name       type     input shape  output shape  parameters  weights shape  attributes
----------------------------------------------------------------------------------------------
0  flatten_1  flatten  4x1x1        4                      0
1  dense_1    dense    4            3                     15  4x3            bias=true units=3

parameters  15 in all, trainable; 60 bytes of weights
memory      784 bytes per rank, certain; arena 704 bytes: parameters 128 bytes, optimizer 64 bytes,
            inputs 192 bytes, transient 320 bytes; prepared batches 80 bytes
work        24 FLOP forward per sample;
            400 FLOP and at least 1.6 KiB of traffic per training step of 2 samples
steps       4 kernels per training step, 1 per evaluation step
training    3 epochs of 5 steps, 10 samples; 2 for validation, 4 for the test
optimizer   sgd, learning rate 0.1; 1 group of parameters; loss categorical_cross_entropy;
            measures categorical_accuracy
schedules   cosine (epochs 3)
data        normalize (deviation [2.0], mean [0.5])
target      cpu avx2 f32, 1 thread, 1 rank
)");
}

TEST_CASE("the summary says how a plan trains, and all of its memory") {
    Plan plan = sample_plan();
    plan.training.clip_norm = 5;
    plan.training.accumulation = 4;
    plan.training.average_decay = 0.99;
    plan.training.loss_attributes = {{"smoothing", 0.1}};
    plan.training.schedules.push_back({"early_stopping", {{"metric", std::string("loss")}}});
    plan.dataset.augmentations = {{"flip", {}}};
    plan.dataset.test_as_validation = true;
    plan.target.data_workers = 3;
    plan.memory.samples = 1024;
    const std::string text = summary_text(plan, 1000);
    for (const char* said :
         {"optimizer   sgd, learning rate 0.1; 1 group of parameters; gradients of norm 5 at most; "
          "an update every 4 batches; weights averaged with decay 0.99; loss "
          "categorical_cross_entropy (smoothing 0.1); measures categorical_accuracy\n",
          "schedules   cosine (epochs 3), early_stopping (metric loss)\n",
          "data        normalize (deviation [2.0], mean [0.5]); in training flip; the test samples "
          "are the validation's too\n",
          "1 thread, 3 data workers, 1 rank\n", "memory      1.8 KiB per rank, certain; ",
          "; samples kept in memory 1.0 KiB\n"})
        CHECK_MESSAGE(text.find(said) != std::string::npos, said << " is not in\n" << text);
}

TEST_CASE("the table fits the width and cuts no number") {
    Plan plan = sample_plan();
    plan.layers[1].name = "a_dense_layer_with_a_long_name";
    plan.layers[1].parameters = plan.layers[1].trainable = 123456789;
    for (int width : {120, 100, 90, 80, 78, 70, 60}) {
        CAPTURE(width);
        std::string text = summary_text(plan, width);
        std::string rule = text.substr(text.find("---"));
        rule = rule.substr(0, rule.find('\n'));
        CHECK(rule.size() <= std::size_t(width));
        CHECK(text.find(" 123,456,789") != std::string::npos);
        // An attribute is shown whole or not at all.
        CHECK((text.find("units=3") != std::string::npos) ==
              (text.find("units") != std::string::npos));
    }
    CHECK(summary_text(plan, 60).find("attributes (no room)") != std::string::npos);
    CHECK(summary_text(plan, 0).find("a_den...name ") != std::string::npos);
}

TEST_CASE("what the spec says comes before defaults") {
    Plan plan = sample_plan();
    plan.values.push_back({"model.layers.dense_1.units", "3", OriginKind::file, {"m.yaml", 7, 9}});
    CHECK(summary_text(plan, 100).find("units=3 bias=true\n") != std::string::npos);
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
    CHECK(json["parameters"] ==
          nlohmann::json(
              {{"total", 15}, {"trainable", 15}, {"other", 0}, {"frozen", 0}, {"bytes", 60}}));
    CHECK(json["memory"]["arena"] == 704);
    CHECK(json["memory"]["peak"] == 784);
    CHECK(json["work"]["train_step"]["flops"] == 400);

    auto more = nlohmann::json::parse(
        form(sample_plan(), SummaryForm::json, {"memory", "bytes", "fused", "kernel"}));
    // 48 + 12 bytes of weights and bias, 48 of velocity, 24 of logits.
    CHECK(more["layers"][1]["memory"] == 48 + 12 + 48 + 24 + 4 + 24);
    CHECK(more["layers"][1]["kernel"] == "dense.reference");
    // flatten is only another view of what dense reads.
    CHECK(more["layers"][0]["step"] == 0);
    CHECK(more["layers"][0]["fused_with"] == nlohmann::json({"dense_1"}));
}

TEST_CASE("blocks deeper than wanted are one row with totals") {
    const Plan plan = nested_plan();
    auto json = nlohmann::json::parse(form(plan, SummaryForm::json, {}, 1));
    REQUIRE(json["layers"].size() == 3);
    const auto& block = json["layers"][1];
    CHECK(block["name"] == "s_1");
    CHECK(block["type"] == "block");
    CHECK(block["layers"] == 3);
    CHECK(block["parameters"] == 1001 + 1002 + 1003);
    CHECK(block["trainable"] == 101 + 102 + 103);
    CHECK(block["forward_flops"] == 11 + 12 + 13);
    CHECK(block["output_shape"] == nlohmann::json({4, 4, 4}));
    CHECK(block["from"] == nlohmann::json({"a"}));
    CHECK(json["layers"][2]["name"] == "e");

    const std::string two = form(plan, SummaryForm::csv, {"index", "name", "parameters"}, 2);
    CHECK(two == "index,name,parameters\n0,a,1000\n1-2,s_1/b_1,2003\n3,s_1/b_2,1003\n4,e,1004\n");
    CHECK(form(plan, SummaryForm::csv, {"name"}, 3) == form(plan, SummaryForm::csv, {"name"}));
}

TEST_CASE("the table shows nesting by indentation") {
    const std::string text = form(nested_plan(), SummaryForm::table, {"index", "name", "from"});
    CHECK(text.substr(0, text.find("\n\nparameters")) == R"(net

#  name    connected to
-----------------------
0  a       input
   s_1/
     b_1/
1      c   a
2      d   c,a
     b_2/
3      c   s_1/b_1/d
4  e       s_1/b_2/c)");
}

TEST_CASE("layers of a block that do not follow each other are rows of their own") {
    const Plan plan = plan_of({layer("a/x", "relu", {1}, {"input"}),
                               layer("b", "relu", {1}, {"a/x"}), layer("a/y", "relu", {1}, {"b"})},
                              {1, 1, 1});
    const auto rows = summary_rows(plan, 1, false);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].path == "a");
    CHECK(rows[2].path == "a");
    CHECK(rows[2].first == 2);
}

TEST_CASE("CSV is quoted as RFC 4180 says") {
    Plan plan = nested_plan();
    plan.layers[2].attributes = {{"note", std::string("1,5 \"or\" so")}};
    CHECK(form(plan, SummaryForm::csv, {"name", "attributes", "from"})
              .find("s_1/b_1/d,\"note=1,5 \"\"or\"\" so\",\"s_1/b_1/c,a\"\n") != std::string::npos);
}

TEST_CASE("markdown is escaped where it would mean something") {
    const std::string text = form(nested_plan(), SummaryForm::markdown, {"index", "name"});
    CHECK(text.starts_with("## net\n\n| # | name |\n|---:|---|\n| 0 | a |\n| 1 | s_1/b_1/c |\n"));
    CHECK(text.find("- parameters: ") != std::string::npos);
}

TEST_CASE("every column has cells in every form") {
    const Plan plan = sample_plan();
    for (const SummaryColumn& column : summary_columns()) {
        CAPTURE(column.name);
        CHECK(is_summary_column(column.name));
        const std::string name(column.name);
        const std::string csv = form(plan, SummaryForm::csv, {name});
        CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
        CHECK(form(plan, SummaryForm::table, {name}).find(column.title) != std::string::npos);
        CHECK(nlohmann::json::accept(form(plan, SummaryForm::json, {name})));
    }
    CHECK_FALSE(is_summary_column("nothing"));
}

TEST_CASE("receptive fields by the formula of Araujo et al.") {
    // AlexNet's convolutional part: 11, 19, 51, 67, 99, 131, 163, 195 (the article's table).
    const Plan alexnet =
        plan_of({layer("c1", "conv2d", {96, 55, 55}, {"input"}, window({11, 11}, {4, 4})),
                 layer("p1", "max_pool2d", {96, 27, 27}, {"c1"}, window({3, 3}, {2, 2})),
                 layer("c2", "conv2d", {256, 27, 27}, {"p1"}, window({5, 5}, {1, 1})),
                 layer("p2", "max_pool2d", {256, 13, 13}, {"c2"}, window({3, 3}, {2, 2})),
                 layer("c3", "conv2d", {384, 13, 13}, {"p2"}, window({3, 3}, {1, 1})),
                 layer("c4", "conv2d", {384, 13, 13}, {"c3"}, window({3, 3}, {1, 1})),
                 layer("c5", "conv2d", {256, 13, 13}, {"c4"}, window({3, 3}, {1, 1})),
                 layer("p5", "max_pool2d", {256, 6, 6}, {"c5"}, window({3, 3}, {2, 2}))},
                {3, 227, 227});
    const std::int64_t expected[] = {11, 19, 51, 67, 99, 131, 163, 195};
    const auto sizes = receptive_fields(alexnet);
    for (std::size_t i = 0; i < sizes.size(); ++i)
        CHECK(sizes[i] == Size{expected[i], expected[i]});

    const Plan mixed = plan_of(
        {layer("rows", "conv2d", {1, 32, 32}, {"input"}, window({7, 1}, {1, 1}, {2, 2})),
         layer("cols", "conv2d", {1, 32, 32}, {"input"}, window({1, 3}, {1, 1})),
         layer("both", "add", {1, 32, 32}, {"rows", "cols"}),
         layer("pool", "avg_pool2d", {1, 16, 16}, {"both"}, {{"kernel", List{2, 2}}}),
         layer("up", "upsample2d", {1, 32, 32}, {"pool"}, {{"mode", std::string("nearest")}}),
         layer("conv", "conv2d", {1, 32, 32}, {"up"}, window({3, 3}, {1, 1})),
         layer("global", "global_avg_pool2d", {1, 1, 1}, {"pool"}),
         layer("gate", "multiply", {1, 16, 16}, {"pool", "global"}),
         layer("after", "conv2d", {1, 16, 16}, {"gate"}, window({3, 3}, {1, 1})),
         layer("flat", "flatten", {256}, {"after"}), layer("dense", "dense", {10}, {"flat"})},
        {1, 32, 32});
    const auto mixed_sizes = receptive_fields(mixed);
    CHECK(mixed_sizes[0] == Size{13, 1});
    CHECK(mixed_sizes[1] == Size{1, 3});
    CHECK(mixed_sizes[2] == Size{13, 3});
    CHECK(mixed_sizes[3] == Size{14, 4});
    CHECK(mixed_sizes[4] == Size{14, 4});
    CHECK(mixed_sizes[5] == Size{16, 6});    // two cells of half the distance
    CHECK(mixed_sizes[6] == Size{44, 34});   // 14 + 2*15
    CHECK(mixed_sizes[7] == Size{44, 34});   // the gate sees more than what it scales
    CHECK(mixed_sizes[8] == Size{48, 38});   // distances are those of the image, not the gate's
    CHECK(mixed_sizes[10] == Size{78, 68});  // + 2*15
}

TEST_CASE("an adaptive pool counts the widest of its windows") {
    // By definition: window y has the rows floor(y*H/OH) to ceil((y+1)*H/OH) - 1.
    for (std::int64_t extent = 1; extent <= 12; ++extent)
        for (std::int64_t windows = 1; windows <= 12; ++windows) {
            std::int64_t widest = 0;
            for (std::int64_t y = 0; y < windows; ++y)
                widest = std::max(
                    widest, ((y + 1) * extent + windows - 1) / windows - y * extent / windows);
            const Plan plan = plan_of({layer("p", "adaptive_avg_pool2d", {1, windows, windows},
                                             {"input"}, {{"size", List{windows, windows}}})},
                                      {1, extent, extent});
            CAPTURE(extent);
            CAPTURE(windows);
            CHECK(receptive_fields(plan)[0] == Size{widest, widest});
        }
}

}  // namespace summary_test
