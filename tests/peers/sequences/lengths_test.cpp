/// Samples of several lengths in one batch: it trains as its samples would, each in a batch of its
/// own that has just its steps, whatever is behind them in the file; on several ranks, and where an
/// update takes several batches, too.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>

#include "compiler/driver/compile_job.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/train/predict.hpp"
#include "runtime/train/session.hpp"
#include "tests/ranks/local_steps/local_training.hpp"
#include "tests/unit/runtime/archive_files.hpp"

namespace lengths_test {

namespace {

using namespace dtnn;
using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

constexpr std::int64_t kRoom = 6, kFeatures = 4, kIds = 11, kClasses = 3;
/// Of the samples; recurrent layers take two steps or more.
const Integers kLengths = {3, 6, 2, 5, 6, 4};

/// A number in [-1, 1) that depends on its arguments alone.
double number_of(std::int64_t sample, std::int64_t step, std::int64_t feature) {
    const double x = std::sin(double(sample * 131 + step * 17 + feature * 7 + 1)) * 43758.5453;
    return 2 * (x - std::floor(x)) - 1;
}

enum class Padding {
    none,     ///< samples have the steps that there is room for
    rubbish,  ///< what is behind is no number, and the lengths are in the file
    zeros     ///< what is behind are zeros, and nobody knows it
};

struct Network {
    const char* name;
    const char* model;  ///< with ROOM for the steps
    bool tokens;        ///< integers with a class for each step, else numbers with one a sample
};

constexpr Network kNetworks[] = {
    {"recurrent", R"(
  input: {shape: [ROOM, 4], axes: [step, feature]}
  layers:
    - dense: {name: a, units: 6}
    - layer_norm: {name: b}
    - tanh
    - concat: {axis: features, branches: [[lstm: {name: there, units: 5}], [lstm: {name: back, units: 5, reversed: true}]]}
    - gru: {name: c, units: 6, reversed: true}
    - last_step
    - dense: {name: last, units: 3}
    - softmax
)",
     false},
    {"means", R"(
  input: {shape: [ROOM, 4], axes: [step, feature]}
  layers:
    - dense: {name: qkv, units: 18}
    - attention: {heads: 3}
    - rms_norm: {name: b}
    - conv1d: {name: w, filters: 6, kernel: 3, padding: same}
    - relu
    - depthwise_conv1d: {name: v, kernel: 2, padding: causal}
    - dense: {name: c, units: 6}
    - add: {name: d, from: [c, b]}
    - first_step: {name: first}
    - mean: {name: all, from: d, axis: steps}
    - add: {from: [first, all]}
    - dense: {name: last, units: 3}
    - softmax
)",
     false},
    {"largest", R"(
  input: {shape: [ROOM, 4], axes: [step, feature]}
  layers:
    - concat:
        - [conv1d: {name: w2, filters: 5, kernel: 2, padding: same}, relu, global_max_pool1d]
        - [dense: {name: w1, units: 5}, global_max_pool1d]
    - dense: {name: last, units: 3}
    - softmax
)",
     false},
    {"tokens", R"(
  inputs: {ids: {shape: [ROOM], axes: [step], dtype: i32, values: 11}}
  layers:
    - embedding: {name: words, entries: 11, units: 8}
    - position_embedding: {name: places, positions: 6}
    - dense: {name: qkv, units: 16}
    - attention: {name: one, heads: 2, key_value_heads: 1}
    - add: {name: x1, from: [one, places]}
    - layer_norm: {name: n}
    - dense: {name: q, units: 8}
    - rotary_embedding: {name: turned_q, heads: 2}
    - dense: {name: k, from: n, units: 4}
    - rotary_embedding: {name: turned_k, heads: 1}
    - dense: {name: v, from: n, units: 4}
    - attention: {name: two, from: [turned_q, turned_k, v], heads: 2, key_value_heads: 1, causal: true}
    - rnn: {name: r, units: 7, reversed: true}
    - dense: {name: last, units: 3}
    - softmax: {axis: features}
)",
     true},
};

constexpr const Network& kOfSteps = kNetworks[3];  ///< with a class for each step

constexpr Network kFlattened = {"flattened", R"(
  input: {shape: [ROOM, 4], axes: [step, feature]}
  layers:
    - flatten
    - dense: {name: last, units: 3}
    - softmax
)",
                                false};

