/// Learning rates beside PyTorch's (schedules.json, made by make_schedules.py), and what the
/// schedules that watch a metric decide. Cases named "PyDTNN" would catch a fault that PyDTNN has.

#include "runtime/train/schedules.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "plan/metrics.hpp"
#include "tests/unit/runtime/expect_error.hpp"

namespace dtnn::runtime::schedules_test {
namespace {

using Json = nlohmann::json;
using plan::Component;

/// A plan with what schedules look at, and nothing else.
plan::Plan plan_of(std::int64_t epochs, std::int64_t batches, std::vector<Component> schedules,
                   double base = 0.1) {
    plan::Plan plan;
    plan.training.epochs = epochs;
    plan.training.batch_size = 4;
    plan.training.learning_rate = base;
    plan.training.schedules = std::move(schedules);
    plan.training.metrics = {
        {"categorical_accuracy", "categorical_accuracy", {}, "categorical_accuracy"},
        {"f1", "f1", {}, "confusion_matrix"},
        {"mean_squared_error", "mean_squared_error", {}, "mean_squared_error"}};
    plan.dataset.train_samples = 4 * batches - 1;
    plan.dataset.validation_samples = 8;
    return plan;
}

Attributes attributes_of(const Json& object) {
    Attributes attributes;
    for (const auto& item : object.items()) {
        const Json& value = item.value();
        if (value.is_number_integer()) {
            attributes[item.key()] = value.get<std::int64_t>();
        } else if (value.is_number()) {
            attributes[item.key()] = value.get<double>();
        } else if (value.is_string()) {
            attributes[item.key()] = value.get<std::string>();
        } else if (value.is_array()) {
            attributes[item.key()] = value.get<std::vector<std::int64_t>>();
        } else {
            FAIL("a value of schedules.json has an unexpected type");
        }
    }
    return attributes;
}

Component plateau(const std::string& metric, std::int64_t patience, const std::string& direction,
                  double minimum = 0) {
    return {"reduce_on_plateau",
            {{"metric", metric},
             {"factor", 0.1},
             {"patience", patience},
             {"minimum", minimum},
             {"direction", direction},
             {"cooldown", std::int64_t{0}},
             {"threshold", 1e-4}}};
}

Component early_stopping(const std::string& metric, std::int64_t patience, bool restore,
                         const std::string& direction = "auto") {
    return {"early_stopping",
            {{"metric", metric},
             {"patience", patience},
             {"direction", direction},
             {"threshold", 0.0},
             {"restore_best", restore}}};
}

Component model_checkpoint(const std::string& metric, std::int64_t every, std::int64_t keep) {
    return {"model_checkpoint",
            {{"metric", metric},
             {"direction", std::string("auto")},
             {"every_epochs", every},
             {"keep", keep}}};
}

Component stop_at(const std::string& metric, double threshold) {
    return {"stop_at",
            {{"metric", metric}, {"threshold", threshold}, {"direction", std::string("auto")}}};
}

/// Feeds one metric's values; the decisions, an epoch each.
std::vector<EpochDecision> decisions(Schedules& schedules, const std::string& metric,
                                     const std::vector<double>& values,
                                     std::int64_t first_epoch = 1) {
    std::vector<EpochDecision> made;
    for (const double value : values)
        made.push_back(schedules.epoch_done(first_epoch++, {{metric, value}}));
    return made;
}

/// The epochs whose weights are kept in the end.
std::vector<std::int64_t> kept_epochs(const std::vector<EpochDecision>& made) {
    std::vector<std::int64_t> kept;
    for (const EpochDecision& decision : made) {
        for (const BestWeights& weights : decision.keep) {
            kept.push_back(weights.epoch);
            for (const std::int64_t dropped : weights.dropped)
                std::erase(kept, dropped);
        }
    }
    return kept;
}

using Epochs = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("every batch has the learning rate that PyTorch's schedulers give it") {
    std::ifstream file("tests/peers/schedules/schedules.json");
    REQUIRE(file.good());
    const Json all = Json::parse(file);
    REQUIRE(all["cases"].size() >= 25);
    for (const Json& test : all["cases"]) {
        const std::string name = test["name"];
        CAPTURE(name);
        std::vector<Component> components;
        for (const Json& schedule : test["schedules"]) {
            for (const auto& item : schedule.items())
                components.push_back({item.key(), attributes_of(item.value())});
        }
        plan::Plan plan = plan_of(test["epochs"], test["batches"], components, test["base"]);
        plan.training.accumulation = test["accumulation"];
        Schedules schedules(plan);
        double worst = 0;
        for (std::int64_t epoch = 0; epoch < std::int64_t(test["epochs"]); ++epoch) {
            const Json& rates = test["rates"][std::size_t(epoch)];
            for (std::int64_t batch = 0; batch < std::int64_t(rates.size()); ++batch) {
                const double theirs = rates[std::size_t(batch)];
                const double ours = schedules.learning_rate({epoch, batch});
                worst = std::max(worst, std::fabs(ours - theirs) / std::max(1e-3, theirs));
            }
            if (!test["values"].empty()) {
                schedules.epoch_done(epoch + 1, {{std::string(test["metric"]),
                                                  double(test["values"][std::size_t(epoch)])}});
            }
        }
        CHECK(worst < 1e-9);
    }
}

TEST_CASE("behind their end the continuous schedules stay where they are") {
    const Component cosine = {
        "cosine", {{"begin", std::int64_t{0}}, {"epochs", std::int64_t{3}}, {"minimum", 0.02}}};
    const Component polynomial = {"polynomial",
                                  {{"begin", std::int64_t{0}},
                                   {"epochs", std::int64_t{3}},
                                   {"power", 2.0},
                                   {"minimum", 0.02}}};
    const Component one_cycle = {"one_cycle",
                                 {{"epochs", std::int64_t{3}},
                                  {"rise", 0.3},
                                  {"start_divisor", 25.0},
                                  {"end_divisor", 100.0},
                                  {"shape", std::string("cosine")}}};
    for (const Component& component : {cosine, polynomial, one_cycle}) {
        CAPTURE(component.type);
        const Schedules schedules(plan_of(6, 5, {component}));
        const double last = component.type == "one_cycle" ? 0.1 / 2500 : 0.02;
        for (const std::int64_t epoch : {3, 4, 5})
            CHECK(schedules.learning_rate({epoch, 3}) == doctest::Approx(last).epsilon(1e-12));
    }
}

TEST_CASE("a minimum is a learning rate that no reduction goes below") {
    const Component steps = {"reduce_every_n_epochs",
                             {{"epochs", std::int64_t{1}}, {"factor", 0.1}, {"minimum", 0.005}}};
    const Schedules reduced(plan_of(9, 2, {steps}));
    CHECK(reduced.learning_rate({1, 0}) == doctest::Approx(0.01));
    CHECK(reduced.learning_rate({2, 0}) == doctest::Approx(0.005));
    CHECK(reduced.learning_rate({8, 0}) == doctest::Approx(0.005));
    const Component exponential = {
        "exponential", {{"begin", std::int64_t{2}}, {"factor", 0.5}, {"minimum", 0.03}}};
    const Schedules decayed(plan_of(9, 2, {exponential}));
    CHECK(decayed.learning_rate({2, 0}) == doctest::Approx(0.1));
    CHECK(decayed.learning_rate({3, 0}) == doctest::Approx(0.05));
    CHECK(decayed.learning_rate({5, 0}) == doctest::Approx(0.03));
}

TEST_CASE("a formula gives what the schedules do that it writes out") {
    const auto formula = [](const char* factor) {
        return Component{"formula", {{"factor", std::string(factor)}}};
    };
    const Component halves = {"reduce_every_n_epochs",
                              {{"epochs", std::int64_t{2}}, {"factor", 0.5}, {"minimum", 0.0}}};
    const Component line = {"polynomial",
                            {{"begin", std::int64_t{0}},
                             {"epochs", std::int64_t{0}},
                             {"power", 1.0},
                             {"minimum", 0.0}}};
    const std::pair<Component, Component> pairs[] = {{halves, formula("0.5 x0 2 div floor pow")},
                                                     {line, formula("1 x1 x3 div sub")}};
    for (const auto& [known, written] : pairs) {
        const Schedules wanted(plan_of(9, 7, {known})), got(plan_of(9, 7, {written}));
        for (std::int64_t epoch = 0; epoch < 9; ++epoch)
            for (std::int64_t batch = 0; batch < 7; ++batch)
                CHECK(got.learning_rate({epoch, batch}) ==
                      doctest::Approx(wanted.learning_rate({epoch, batch})).epsilon(1e-14));
    }
    const Schedules negative(plan_of(9, 7, {formula("1 x0 sub")}));
    CHECK(negative.learning_rate({1, 0}) == 0);
    expect_error(Exit::diverged, {"factor -1", "epoch is 2", "step is 14", "help:"}, [&] {
        negative.learning_rate({2, 0});
    });
    for (const char* text : {"x4", "x0 add", "", "x0 nothing"})
        expect_error(Exit::mismatch, {"schedule formula"},
                     [&] { Schedules(plan_of(9, 7, {formula(text)})); });
}

TEST_CASE("schedules multiply") {
    const Component steps = {"multistep", {{"epochs", Epochs{1}}, {"factor", 0.5}}};
    Schedules schedules(plan_of(9, 2, {steps, plateau("loss", 0, "auto")}));
    decisions(schedules, "loss", {1.0, 1.0});
    CHECK(schedules.learning_rate({0, 0}) == doctest::Approx(0.01));
    CHECK(schedules.learning_rate({1, 0}) == doctest::Approx(0.005));
}

// --- PyDTNN's faults (reference, 3.5) ---------------------------------------------------------

TEST_CASE("PyDTNN: warm up works on one rank, from its first batch, and takes zero epochs") {
    const auto warm_up = [](std::int64_t epochs) {
        return Component{"warm_up",
                         {{"epochs", epochs}, {"batches", std::int64_t{0}}, {"from", 0.0}}};
    };
    const Schedules schedules(plan_of(9, 10, {warm_up(2)}));
    // v3 trains its first epoch at the full rate and moves once an epoch; v1 never moves.
    CHECK(schedules.learning_rate({0, 0}) == 0);
    CHECK(schedules.learning_rate({0, 5}) == doctest::Approx(0.025));
    CHECK(schedules.learning_rate({1, 0}) == doctest::Approx(0.05));
    CHECK(schedules.learning_rate({2, 0}) == 0.1);
    // Zero epochs: a division by zero there.
    CHECK(Schedules(plan_of(9, 10, {warm_up(0)})).learning_rate({0, 0}) == 0.1);
}

TEST_CASE("PyDTNN: the rate depends on the position only, not on how the run came to it") {
    const Component warm_up = {
        "warm_up", {{"epochs", std::int64_t{3}}, {"batches", std::int64_t{0}}, {"from", 0.1}}};
    const Schedules walked(plan_of(9, 10, {warm_up}));
    for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
        for (std::int64_t batch = 0; batch < 10; ++batch) {
            const Schedules fresh(plan_of(9, 10, {warm_up}));
            CHECK(walked.learning_rate({epoch, batch}) == fresh.learning_rate({epoch, batch}));
        }
    }
}

TEST_CASE("PyDTNN: what is better comes from the metric, not from the word accuracy in its name") {
    for (const char* type : {"categorical_accuracy", "top_k_accuracy", "binary_accuracy",
                             "precision", "recall", "f1", "mean_iou", "roc_auc"}) {
        CHECK(plan::higher_is_better({type, type, {}, type}));
    }
    for (const char* type :
         {"loss", "hinge", "mean_squared_error", "mean_absolute_error", "label_error_rate"})
        CHECK_FALSE(plan::higher_is_better({type, type, {}, type}));
    // F1 rises: training goes on. It falls: it ends. PyDTNN minimizes it.
    Schedules rising(plan_of(9, 2, {early_stopping("validation.f1", 2, false)}));
    for (const EpochDecision& decision :
         decisions(rising, "validation.f1", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}))
        CHECK(decision.stop.empty());
    Schedules falling(plan_of(9, 2, {early_stopping("validation.f1", 2, false)}));
    const auto made = decisions(falling, "validation.f1", {0.6, 0.5, 0.4});
    CHECK(made[1].stop.empty());
    CHECK(made[2].stop.find("validation.f1") != std::string::npos);
}

