/// A network over sequences, [16 steps, 32 features], beside what PyTorch makes of it
/// (make_sequence_values.py): the job is compiled, and trained from an .npz by one rank and by two.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/ranks/local_steps/local_training.hpp"
#include "tests/unit/runtime/archive_files.hpp"

namespace sequences_test {

namespace {

using namespace dtnn;
using Json = nlohmann::json;
using Numbers = std::vector<double>;

constexpr int kEpochs = 3, kSteps = 3;  ///< of the training, and of an epoch

Json read_values() {
    std::ifstream stream("tests/peers/sequences/sequence_values.json");
    return Json::parse(stream);
}

/// |ours - theirs| <= 1e-9 * max(1, |theirs|)
void compare(const std::string& what, double ours, double theirs) {
    CHECK_MESSAGE(std::fabs(ours - theirs) <= 1e-9 * std::max(1.0, std::fabs(theirs)), what, " is ",
                  ours, ", not ", theirs);
}

void write_samples(const std::string& path, const Json& values) {
    const auto labels = values.at("labels").get<std::vector<std::int64_t>>();
    const std::string count = fmt::format("{}", labels.size());
    const std::string x = runtime::npy("<f8", "(" + count + ", 16, 32)",
                                       runtime::bytes_of(values.at("source").get<Numbers>()));
    const std::string y = runtime::npy("<i8", "(" + count + ",)", runtime::bytes_of(labels));
    std::ofstream file(path, std::ios::binary);
    file << runtime::zip(
        {{"x_train.npy", x}, {"y_train.npy", y}, {"x_test.npy", x}, {"y_test.npy", y}});
    REQUIRE(file.flush());
}

constexpr const char* kModel = R"(
kind: job
name: sequences
model:
  input: {shape: [16, 32], axes: [step, feature]}
  layers:
    - dense: {name: a, units: 8}
    - layer_norm: {name: norm}
    - relu: {name: b}
    - add: {name: sum, from: [b, a]}
    - softmax: {name: c, from: a, axis: steps}
    - dropout: {name: kept, from: sum, rate: 0}
    - concat: {from: [kept, c], axis: steps}
    - mean: {axis: steps}
    - dense: {name: last, units: 3}
    - softmax
)";

plan::Plan plan_of(const std::string& data, const Json& values, int ranks) {
    const auto samples = values.at("labels").size();
    return compiled(fmt::format(
        "{}dataset: {{type: archive, path: \"{}\", classes: 3, train_samples: {}, test_samples: "
        "{}}}\n"
        "training: {{dtype: f64, loss: categorical_cross_entropy, metrics: [], shuffle: false, "
        "epochs: {}, batch_size: {}, optimizer: {{sgd: {{learning_rate: {}, momentum: 0}}}}}}\n"
        "parallel: {{data: {}}}\n",
        kModel + 1, data, samples, samples, kEpochs, samples / kSteps / std::size_t(ranks),
        values.at("rate").get<double>(), ranks));
}

/// The state before the first step, with PyTorch's weights.
Kept beginning(const plan::Plan& plan, const Json& first, int ranks) {
    Kept kept;
    kept.state.ranks = ranks;
    for (const plan::Parameter& parameter : plan.parameters) {
        const auto numbers = first.at(parameter.name).get<Numbers>();
        REQUIRE(std::int64_t(numbers.size()) == element_count(parameter.dims));
        std::vector<std::byte>& bytes =
            kept.parameters.emplace_back(numbers.size() * sizeof(double));
        std::memcpy(bytes.data(), numbers.data(), bytes.size());
    }
    return kept;
}

}  // namespace

TEST_CASE("a network over sequences trains like PyTorch, on one rank and on two") {
    const Json values = read_values();
    const DataFolder folder;
    write_samples(folder / "data.npz", values);
    for (const int ranks : {1, 2}) {
        CAPTURE(ranks);
        const plan::Plan plan = plan_of(folder / "data.npz", values, ranks);
        const Kept first = beginning(plan, values.at("first"), ranks);
        const Trained trained = train_on(ranks, plan, &first);
        REQUIRE_MESSAGE(trained.error.empty(), trained.error);
        CHECK(trained.same_on_all);
        CHECK(trained.steps == kEpochs * kSteps);
        const auto losses = values.at("losses").get<Numbers>();
        REQUIRE(trained.losses.size() == std::size_t(kEpochs));
        for (std::size_t epoch = 0; epoch < trained.losses.size(); ++epoch) {
            double sum = 0;
            for (std::size_t step = 0; step < std::size_t(kSteps); ++step)
                sum += losses[epoch * std::size_t(kSteps) + step];
            compare(fmt::format("the loss of epoch {}", epoch), trained.losses[epoch],
                    sum / kSteps);
        }
        for (const auto& [name, numbers] : values.at("weights").items()) {
            const Numbers &ours = trained.of(plan, name), theirs = numbers.get<Numbers>();
            REQUIRE(ours.size() == theirs.size());
            for (std::size_t i = 0; i < ours.size(); ++i)
                compare(fmt::format("{}[{}]", name, i), ours[i], theirs[i]);
        }
    }
}

}  // namespace sequences_test