/// An .npz of some samples, for training and for the test.
void write_samples(const std::string& path, const Network& network, const Integers& samples,
                   std::int64_t room, Padding padding) {
    Numbers numbers;
    Integers ids, labels, lengths;
    for (const std::int64_t n : samples) {
        const std::int64_t length = kLengths[std::size_t(n)];
        lengths.push_back(length);
        if (!network.tokens) labels.push_back((n * 2 + 1) % kClasses);
        for (std::int64_t t = 0; t < room; ++t) {
            const bool there = t < length;
            if (network.tokens) labels.push_back(there ? (n + t * t) % kClasses : -100);
            ids.push_back(there ? (n * 5 + t * 3) % kIds : -9);
            for (std::int64_t f = 0; f < kFeatures; ++f)
                numbers.push_back(there                       ? number_of(n, t, f)
                                  : padding == Padding::zeros ? 0
                                                              : std::numeric_limits<double>::max());
        }
    }
    const std::size_t count = samples.size();
    runtime::Members members;
    for (const char* split : {"train", "test"}) {
        const auto add = [&](const char* name, const std::string& npy) {
            members.emplace_back(fmt::format("{}_{}.npy", name, split), npy);
        };
        if (network.tokens)
            add("ids",
                runtime::npy("<i8", fmt::format("({},{})", count, room), runtime::bytes_of(ids)));
        else
            add("x", runtime::npy("<f8", fmt::format("({},{},{})", count, room, kFeatures),
                                  runtime::bytes_of(numbers)));
        add("y", runtime::npy("<i8",
                              network.tokens ? fmt::format("({},{})", count, room)
                                             : fmt::format("({},)", count),
                              runtime::bytes_of(labels)));
        if (padding == Padding::rubbish)
            add("n", runtime::npy("<i8", fmt::format("({},)", count), runtime::bytes_of(lengths)));
    }
    std::ofstream file(path, std::ios::binary);
    file << runtime::zip(members);
    REQUIRE(file.flush());
}

struct Form {
    std::int64_t batch = 1;  ///< of a rank
    int ranks = 1, accumulation = 1;
    std::int64_t room = kRoom;
    Padding padding = Padding::rubbish;
    const char* metrics = "[categorical_accuracy, perplexity, recall]";
};

std::string job_text(const Network& network, const std::string& data, std::size_t samples,
                     const Form& form) {
    std::string model = network.model;
    for (auto at = model.find("ROOM"); at != std::string::npos; at = model.find("ROOM"))
        model.replace(at, 4, std::to_string(form.room));
    return fmt::format(
        "kind: job\nname: lengths\nmodel:{}dataset: {{type: archive, path: \"{}\", {}{}classes: "
        "{}, train_samples: {}, test_samples: {}}}\n"
        "training: {{dtype: f64, loss: categorical_cross_entropy, metrics: {}, shuffle: false, "
        "epochs: 1, batch_size: {}, accumulation: {}, "
        "optimizer: {{sgd: {{learning_rate: 0.5, momentum: 0}}}}}}\n"
        "parallel: {{data: {}}}\n",
        model, data, network.tokens ? "labels: step, " : "",
        form.padding == Padding::rubbish ? "lengths: n, " : "", kClasses, samples, samples,
        form.metrics, form.batch, form.accumulation, form.ranks);
}

struct Answer {
    plan::Plan plan;
    Trained trained;
};

Answer answer(const Network& network, const Integers& samples, const Form& form) {
    const DataFolder folder;
    write_samples(folder / "data.npz", network, samples, form.room, form.padding);
    Answer result;
    result.plan = compiled(job_text(network, folder / "data.npz", samples.size(), form));
    result.trained = train_on(form.ranks, result.plan);
    REQUIRE_MESSAGE(result.trained.error.empty(), result.trained.error);
    CHECK(result.trained.same_on_all);
    REQUIRE(result.trained.losses.size() == 1);
    return result;
}

Integers all_samples() {
    Integers all(kLengths.size());
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
}

void compare(const std::string& what, double one, double other, double tolerance = 1e-12) {
    CHECK_MESSAGE(std::fabs(one - other) <= tolerance * std::max(1.0, std::fabs(other)), what,
                  " is ", one, ", not ", other);
}

void compare_parameters(const Answer& one, const Answer& other) {
    for (const plan::Parameter& parameter : one.plan.parameters) {
        if (parameter.kind == plan::ParameterKind::gradient_sum) continue;
        const Numbers &a = one.trained.of(one.plan, parameter.name),
                      &b = other.trained.of(other.plan, parameter.name);
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < a.size(); ++i)
            compare(fmt::format("{}[{}]", parameter.name, i), a[i], b[i]);
    }
}

Numbers predictions(const Network& network, const Integers& samples, const Form& form) {
    const DataFolder folder;
    write_samples(folder / "data.npz", network, samples, form.room, form.padding);
    const plan::Plan plan = compiled(job_text(network, folder / "data.npz", samples.size(), form));
    runtime::Session session(plan, 1, runtime::open_source(plan.dataset));
    Integers order(samples.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    Numbers all;
    runtime::predict(session, runtime::Split::test, order,
                     [&](const runtime::PredictedBatch& batch) {
                         const bool padded = form.padding == Padding::rubbish;
                         CHECK(std::int64_t(batch.lengths.size()) == (padded ? batch.samples : 0));
                         for (std::size_t i = 0; i < batch.lengths.size(); ++i)
                             CHECK(batch.lengths[i] == kLengths[std::size_t(batch.first) + i]);
                         all.insert(all.end(), batch.predictions.begin(), batch.predictions.end());
                     });
    return all;
}

}  // namespace