TEST_CASE("PyDTNN: model_checkpoint watches the metric it names, and keeps the best by it") {
    // The loss falls while the accuracy falls too: PyDTNN looks up the loss, maximizes it because
    // of the word accuracy, and keeps the worst.
    Schedules schedules(plan_of(9, 2, {model_checkpoint("validation.categorical_accuracy", 1, 1)}));
    std::vector<EpochDecision> made;
    const double accuracies[] = {0.5, 0.9, 0.7, 0.6};
    for (std::int64_t epoch = 1; epoch <= 4; ++epoch) {
        made.push_back(schedules.epoch_done(
            epoch, {{"loss", 5.0 - double(epoch)},
                    {"validation.loss", double(epoch)},
                    {"categorical_accuracy", 1.0 / double(epoch)},
                    {"validation.categorical_accuracy", accuracies[epoch - 1]}}));
    }
    CHECK(kept_epochs(made) == Epochs{2});
    CHECK(made[1].keep[0].value == 0.9);
    CHECK(made[1].keep[0].metric == "validation.categorical_accuracy");
}

TEST_CASE("PyDTNN: model_checkpoint compares the epochs it looks at, and keeps as many as told") {
    // Epoch 3 is the best but not looked at; it must not hide epoch 4 from the comparison.
    Schedules every_second(plan_of(9, 2, {model_checkpoint("validation.loss", 2, 1)}));
    CHECK(kept_epochs(decisions(every_second, "validation.loss", {9, 5, 1, 4, 8, 7})) == Epochs{4});
    Schedules three(plan_of(9, 2, {model_checkpoint("validation.loss", 1, 3)}));
    const auto made = decisions(three, "validation.loss", {5, 4, 6, 4, 3, 9, 1});
    CHECK(kept_epochs(made) == Epochs{2, 5, 7});
    CHECK(made[3].keep[0].dropped == Epochs{3});
    CHECK(made[5].keep.empty());
    // The earlier of equal values stays.
    Schedules equal(plan_of(9, 2, {model_checkpoint("validation.loss", 1, 1)}));
    CHECK(kept_epochs(decisions(equal, "validation.loss", {2, 2, 2})) == Epochs{1});
}

