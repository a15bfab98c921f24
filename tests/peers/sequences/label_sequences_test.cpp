/// A network that is told which labels a sample has, and not at which steps: it learns where they
/// are; and a batch of such samples trains as they would by themselves, on several ranks and where
/// an update takes several batches, too.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "runtime/data/sample_source.hpp"
#include "runtime/train/predict.hpp"
#include "runtime/train/session.hpp"
#include "tests/ranks/local_steps/local_training.hpp"
#include "tests/unit/runtime/archive_files.hpp"

namespace label_sequences_test {

namespace {

using namespace dtnn;
using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

constexpr std::int64_t kSteps = 16, kMostLabels = 4, kSigns = 3, kClasses = kSigns + 1;

/// Numbers that depend on the sample alone.
class Drawn {
  public:
    explicit Drawn(std::int64_t sample) : state_(77 + 1000 * sample) {}
    std::int64_t below(std::int64_t count) {
        state_ = (state_ * 1103515245 + 12345) % (std::int64_t{1} << 31);
        return (state_ >> 8) % count;
    }

  private:
    std::int64_t state_;
};

/// One to four signs, each of which lasts two steps, with one or two steps between them.
struct Signs {
    Integers labels;
    std::int64_t length = 0;
    Numbers steps = Numbers(std::size_t(kSteps * kSigns));