TEST_CASE("a batch of several lengths trains as its samples do by themselves") {
    for (const Network& network : kNetworks) {
        CAPTURE(network.name);
        // The mean of what samples give by themselves, which have the weights of their steps where
        // these have labels. Where the step is one of the rate, weights move by it, too.
        double loss = 0, all = 0;
        std::map<std::string, Numbers> weights;
        for (const std::int64_t sample : all_samples()) {
            const std::int64_t length = kLengths[std::size_t(sample)];
            const Answer alone =
                answer(network, {sample}, {.room = length, .padding = Padding::none});
            const double share = network.tokens ? double(length) : 1;
            all += share;
            loss += share * alone.trained.losses[0];
            for (const plan::Parameter& parameter : alone.plan.parameters) {
                const Numbers& own = alone.trained.of(alone.plan, parameter.name);
                Numbers& sum = weights[parameter.name];
                sum.resize(own.size());
                for (std::size_t i = 0; i < own.size(); ++i)
                    sum[i] += share * own[i];
            }
        }
        const Answer together =
            answer(network, all_samples(), {.batch = std::int64_t(kLengths.size())});
        compare("the loss", together.trained.losses[0], loss / all);
        for (const plan::Parameter& parameter : together.plan.parameters) {
            const Numbers &ours = together.trained.of(together.plan, parameter.name),
                          &wanted = weights.at(parameter.name);
            REQUIRE(ours.size() == wanted.size());
            for (std::size_t i = 0; i < ours.size(); ++i)
                compare(fmt::format("{}[{}]", parameter.name, i), ours[i], wanted[i] / all);
        }
    }
}

TEST_CASE("lengths know nothing of ranks and batches") {
    for (const Network& network : kNetworks) {
        CAPTURE(network.name);
        const Answer one = answer(network, all_samples(), {.batch = 6});
        for (const Form& form :
             {Form{.batch = 3, .accumulation = 2}, Form{.batch = 3, .ranks = 2},
              Form{.batch = 2, .ranks = 3}, Form{.batch = 1, .ranks = 3, .accumulation = 2}}) {
            CAPTURE(form.ranks);
            CAPTURE(form.accumulation);
            const Answer other = answer(network, all_samples(), form);
            compare("the loss", other.trained.losses[0], one.trained.losses[0]);
            REQUIRE(other.trained.test.values.size() == one.trained.test.values.size());
            for (std::size_t i = 0; i < one.trained.test.values.size(); ++i)
                compare(fmt::format("value {} of the test", i),
                        other.trained.test.values[i].number(), one.trained.test.values[i].number());
            compare_parameters(other, one);
        }
    }
}

TEST_CASE("layers that know no lengths see zeros") {
    const Answer known = answer(kFlattened, all_samples(), {.batch = 6});
    const Answer zeros = answer(kFlattened, all_samples(), {.batch = 6, .padding = Padding::zeros});
    compare("the loss", known.trained.losses[0], zeros.trained.losses[0]);
    compare_parameters(known, zeros);
}

TEST_CASE("predictions are those of a sample by itself, and zeros behind its steps") {
    const Numbers together = predictions(kOfSteps, all_samples(), {.batch = 4});
    for (const std::int64_t sample : all_samples()) {
        const std::int64_t length = kLengths[std::size_t(sample)];
        Numbers alone = predictions(kOfSteps, {sample}, {.room = length, .padding = Padding::none});
        alone.resize(std::size_t(kRoom * kClasses));
        for (std::size_t i = 0; i < alone.size(); ++i)
            compare(fmt::format("prediction {} of sample {}", i, sample),
                    together[std::size_t(sample) * alone.size() + i], alone[i]);
    }
}

TEST_CASE("what cannot do without the steps that samples do not have is refused") {
    const DataFolder folder;
    const Network refused[] = {
        {"batch_norm",
         "\n  input: {shape: [ROOM, 4], axes: [step, feature]}\n"
         "  layers: [batch_norm, mean: {axis: steps}, dense: {units: 3}, softmax]\n",
         false},
        {"softmax",
         "\n  input: {shape: [ROOM, 4], axes: [step, feature]}\n"
         "  layers: [softmax: {axis: steps}, mean: {axis: steps}, dense: {units: 3}, softmax]\n",
         false},
        {"class_token",
         "\n  input: {shape: [ROOM, 4], axes: [step, feature]}\n"
         "  layers: [class_token, first_step, dense: {units: 3}, softmax]\n",
         false}};
    for (const Network& network : refused) {
        CAPTURE(network.name);
        write_samples(folder / "data.npz", network, all_samples(), kRoom, Padding::rubbish);
        compiler::Diagnostics diagnostics;
        compiler::LoadOptions options;
        options.texts["job.yaml"] = job_text(network, folder / "data.npz", kLengths.size(), {});
        const compiler::JobSpec job = compiler::load_job("job.yaml", options, diagnostics);
        REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(false));
        CHECK_FALSE(compiler::compile_job(job, {.threads = 1}, diagnostics).has_value());
        const std::string text = diagnostics.render(false);
        CHECK_MESSAGE(text.find("[mixes-steps]") != std::string::npos, text);
        CHECK_MESSAGE(text.find(fmt::format("`{}_1`", network.name)) != std::string::npos, text);
    }
}

}  // namespace lengths_test