TEST_CASE("PyDTNN: a metric that is unknown, or not computed, or has no validation, is an error") {
    const auto build = [](const Component& component, bool validation) {
        plan::Plan plan = plan_of(9, 2, {component});
        if (!validation) plan.dataset.validation_samples = 0;
        const Schedules schedules(plan);
    };
    // PyDTNN falls back to column 0.
    expect_error(Exit::mismatch, {"early_stopping", "val_accuracy", "does not compute"},
                 [&] { build(early_stopping("val_accuracy", 3, false), true); });
    expect_error(Exit::mismatch, {"stop_at", "validation.recall", "does not compute"},
                 [&] { build(stop_at("validation.recall", 0), true); });
    // PyDTNN's defaults watch a validation that there is none of: the rate falls, then it crashes.
    expect_error(Exit::mismatch, {"reduce_on_plateau", "no validation samples"},
                 [&] { build(plateau("validation.loss", 5, "auto"), false); });
    // A list of numbers has no better and no worse; a ranking is not known while training.
    const auto with_metric = [](const plan::Metric& metric, const std::string& watched) {
        plan::Plan plan = plan_of(9, 2, {early_stopping(watched, 3, false)});
        plan.training.metrics.push_back(metric);
        const Schedules schedules(plan);
    };
    const plan::Metric rates = {
        "f1_per_class", "f1", {{"average", std::string("per_class")}}, "class_pairs"};
    expect_error(Exit::mismatch, {"f1_per_class", "not one number"},
                 [&] { with_metric(rates, "validation.f1_per_class"); });
    const plan::Metric area = {"roc_auc", "roc_auc", {}, "predictions"};
    expect_error(Exit::mismatch, {"roc_auc", "validation samples only"},
                 [&] { with_metric(area, "roc_auc"); });
    CHECK_NOTHROW(with_metric(area, "validation.roc_auc"));
    expect_error(Exit::mismatch, {"`step_lr` is unknown"}, [&] { build({"step_lr", {}}, true); });
    CHECK_NOTHROW(build(plateau("loss", 5, "auto"), false));
}

