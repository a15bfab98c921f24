#include "plan/metrics.hpp"

#include <doctest/doctest.h>

#include <set>

namespace metrics_test {

namespace {

using namespace dtnn;
using namespace dtnn::plan;

std::string name_of_metric(const std::string& type, Attributes attributes = {}) {
    return metric_name({type, std::move(attributes)});
}

}  // namespace

TEST_CASE("a metric's name tells it from others of its type") {
    CHECK(name_of_metric("categorical_accuracy") == "categorical_accuracy");
    CHECK(name_of_metric("top_k_accuracy", {{"k", std::int64_t{3}}}) == "top_3_accuracy");
    CHECK(name_of_metric("f1", {{"average", std::string("macro")}, {"threshold", 0.5}}) == "f1");
    CHECK(name_of_metric("f1", {{"average", std::string("per_class")}}) == "f1_per_class");
    CHECK(name_of_metric("recall", {{"average", std::string("micro")}, {"threshold", 0.3}}) ==
          "recall_micro_0.3");
    CHECK(name_of_metric("roc_auc", {{"average", std::string("micro")}}) == "roc_auc_micro");
}

TEST_CASE("what schedules can watch, and what is better, are the table's columns") {
    const auto one_number = [](const std::string& type, const char* average) {
        const Attributes attributes{{"average", std::string(average)}};
        return is_one_number(make_metric({type, attributes}, LabelKind::classes));
    };
    for (const MetricInfo& info : all_metrics()) {
        CAPTURE(info.type);
        CHECK(higher_is_better(make_metric({std::string(info.type), {}}, LabelKind::classes)) ==
              (info.better == MetricBetter::higher));
        // A metric that has a better is a number, and the other way around.
        CHECK((info.better == MetricBetter::neither) == (info.form == MetricForm::table));
        CHECK(one_number(std::string(info.type), "macro") == (info.form != MetricForm::table));
        CHECK(one_number(std::string(info.type), "per_class") ==
              (info.form != MetricForm::table && info.form != MetricForm::rate));
    }
    CHECK(higher_is_better({"f1", "f1", {}, "f1"}));
    const Metric written =
        make_metric({"formula", {{"name", std::string("gain")}, {"better", std::string("higher")}}},
                    LabelKind::values);
    CHECK(written.name == "gain");
    CHECK(written.output == "formula.gain");
    CHECK(higher_is_better(written));
    CHECK_FALSE(higher_is_better(make_metric({"formula", {}}, LabelKind::values)));
    // By its line in the table, not by what it is called.
    CHECK_FALSE(higher_is_better({"inaccuracy", "inaccuracy", {}, "inaccuracy"}));
    CHECK_FALSE(is_one_number({"inaccuracy", "inaccuracy", {}, "inaccuracy"}));
}

TEST_CASE("metrics made of the same counts read one output") {
    const Attributes macro{{"average", std::string("macro")}, {"threshold", 0.3}};
    for (const char* type : {"precision", "recall", "f1", "mean_iou", "confusion_matrix"}) {
        CAPTURE(type);
        CHECK(metric_output({type, macro}, LabelKind::classes) == "class_pairs");
        CHECK(metric_output({type, {}}, LabelKind::multiple) == "label_counts");
        // Counts are of one threshold.
        CHECK(metric_output({type, macro}, LabelKind::multiple) == "label_counts_0.3");
    }
    CHECK(metric_output({"roc_auc", {}}, LabelKind::multiple) == "predictions");
    CHECK(metric_output({"hinge", {}}, LabelKind::classes) == "hinge");
    for (const char* type : {"cross_entropy", "perplexity", "bits_per_token"})
        CHECK(metric_output({type, {}}, LabelKind::classes) == "cross_entropy");
}

TEST_CASE("outputs of sums are the metrics' own, and never those of others") {
    std::set<std::string> outputs{"loss", "loss_weight", "predictions"};
    for (const MetricInfo& info : all_metrics()) {
        if (info.join != MetricJoin::sum) continue;
        CAPTURE(info.type);
        CHECK(
            outputs.insert(metric_output({std::string(info.type), {}}, LabelKind::classes)).second);
    }
}

TEST_CASE("what a sum is divided by counts pixels, and classes where all numbers count") {
    Dataset dataset;
    dataset.target().classes = 5;
    dataset.target().dims = {4, 6};
    const auto items = [&](const char* type, Attributes attributes) {
        return metric_items(make_metric({type, std::move(attributes)}, LabelKind::classes),
                            dataset);
    };
    CHECK(items("categorical_accuracy", {}) == 24);
    CHECK(items("mean_squared_error", {}) == 120);
    CHECK(items("formula", {{"over", std::string("elements")}}) == 120);
    CHECK(items("formula", {{"over", std::string("rows")}}) == 24);
}

TEST_CASE("memory of metrics is what their outputs make up, once for those that share") {
    Training training;
    Dataset dataset;
    dataset.target().classes = 10;
    dataset.validation_samples = 30;
    dataset.test_samples = 50;
    const auto bytes = [&] { return metric_bytes(training, dataset, DType::f32); };
    const auto add = [&](const char* type, Attributes attributes = {}) {
        training.metrics.push_back(
            make_metric({type, std::move(attributes)}, dataset.target().kind));
    };
    add("categorical_accuracy");
    CHECK(bytes() == 0);
    add("precision");
    add("f1", {{"average", std::string("micro")}});
    CHECK(bytes() == 4 * 8 * 30);
    add("roc_auc", {{"average", std::string("micro")}});
    CHECK(bytes() == 4 * 8 * 30 + 50 * (40 + 4 + 160));
    // With a table all are made of it.
    add("confusion_matrix");
    CHECK(bytes() == 4 * 8 * 100 + 2 * 32 * 100 + 50 * (40 + 4 + 160));
    CHECK(price_of_matrix(10).memory == 4 * 8 * 100 + 2 * 32 * 100);
    CHECK(price_of_matrix(10).line == 2 * 24 * 100);

    training.metrics.clear();
    dataset.target().kind = LabelKind::multiple;
    add("precision");
    add("precision", {{"threshold", 0.3}});
    CHECK(bytes() == 2 * 4 * 8 * 40);
    add("roc_auc");
    CHECK(bytes() == 2 * 4 * 8 * 40 + 50 * (40 + 10 + 16));

    // Too many classes to say in 64 bits: as many as can be, not less than nothing.
    dataset.target().kind = LabelKind::classes;
    dataset.target().classes = 4'000'000'000;
    add("confusion_matrix");
    CHECK(bytes() > 0);
}

}  // namespace metrics_test