    explicit Signs(std::int64_t sample) {
        Drawn drawn(sample);
        const std::int64_t count = 1 + drawn.below(kMostLabels);
        while (std::int64_t(labels.size()) < count) {
            length += 1 + drawn.below(2);
            labels.push_back(1 + drawn.below(kSigns));
            for (int step = 0; step < 2; ++step, ++length)
                steps[std::size_t(length * kSigns + labels.back() - 1)] = 1;
        }
        length = std::min(kSteps, length + drawn.below(3));
        // What is behind the steps of a sample is not read.
        std::fill(steps.begin() + length * kSigns, steps.end(),
                  std::numeric_limits<double>::quiet_NaN());
    }
};

/// Samples from `first` on, for training and for the test.
struct Split {
    std::int64_t first, count;
};

void write_samples(const std::string& path, const Split& train, const Split& test) {
    runtime::Members members;
    for (const auto& [name, split] : {std::pair{"train", train}, std::pair{"test", test}}) {
        Numbers steps;
        Integers labels, lengths;
        for (std::int64_t sample = split.first; sample < split.first + split.count; ++sample) {
            Signs signs(sample);
            steps.insert(steps.end(), signs.steps.begin(), signs.steps.end());
            signs.labels.resize(std::size_t(kMostLabels), -1);
            labels.insert(labels.end(), signs.labels.begin(), signs.labels.end());
            lengths.push_back(signs.length);
        }
        members.emplace_back(
            fmt::format("x_{}.npy", name),
            runtime::npy("<f8", fmt::format("({},{},{})", split.count, kSteps, kSigns),
                         runtime::bytes_of(steps)));
        members.emplace_back(fmt::format("y_{}.npy", name),
                             runtime::npy("<i8", fmt::format("({},{})", split.count, kMostLabels),
                                          runtime::bytes_of(labels)));
        members.emplace_back(
            fmt::format("n_{}.npy", name),
            runtime::npy("<i8", fmt::format("({},)", split.count), runtime::bytes_of(lengths)));
    }
    std::ofstream file(path, std::ios::binary);
    file << runtime::zip(members);
    REQUIRE(file.flush());
}

struct Form {
    Split train, test;
    const char* dtype = "f64";
    const char* loss = "ctc";
    const char* optimizer = "sgd: {learning_rate: 0.5, momentum: 0}";
    std::int64_t batch = 1;  ///< of a rank
    int epochs = 1, ranks = 1, accumulation = 1;
};

plan::Plan plan_of(const Form& form, const std::string& data) {
    return compiled(fmt::format(
        "kind: job\nname: signs\n"
        "model:\n"
        "  input: {{shape: [{}, {}], axes: [step, feature]}}\n"
        "  layers: [lstm: {{name: memory, units: 12}}, dense: {{name: last, units: {}}}, "
        "log_softmax]\n"
        "dataset: {{type: archive, path: \"{}\", labels: sequence, most_labels: {}, lengths: n, "
        "classes: {}, train_samples: {}, test_samples: {}}}\n"
        "training: {{dtype: {}, loss: {}, shuffle: false, epochs: {}, batch_size: {}, "
        "accumulation: {}, optimizer: {{{}}}}}\n"
        "parallel: {{data: {}}}\n",
        kSteps, kSigns, kClasses, data, kMostLabels, kClasses, form.train.count, form.test.count,
        form.dtype, form.loss, form.epochs, form.batch, form.accumulation, form.optimizer,
        form.ranks));
}

struct Answer {
    plan::Plan plan;
    Trained trained;
};

Answer answer(const Form& form) {
    const DataFolder folder;
    write_samples(folder / "data.npz", form.train, form.test);
    Answer result;
    result.plan = plan_of(form, folder / "data.npz");
    result.trained = train_on(form.ranks, result.plan);
    REQUIRE_MESSAGE(result.trained.error.empty(), result.trained.error);
    CHECK(result.trained.same_on_all);
    return result;
}

void compare(const std::string& what, double one, double other) {
    CHECK_MESSAGE(std::fabs(one - other) <= 1e-12 * std::max(1.0, std::fabs(other)), what, " is ",
                  one, ", not ", other);
}

}  // namespace

TEST_CASE("a network learns where labels are that it is told the order of") {
    const Answer learnt = answer({.train = {0, 64},
                                  .test = {64, 32},
                                  .dtype = "f32",
                                  .optimizer = "adam: {learning_rate: 0.02}",
                                  .batch = 8,
                                  .epochs = 30});
    const Numbers& losses = learnt.trained.losses;
    REQUIRE(losses.size() == 30);
    CHECK(losses.back() < 0.1 * losses.front());
    const auto& values = learnt.trained.test.values;
    REQUIRE(values.size() == 2);
    CHECK(values[1].name == "label_error_rate");
    CHECK(values[1].number() < 0.05);
}

TEST_CASE("a batch of sequences trains as they do by themselves") {
    constexpr std::int64_t kSamples = 6;
    for (const char* loss : {"ctc", "{ctc: {per: sample}}"}) {
        CAPTURE(loss);
        double sum = 0;
        std::vector<Numbers> weights;
        for (std::int64_t sample = 0; sample < kSamples; ++sample) {
            const Answer alone =
                answer({.train = {sample, 1}, .test = {0, kSamples}, .loss = loss});
            sum += alone.trained.losses[0];
            weights.resize(alone.trained.parameters.size());
            for (std::size_t i = 0; i < weights.size(); ++i) {
                weights[i].resize(alone.trained.parameters[i].size());
                for (std::size_t k = 0; k < weights[i].size(); ++k)
                    weights[i][k] += alone.trained.parameters[i][k];
            }
        }
        const Answer together = answer(
            {.train = {0, kSamples}, .test = {0, kSamples}, .loss = loss, .batch = kSamples});
        compare("the loss", together.trained.losses[0], sum / kSamples);
        REQUIRE(together.trained.parameters.size() == weights.size());
        for (std::size_t i = 0; i < weights.size(); ++i)
            for (std::size_t k = 0; k < weights[i].size(); ++k)
                compare(fmt::format("{}[{}]", together.plan.parameters[i].name, k),
                        together.trained.parameters[i][k], weights[i][k] / kSamples);
    }
}

TEST_CASE("sequences know nothing of ranks and batches") {
    constexpr std::int64_t kSamples = 6;
    struct Cut {
        std::int64_t batch;
        int ranks, accumulation;
    };
    const auto trained = [](const Cut& cut) {
        return answer({.train = {0, kSamples},
                       .test = {6, 7},
                       .batch = cut.batch,
                       .ranks = cut.ranks,
                       .accumulation = cut.accumulation});
    };
    const Answer one = trained({6, 1, 1});
    for (const Cut& cut : {Cut{3, 1, 2}, Cut{3, 2, 1}, Cut{2, 3, 1}, Cut{1, 3, 2}}) {
        CAPTURE(cut.ranks);
        CAPTURE(cut.accumulation);
        const Answer other = trained(cut);
        compare("the loss", other.trained.losses[0], one.trained.losses[0]);
        REQUIRE(other.trained.test.values.size() == one.trained.test.values.size());
        for (std::size_t i = 0; i < one.trained.test.values.size(); ++i)
            compare(fmt::format("value {} of the test", i), other.trained.test.values[i].number(),
                    one.trained.test.values[i].number());
        for (const plan::Parameter& parameter : one.plan.parameters) {
            if (parameter.kind == plan::ParameterKind::gradient_sum) continue;
            const Numbers &a = one.trained.of(one.plan, parameter.name),
                          &b = other.trained.of(other.plan, parameter.name);
            REQUIRE(a.size() == b.size());
            for (std::size_t i = 0; i < a.size(); ++i)
                compare(fmt::format("{}[{}]", parameter.name, i), b[i], a[i]);
        }
    }
}

TEST_CASE("predictions of such a network are of its steps, as those of any") {
    const DataFolder folder;
    const Form form{.train = {0, 6}, .test = {6, 5}, .batch = 4};
    write_samples(folder / "data.npz", form.train, form.test);
    const plan::Plan plan = plan_of(form, folder / "data.npz");
    runtime::Session session(plan, 1, runtime::open_source(plan.dataset));
    std::int64_t told = 0;
    runtime::predict(
        session, runtime::Split::test, Integers{0, 1, 2, 3, 4},
        [&](const runtime::PredictedBatch& batch) {
            told += batch.samples;
            REQUIRE(std::int64_t(batch.lengths.size()) == batch.samples);
            REQUIRE(std::int64_t(batch.predictions.size()) == batch.samples * kSteps * kClasses);
            for (std::int64_t n = 0; n < batch.samples; ++n) {
                const std::int64_t length = Signs(6 + batch.first + n).length;
                CHECK(batch.lengths[std::size_t(n)] == length);
                for (std::int64_t t = 0; t < kSteps; ++t) {
                    double sum = 0;
                    for (std::int64_t c = 0; c < kClasses; ++c)
                        sum += batch.predictions[std::size_t((n * kSteps + t) * kClasses + c)];
                    CHECK(sum == doctest::Approx(t < length ? 1 : 0));
                }
            }
        });
    CHECK(told == 5);
}

}  // namespace label_sequences_test