TEST_CASE("PyDTNN: what is no number is never an improvement, and reduces like any bad epoch") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Schedules kept(plan_of(9, 2, {model_checkpoint("validation.f1", 1, 2)}));
    CHECK(kept_epochs(decisions(kept, "validation.f1", {nan, 0.2, nan, 0.1})) == Epochs{2, 4});
    Schedules stopped(plan_of(9, 2, {early_stopping("validation.f1", 2, true)}));
    const auto made = decisions(stopped, "validation.f1", {nan, nan});
    CHECK_FALSE(made[1].stop.empty());
    // There is nothing to take back where nothing was kept: PyDTNN crashes there.
    CHECK_FALSE(stopped.restore_at_end().has_value());
}

TEST_CASE("PyDTNN: a reduction that would pass the minimum ends at it") {
    Schedules schedules(plan_of(9, 2, {plateau("loss", 0, "auto", 0.02)}));
    decisions(schedules, "loss", {1.0, 1.0});
    CHECK(schedules.learning_rate({2, 0}) == doctest::Approx(0.02));
    decisions(schedules, "loss", {1.0}, 3);
    CHECK(schedules.learning_rate({3, 0}) == doctest::Approx(0.02));
}

// --- early stopping, thresholds, state --------------------------------------------------------

TEST_CASE("early stopping ends after patience epochs and takes back the best") {
    Schedules schedules(plan_of(9, 2, {early_stopping("validation.loss", 3, true)}));
    const auto made = decisions(schedules, "validation.loss", {3, 2, 2.5, 1, 1.5, 1.0, 1.2});
    for (std::size_t i = 0; i + 1 < made.size(); ++i)
        CHECK(made[i].stop.empty());
    CHECK(made.back().stop.find("3 epochs") != std::string::npos);
    CHECK(kept_epochs(made) == Epochs{4});
    REQUIRE(schedules.restore_at_end().has_value());
    CHECK(schedules.restore_at_end()->epoch == 4);
    CHECK(schedules.restore_at_end()->value == 1);
    CHECK(schedules.restore_at_end()->key == "early_stopping");
}

