/// Networks over sequences beside what PyTorch makes of them (make_sequence_values.py): the job is
/// compiled, and trained from an .npz by one rank and by two.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
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

/// A network, and how its samples lie in the .npz.
struct Network {
    const char* name;   ///< in the file of values
    const char* array;  ///< of its samples in the .npz
    const char* model;
    const char *inputs, *type;  ///< of the samples: extents and elements
    const char* labels;         ///< extents behind the samples
    int classes;
    const char* dataset;  ///< more fields
};

std::string shape(std::size_t samples, const char* extents) {
    return fmt::format("({},{})", samples, extents);
}

std::size_t samples_of(const Json& values, const Network& network) {
    const std::size_t all = values.at("labels").size();
    return *network.labels == 0 ? all : all / std::size_t(std::atoi(network.labels));
}

void write_samples(const std::string& path, const Json& values, const Network& network) {
    const auto labels = values.at("labels").get<std::vector<std::int64_t>>();
    const std::size_t samples = samples_of(values, network);
    const bool integers = network.type == std::string_view("<i8");
    const std::string x = runtime::npy(
        network.type, shape(samples, network.inputs),
        integers ? runtime::bytes_of(values.at("source").get<std::vector<std::int64_t>>())
                 : runtime::bytes_of(values.at("source").get<Numbers>()));
    const std::string y =
        runtime::npy("<i8", shape(samples, network.labels), runtime::bytes_of(labels));
    std::ofstream file(path, std::ios::binary);
    const std::string name = network.array;
    file << runtime::zip(
        {{name + "_train.npy", x}, {"y_train.npy", y}, {name + "_test.npy", x}, {"y_test.npy", y}});
    REQUIRE(file.flush());
}

constexpr const char* kFeatures = R"(
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
constexpr const char* kTokens = R"(
  inputs: {ids: {shape: [7], axes: [step], dtype: i32, values: 11}}
  layers:
    - embedding: {name: words, entries: 11, units: 12}
    - position_embedding: {name: places, positions: 9}
    - layer_norm: {name: n1}
    - dense: {name: qkv, units: 36}
    - attention: {heads: 3, causal: true, dropout: 0.3}
    - dense: {name: out1, units: 12}
    - add: {name: x1, from: [places, out1]}
    - rms_norm: {name: n2}
    - dense: {name: q, units: 12}
    - rotary_embedding: {name: turned_q, heads: 3}
    - dense: {name: k, from: n2, units: 4}
    - rotary_embedding: {name: turned_k, heads: 1}
    - dense: {name: v, from: n2, units: 4}
    - attention: {from: [turned_q, turned_k, v], heads: 3, key_value_heads: 1, causal: true, dropout: 0.2}
    - dense: {name: out2, units: 12}
    - add: {name: x2, from: [x1, out2]}
    - dense: {name: gate, units: 10}
    - dense: {name: up, from: x2, units: 10}
    - swiglu: {from: [gate, up]}
    - dense: {name: down, units: 12}
    - add: {name: x3, from: [x2, down]}
    - layer_norm: {name: n3}
    - dense: {name: last, units: 11}
    - softmax: {axis: features}
)";
constexpr const char* kShared = R"(
  inputs: {ids: {shape: [7], axes: [step], dtype: i32, values: 11}}
  blocks:
    tower: {layers: [dense: {name: in, units: 5}, tanh, dense: {name: out, units: 12, bias: false}]}
  layers:
    - embedding: {name: words, entries: 11, units: 12}
    - repeat: {name: turn, times: 2, shared: true, layers: [layer_norm: {name: norm}, dense: {name: mix, units: 12}, gelu]}
    - tower: {name: one}
    - tower: {name: two, share: one}
    - add: {from: [one, two]}
    - dense: {name: narrow, units: 5, share: one/in}
    - dense: {name: wide, units: 12, share: narrow, bias: false}
    - dense: {name: last, units: 11, share: words}
    - softmax: {axis: features}
)";
constexpr const char* kRecurrent = R"(
  inputs: {ids: {shape: [7], axes: [step], dtype: i32, values: 11}}
  layers:
    - embedding: {name: words, entries: 11, units: 12}
    - concat: {axis: features, branches: [[lstm: {name: there, units: 5}], [lstm: {name: back, units: 5, reversed: true}]]}
    - gru: {name: up, units: 10}
    - gru: {name: down, units: 5, reversed: true}
    - rnn: {name: plain, units: 8}
    - dense: {name: last, units: 11}
    - softmax: {axis: features}
)";
constexpr Network kNetworks[] = {
    {"features", "x", kFeatures, "16,32", "<f8", "", 3, ""},
    {"tokens", "ids", kTokens, "7", "<i8", "7", 11, "labels: step, "},
    {"shared", "ids", kShared, "7", "<i8", "7", 11, "labels: step, "},
    {"recurrent", "ids", kRecurrent, "7", "<i8", "7", 11, "labels: step, "},
};

plan::Plan plan_of(const std::string& data, const Json& values, const Network& network, int ranks) {
    const std::size_t samples = samples_of(values, network);
    return compiled(fmt::format(
        "kind: job\nname: sequences\nmodel:{}dataset: {{type: archive, path: \"{}\", {}classes: "
        "{}, "
        "train_samples: {}, test_samples: {}}}\n"
        "training: {{dtype: f64, loss: categorical_cross_entropy, metrics: [], shuffle: false, "
        "epochs: {}, batch_size: {}, optimizer: {{sgd: {{learning_rate: {}, momentum: 0}}}}}}\n"
        "parallel: {{data: {}}}\n",
        network.model, data, network.dataset, network.classes, samples, samples, kEpochs,
        samples / kSteps / std::size_t(ranks), values.at("rate").get<double>(), ranks));
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

TEST_CASE("networks over sequences train like PyTorch, on one rank and on two") {
    const Json all = read_values();
    for (const Network& network : kNetworks) {
        CAPTURE(network.name);
        const Json& values = all.at(network.name);
        const DataFolder folder;
        write_samples(folder / "data.npz", values, network);
        for (const int ranks : {1, 2}) {
            CAPTURE(ranks);
            const plan::Plan plan = plan_of(folder / "data.npz", values, network, ranks);
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
}

}  // namespace sequences_test
