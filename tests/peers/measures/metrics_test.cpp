/// Every metric over a whole data set beside scikit-learn: graph side in batches, joined by
/// MetricSet. README.md has the form of the file.

#include "plan/metrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/base/run_error.hpp"
#include "runtime/train/metrics.hpp"
#include "tests/peers/measures/measured_graph.hpp"

namespace metrics_test {

namespace {

using namespace dtnn;
using namespace dtnn::compiler;
using dtnn::runtime::BatchOutputs;
using dtnn::runtime::MetricSet;
using dtnn::runtime::MetricValue;
using dtnn::runtime::PassKind;
using dtnn::tests::Interpreter;
using dtnn::tests::Kernels;
using Json = nlohmann::json;
using Numbers = std::vector<double>;
namespace plan = dtnn::plan;

constexpr double kTolerance = 1e-9;

plan::LabelKind kind_of(const std::string& name) {
    if (name == "classes") return plan::LabelKind::classes;
    return name == "multiple" ? plan::LabelKind::multiple : plan::LabelKind::values;
}

Attributes attributes_of(const Json& fields) {
    Attributes attributes;
    for (const auto& [name, value] : fields.items()) {
        if (value.is_boolean())
            attributes[name] = value.get<bool>();
        else if (value.is_string())
            attributes[name] = value.get<std::string>();
        else if (value.is_number_integer())
            attributes[name] = value.get<std::int64_t>();
        else
            attributes[name] = value.get<double>();
    }
    return attributes;
}

plan::Plan plan_of(const Json& c, DType dtype) {
    plan::Plan plan;
    plan.target.dtype = dtype;
    plan.training.loss = c.at("loss").at("type");
    plan.training.loss_attributes = attributes_of(c.at("loss").at("attributes"));
    plan.dataset.target().classes = c.at("shape")[1];
    plan.dataset.target().kind = kind_of(c.at("label_kind"));
    plan.dataset.test_samples = c.at("shape")[0];
    for (const Json& metric : c.at("metrics"))
        plan.training.metrics.push_back(
            plan::make_metric({metric.at("type"), attributes_of(metric.at("attributes"))},
                              plan.dataset.target().kind));
    return plan;
}

/// A batch: its graph, run, and copies of what it leaves in the types that a plan would have.
class Batch {
  public:
    Batch(const plan::Plan& plan, plan::ProgramKind program, const Numbers& predictions,
          const Numbers& answers, std::int64_t rows)
        : graph_(dtnn::tests::measured(text(plan, rows), context(plan, program), false)),
          run_(graph_, Kernels::first) {
        run_.set(dtnn::tests::operand_of(graph_, "x"), predictions);
        const ValueId labels = dtnn::tests::operand_of(graph_, "labels");
        const ValueId given = labels.valid() ? labels : dtnn::tests::operand_of(graph_, "targets");
        run_.set(given, answers);
        run_.run();
        outputs_.loss = copy(dtnn::tests::output_of(graph_, "loss"));
        outputs_.labels = copy(given);
        for (const plan::Metric& metric : plan.training.metrics) {
            const ValueId value = dtnn::tests::output_of(graph_, metric.output);
            outputs_.metrics.push_back(value.valid() ? copy(value) : BatchOutputs::Array{});
        }
    }

    const BatchOutputs& outputs() const { return outputs_; }

  private:
    static std::string text(const plan::Plan& plan, std::int64_t rows) {
        return fmt::format("graph @g(%x: {}[{},{}]) {{ return predictions=%x }}",
                           plan::name_of(plan.target.dtype), rows, plan.dataset.target().classes);
    }
    static PassContext context(const plan::Plan& plan, plan::ProgramKind program) {
        PassContext context;
        context.training = plan.training;
        context.label_kind = plan.dataset.target().kind;
        context.program = program;
        return context;
    }

    template <class T>
    void fill(std::vector<std::byte>& bytes, const Numbers& numbers) {
        bytes.resize(numbers.size() * sizeof(T));
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const T number = static_cast<T>(numbers[i]);
            std::memcpy(bytes.data() + i * sizeof(T), &number, sizeof(T));
        }
    }

    BatchOutputs::Array copy(ValueId value) {
        const DType dtype = graph_.type(value).dtype;
        const Numbers numbers = run_.get(value);
        std::vector<std::byte>& bytes = memory_[value.index()];
        switch (dtype) {
            case DType::f32:
                fill<float>(bytes, numbers);
                break;
            case DType::f64:
                fill<double>(bytes, numbers);
                break;
            case DType::i32:
                fill<std::int32_t>(bytes, numbers);
                break;
            case DType::i64:
                fill<std::int64_t>(bytes, numbers);
                break;
            case DType::u8:
            case DType::bf16:
            case DType::fp16:
                break;
        }
        return {bytes.data(), dtype, std::int64_t(numbers.size())};
    }