TEST_CASE("stop_at ends when the threshold is reached, from the better side") {
    Schedules accuracy(plan_of(9, 2, {stop_at("categorical_accuracy", 0.9)}));
    const auto up = decisions(accuracy, "categorical_accuracy", {0.5, 0.89, 0.9});
    CHECK(up[1].stop.empty());
    CHECK_FALSE(up[2].stop.empty());
    Schedules loss(plan_of(9, 2, {stop_at("loss", 0.1)}));
    const auto down = decisions(loss, "loss", {0.5, 0.100001, 0.05});
    CHECK(down[1].stop.empty());
    CHECK_FALSE(down[2].stop.empty());
}

TEST_CASE("schedules go on from their state as if never stopped") {
    const plan::Plan plan = plan_of(20, 2,
                                    {plateau("validation.loss", 1, "auto"),
                                     early_stopping("validation.loss", 4, true),
                                     model_checkpoint("validation.loss", 1, 3),
                                     {"multistep", {{"epochs", Epochs{3}}, {"factor", 0.5}}}});
    const std::vector<double> values = {5, 4, 4.5, 4.2, 4, 3, 3.5, 3.2, 2.9, 2.95, 3, 3, 3};
    for (std::size_t cut = 0; cut < values.size(); ++cut) {
        CAPTURE(cut);
        Schedules whole(plan), first(plan), second(plan);
        const std::vector<double> head(values.begin(), values.begin() + std::ptrdiff_t(cut));
        const std::vector<double> tail(values.begin() + std::ptrdiff_t(cut), values.end());
        const auto expected = decisions(whole, "validation.loss", values);
        decisions(first, "validation.loss", head);
        REQUIRE(second.set_state(first.state()));
        const auto made = decisions(second, "validation.loss", tail, std::int64_t(cut) + 1);
        for (std::size_t i = 0; i < made.size(); ++i) {
            CHECK(made[i].stop == expected[cut + i].stop);
            REQUIRE(made[i].keep.size() == expected[cut + i].keep.size());
            for (std::size_t k = 0; k < made[i].keep.size(); ++k) {
                CHECK(made[i].keep[k].epoch == expected[cut + i].keep[k].epoch);
                CHECK(made[i].keep[k].dropped == expected[cut + i].keep[k].dropped);
            }
        }
        CHECK(second.state() == whole.state());
        CHECK(second.learning_rate({19, 1}) == whole.learning_rate({19, 1}));
    }
    Schedules other(plan);
    CHECK_FALSE(other.set_state({{1, 2}, {}, {}, {}}));
    CHECK_FALSE(other.set_state({}));
    CHECK_FALSE(other.set_state({{1, 2, 3, -1, 0.1}, {1, 2, 3}, {}, {}}));
    CHECK_FALSE(other.set_state({{1, 2, 3, 0, 0.1}, {1, 1e300, 3}, {}, {}}));
    CHECK_FALSE(other.set_state({{1, 2, 3, 0, 0.1}, {1, 2, 3}, {1, 0.5}, {}}));
    CHECK(other.state() == Schedules(plan).state());
}

}  // namespace dtnn::runtime::schedules_test