    Graph graph_;
    Interpreter run_;
    std::map<std::size_t, std::vector<std::byte>> memory_;
    BatchOutputs outputs_;
};

/// All batches of a case, added to the set.
void add_all(const Json& c, const plan::Plan& plan, plan::ProgramKind program, MetricSet& set) {
    const auto part = [](const Json& list, std::int64_t first, std::int64_t count) {
        const Numbers all = list;
        return Numbers(all.begin() + first, all.begin() + first + count);
    };
    const bool labels = c.contains("labels");
    const Json& answers = c.at(labels ? "labels" : "targets");
    const std::int64_t classes = plan.dataset.target().classes;
    std::int64_t first = 0;
    for (const std::int64_t rows : c.at("batches").get<std::vector<std::int64_t>>()) {
        const std::int64_t width = labels ? 1 : classes;
        const Batch batch(plan, program, part(c.at("predictions"), first * classes, rows * classes),
                          part(answers, first * width, rows * width), rows);
        set.add(batch.outputs(), rows);
        first += rows;
    }
    REQUIRE(first == c.at("shape")[0].get<std::int64_t>());
}

Numbers flat(const Json& value) {
    if (value.is_null()) return {std::nan("")};
    if (!value.is_array()) return {value.get<double>()};
    if (!value[0].is_array()) return value.get<Numbers>();
    Numbers numbers;
    for (const Json& row : value)
        for (const Json& number : row)
            numbers.push_back(number);
    return numbers;
}

void compare(const MetricValue& ours, const Json& theirs, double tolerance) {
    CHECK(ours.name == theirs.at("name").get<std::string>());
    const Json& value = theirs.at("value");
    const bool list = value.is_array(), matrix = list && value[0].is_array();
    CHECK((ours.form == MetricValue::Form::matrix) == matrix);
    CHECK((ours.form == MetricValue::Form::list) == (list && !matrix));
    if (matrix) CHECK(ours.columns == std::int64_t(value[0].size()));
    const Numbers wanted = flat(value);
    REQUIRE(ours.numbers.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const bool same = std::isnan(wanted[i])
                              ? std::isnan(ours.numbers[i])
                              : std::fabs(ours.numbers[i] - wanted[i]) <=
                                    tolerance * std::max(1.0, std::fabs(wanted[i]));
        CHECK_MESSAGE(same, ours.name, "[", i, "] is ", ours.numbers[i], ", scikit-learn has ",
                      wanted[i]);
    }
}

Json cases() {
    std::ifstream stream("tests/peers/measures/metrics.json");
    return Json::parse(stream).at("cases");
}

Json case_named(const std::string& name) {
    for (Json& c : cases())
        if (c.at("name") == name) return c;
    FAIL("no case ", name);
    return {};
}

}  // namespace

TEST_CASE("metrics over a data set are scikit-learn's, however it is cut into batches") {
    for (const Json& c : cases()) {
        const std::string name = c.at("name");
        CAPTURE(name);
        const plan::Plan plan = plan_of(c, DType::f64);
        MetricSet set(plan);
        for (int pass = 0; pass < 2; ++pass) {  // the second finds nothing of the first
            set.reset();
            add_all(c, plan, plan::ProgramKind::evaluate, set);
            const auto values = set.values();
            REQUIRE(values.size() == c.at("metrics").size() + 1);
            CHECK(values[0].name == "loss");
            for (std::size_t i = 1; i < values.size(); ++i)
                compare(values[i], c.at("metrics")[i - 1], kTolerance);
            const auto names = set.names();
            REQUIRE(names.size() == values.size());
            for (std::size_t i = 0; i < names.size(); ++i)
                CHECK(names[i] == values[i].name);
        }
    }
}

TEST_CASE("in float metrics differ by the rounding of predictions only") {
    for (const Json& c : cases()) {
        const std::string name = c.at("name");
        CAPTURE(name);
        const plan::Plan plan = plan_of(c, DType::f32);
        MetricSet set(plan);
        add_all(c, plan, plan::ProgramKind::evaluate, set);
        const auto values = set.values();
        for (std::size_t i = 1; i < values.size(); ++i)
            compare(values[i], c.at("metrics")[i - 1], 2e-6);
    }
}

TEST_CASE("every metric has a case") {
    std::set<std::string> covered;
    for (const Json& c : cases())
        for (const Json& metric : c.at("metrics"))
            covered.insert(metric.at("type").get<std::string>());
    for (const plan::MetricInfo& info : plan::all_metrics()) {
        if (info.takes(plan::LabelKind::sequence)) continue;  // ctc_test.cpp
        const std::string type(info.type);
        CAPTURE(type);
        CHECK(covered.contains(type));
    }
}

TEST_CASE("a training pass measures all but the ROC area, and can be taken up where it stood") {
    Json c = case_named("four classes in uneven batches");
    const plan::Plan plan = plan_of(c, DType::f64);
    MetricSet whole(plan, PassKind::training);
    add_all(c, plan, plan::ProgramKind::train, whole);
    const auto names = whole.names();
    CHECK(std::none_of(names.begin(), names.end(),
                       [](const std::string& n) { return n.starts_with("roc_auc"); }));
    CHECK(names.size() == c.at("metrics").size() + 1 - 2);

    MetricSet other(plan, PassKind::training);
    other.add_sums(whole.save_sums());
    other.add_counts(whole.save_counts());
    CHECK(other.samples() == whole.samples());
    const auto ours = other.values(), wanted = whole.values();
    REQUIRE(ours.size() == wanted.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
        CHECK(ours[i].numbers == wanted[i].numbers);
    std::vector<std::byte> sums = whole.save_sums(), counts = whole.save_counts();
    sums.pop_back();
    CHECK_THROWS_AS(other.add_sums(sums), dtnn::runtime::RunError);
    REQUIRE(!counts.empty());
    counts.pop_back();
    CHECK_THROWS_AS(other.add_counts(counts), dtnn::runtime::RunError);
}

TEST_CASE("labels that mixup has made shares are their largest share") {
    Json c = case_named("four classes in uneven batches");
    const plan::Plan plan = plan_of(c, DType::f64);
    PassContext context;
    context.training = plan.training;
    context.soft_labels = true;
    context.program = plan::ProgramKind::train;
    const Graph graph =
        dtnn::tests::measured("graph @g(%x: f64[2,4]) { return predictions=%x }", context, true);
    Interpreter run(graph, Kernels::reference);
    run.set(dtnn::tests::operand_of(graph, "x"), {4, 3, 2, 1, 1, 2, 3, 4});
    run.set(dtnn::tests::operand_of(graph, "targets"), {0.6, 0.4, 0, 0, 0, 0.7, 0, 0.3});
    run.run();
    CHECK(run.get(dtnn::tests::output_of(graph, "categorical_accuracy")) == Numbers{1});
    CHECK(run.get(dtnn::tests::output_of(graph, "class_pairs")) == Numbers{0, 0, 1, 3});
}

TEST_CASE("the precision of a data set is not the mean of the batches' precisions") {
    // Two batches with one guess of class 1 each among one and three: 1 and 1/3 have the mean 2/3,
    // of four guesses two are right.
    Json c = {{"label_kind", "classes"},
              {"loss", {{"type", "mean_squared_error"}, {"attributes", Json::object()}}},
              {"shape", {4, 2}},
              {"batches", {1, 3}},
              {"predictions", {0, 1, 0, 1, 0, 1, 0, 1}},
              {"labels", {1, 1, 0, 0}},
              {"metrics",
               {{{"type", "precision"}, {"attributes", {{"average", "per_class"}}}},
                {{"type", "recall"}, {"attributes", {{"average", "per_class"}}}}}}};
    const plan::Plan plan = plan_of(c, DType::f64);
    MetricSet set(plan);
    add_all(c, plan, plan::ProgramKind::evaluate, set);
    CHECK(set.values()[1].numbers == Numbers{0, 0.5});
    // False positives and false negatives are not each other: PyDTNN has them exchanged.
    CHECK(set.values()[2].numbers == Numbers{0, 1});
}

TEST_CASE("absolute errors are means, and predictions near the label count as wrong") {
    // PyDTNN adds absolute errors up over the batch, and compares predictions with labels by
    // isclose, so that 0.9 is no yes.
    Json c = {{"label_kind", "multiple"},
              {"loss", {{"type", "binary_cross_entropy"}, {"attributes", Json::object()}}},
              {"shape", {2, 2}},
              {"batches", {2}},
              {"predictions", {0.9, 0.2, 0.4, 0.7}},
              {"targets", {1, 0, 1, 1}},
              {"metrics",
               {{{"type", "mean_absolute_error"}, {"attributes", Json::object()}},
                {{"type", "binary_accuracy"}, {"attributes", Json::object()}},
                {{"type", "recall"}, {"attributes", {{"average", "micro"}}}}}}};
    const plan::Plan plan = plan_of(c, DType::f64);
    MetricSet set(plan);
    add_all(c, plan, plan::ProgramKind::evaluate, set);
    CHECK(set.values()[1].number() == doctest::Approx((0.1 + 0.2 + 0.6 + 0.3) / 4));
    CHECK(set.values()[2].number() == 0.75);
    CHECK(set.values()[3].number() == doctest::Approx(2.0 / 3));
}

TEST_CASE("a weighted loss is joined by the weights of the labels") {
    plan::Plan plan;
    plan.target.dtype = DType::f64;
    MetricSet set(plan);
    const double losses[2] = {1, 4}, weights[2] = {3, 1};
    for (int i = 0; i < 2; ++i) {
        BatchOutputs batch;
        batch.loss = {&losses[i], DType::f64, 1};
        batch.loss_weight = {&weights[i], DType::f64, 1};
        set.add(batch, 2);
    }
    CHECK(set.running_value(0) == doctest::Approx(7.0 / 4));
    CHECK(set.samples() == 4);
}

TEST_CASE("rates need no matrix, and are the same with one") {
    constexpr std::int32_t kClasses = 7;
    std::vector<std::int32_t> pairs;
    for (std::uint32_t i = 0; i < 200; ++i) {
        // -1 is a label that is no class; class 6 occurs in predictions alone.
        pairs.push_back(i % 11 == 0 ? -1 : std::int32_t(i * i % 6));
        pairs.push_back(std::int32_t((i * 5 + i / 9) % kClasses));
    }
    const auto values_of = [&](bool matrix) {
        plan::Plan plan;
        plan.dataset.target().classes = kClasses;
        for (const char* type : {"precision", "recall", "f1", "mean_iou"})
            for (const char* average : {"macro", "micro", "per_class"})
                plan.training.metrics.push_back(plan::make_metric(
                    {type, {{"average", std::string(average)}}}, plan::LabelKind::classes));
        if (matrix)
            plan.training.metrics.push_back(
                plan::make_metric({"confusion_matrix", {}}, plan::LabelKind::classes));
        MetricSet set(plan);
        const float loss = 1;
        BatchOutputs batch;
        batch.loss = {&loss, DType::f32, 1};
        batch.metrics.assign(plan.training.metrics.size(),
                             {pairs.data(), DType::i32, std::int64_t(pairs.size())});
        set.add(batch, 200);
        // Through a checkpoint.
        MetricSet again(plan);
        again.add_sums(set.save_sums());
        again.add_counts(set.save_counts());
        std::vector<std::vector<double>> values;
        for (const MetricValue& value : again.values())
            if (value.form != MetricValue::Form::matrix) values.push_back(value.numbers);
        return values;
    };
    CHECK(values_of(false) == values_of(true));
    plan::Plan many;
    many.dataset.target().classes = 10'000;
    many.training.metrics = {plan::make_metric({"f1", {}}, plan::LabelKind::classes)};
    CHECK(plan::metric_bytes(many.training, many.dataset, DType::f32) == 4 * 8 * 3 * 10'000);
}

TEST_CASE("a thousand classes have their confusion matrix, whose memory the plan can say") {
    plan::Plan plan;
    plan.target.dtype = DType::f32;
    plan.dataset.target().classes = 1000;
    plan.dataset.test_samples = 3000;
    for (const char* type : {"confusion_matrix", "f1", "precision"}) {
        Attributes fields;
        if (type[0] != 'c') fields["average"] = std::string("micro");
        plan.training.metrics.push_back(
            plan::make_metric({type, fields}, plan::LabelKind::classes));
    }
    CHECK(plan::metric_bytes(plan.training, plan.dataset, plan.target.dtype) ==
          (4 * 8 + 2 * 32) * 1000 * 1000);
    plan.training.metrics.push_back(plan::make_metric({"roc_auc", {}}, plan::LabelKind::classes));
    CHECK(plan::metric_bytes(plan.training, plan.dataset, plan.target.dtype) ==
          (4 * 8 + 2 * 32) * 1000 * 1000 + 3000 * (4 * 1000 + 4 + 16));
    plan.training.metrics.pop_back();

    MetricSet set(plan);
    const float loss = 1;
    std::vector<std::int32_t> pairs;
    for (std::int32_t i = 0; i < 3000; ++i) {
        pairs.push_back(i % 1000);
        pairs.push_back(i < 1500 ? i % 1000 : (i + 1) % 1000);
    }
    BatchOutputs batch;
    batch.loss = {&loss, DType::f32, 1};
    const BatchOutputs::Array array{pairs.data(), DType::i32, std::int64_t(pairs.size())};
    batch.metrics = {array, array, array};
    set.add(batch, 3000);
    const auto values = set.values();
    CHECK(values[1].numbers.size() == 1000 * 1000);
    CHECK(values[1].numbers[0] == 2);
    CHECK(values[1].numbers[1] == 1);
    CHECK(values[2].number() == 0.5);
}

}  // namespace metrics_test
