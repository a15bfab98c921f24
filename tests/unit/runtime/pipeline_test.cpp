#include "runtime/data/pipeline.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::pipeline_test {
namespace {

/// Sample i has the pixels i, i + 1/16, ...; fails at one index.
class Counting final : public SampleSource {
  public:
    void load(Split, std::int64_t index, Sample& sample) const override {
        if (index == fails_at || (fails_from >= 0 && index >= fails_from)) {
            throw RunError(Exit::failed,
                           "disk.idx: sample " + std::to_string(index) + " cannot be read",
                           "mend the disk");
        }
        if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        sample.input().set_floats(std::array<std::int64_t, 3>{2, 2, 3});
        for (std::size_t i = 0; i < sample.input().floats.size(); ++i)
            sample.input().floats[i] = float(index) + float(i) / 16;
        ++loads;
        sample.target().integers.resize(label_count);
        for (std::size_t i = 0; i < sample.target().integers.size(); ++i)
            sample.target().integers[i] =
                index == odd_label_at ? 99 : std::int32_t((index + std::int64_t(i)) % 3);
        sample.target().doubles.resize(target_count);
        for (std::size_t i = 0; i < target_count; ++i)
            sample.target().doubles[i] = double(index) + double(i) * 0.1;
    }
    std::int64_t size(Split) const override { return 1000; }
    std::uint64_t content_hash() const override { return 0; }
    std::int64_t resident_bytes() const override { return 0; }

    std::int64_t fails_at = -1;
    std::int64_t fails_from = -1;
    std::int64_t odd_label_at = -1;
    bool slow = false;
    std::size_t label_count = 1;
    std::size_t target_count = 0;
    mutable std::atomic<int> loads{0};
};

plan::Plan small_plan(DType dtype = DType::f32) {
    plan::Plan plan;
    plan.target.dtype = dtype;
    plan.training.batch_size = 4;
    plan.dataset.input().dims = {2, 2, 3};
    plan.dataset.target().classes = 3;
    return plan;
}

std::vector<std::int64_t> counting(std::int64_t count) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    return order;
}

}  // namespace

TEST_CASE("a class for every pixel comes with every sample") {
    Counting source;
    plan::Plan plan = small_plan();
    plan.dataset.target().dims = {2, 3};
    source.label_count = 6;
    // Two batches of samples with their labels, and two samples of the worker's own with theirs.
    CHECK(Pipeline::staging_bytes(plan) ==
          2 * 4 * (12 * 4 + 6 * 4) + 2 * (12 * 4 + 6 * 4) + plan::kWorkerBytes);
    Pipeline pipeline(source, plan, Arrangement({2, 2, 3}, {}));
    float pixels[48];
    std::int32_t labels[24];
    const std::vector<std::int64_t> order = counting(10);
    pipeline.start(Split::train, order, 4);
    std::int64_t next = 0;
    while (const std::int64_t samples = pipeline.wait()) {
        pipeline.take({{pixels}, labels, true});
        for (std::int64_t i = 0; i < samples; ++i, ++next)
            for (std::int64_t p = 0; p < 6; ++p)
                CHECK(labels[i * 6 + p] == (next + p) % 3);
    }
    CHECK(next == 10);
}

TEST_CASE("batches come in order, complete, the last one smaller") {
    Counting source;
    Pipeline pipeline(source, small_plan(), Arrangement({2, 2, 3}, {}));
    const std::vector<std::int64_t> order = {5, 3, 9, 0, 7, 1, 2, 8, 4, 6};
    float pixels[48];
    std::int32_t labels[4];
    for (int pass = 0; pass < 3; ++pass) {
        pipeline.start(Split::train, order, 4);
        std::size_t next = 0;
        for (const std::int64_t expected : {4, 4, 2}) {
            REQUIRE(pipeline.wait() == expected);
            pipeline.take({{pixels}, labels, true});
            for (std::int64_t i = 0; i < expected; ++i, ++next) {
                CHECK(labels[i] == order[next] % 3);
                CHECK(pixels[i * 12 + 5] == float(order[next]) + 5.0f / 16);
            }
        }
        CHECK(pipeline.wait() == 0);
        CHECK(pipeline.wait() == 0);
    }
    pipeline.start(Split::train, order, 4, 1);
    REQUIRE(pipeline.wait() == 4);
    pipeline.take({{pixels}});
    CHECK(pipeline.wait() == 0);
}

TEST_CASE("samples are stored in the plan's order and type") {
    Counting source;
    const std::vector<std::int64_t> order = {7};
    Pipeline pipeline(source, small_plan(DType::f64), Arrangement({2, 2, 3}, {1, 2, 0}));
    pipeline.start(Split::train, order, 4);
    REQUIRE(pipeline.wait() == 1);
    double pixels[12];
    pipeline.take({{pixels}});
    for (int c = 0; c < 2; ++c) {
        for (int y = 0; y < 2; ++y) {
            for (int x = 0; x < 3; ++x)
                CHECK(pixels[(y * 3 + x) * 2 + c] == 7 + (c * 6 + y * 3 + x) / 16.0);
        }
    }
}

TEST_CASE("no more than two batches are prepared ahead") {
    Counting source;
    const auto order = counting(100);
    Pipeline pipeline(source, small_plan(), Arrangement({2, 2, 3}, {}));
    pipeline.start(Split::train, order, 4);
    pipeline.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(source.loads == 8);
}

TEST_CASE("an error in the background ends the run where it happened, never in a hang") {
    Counting source;
    source.fails_at = 11;
    const auto order = counting(100);
    Pipeline pipeline(source, small_plan(), Arrangement({2, 2, 3}, {}));
    float pixels[48];
    pipeline.start(Split::train, order, 4);
    // Batches before the broken one are still good.
    REQUIRE(pipeline.wait() == 4);
    pipeline.take({{pixels}});
    REQUIRE(pipeline.wait() == 4);
    pipeline.take({{pixels}});
    expect_error(Exit::failed, {"disk.idx", "mend the disk"}, [&] { pipeline.wait(); });
    expect_error(Exit::failed, {"disk.idx"}, [&] { pipeline.wait(); });
    // A new pass starts afresh.
    source.fails_at = -1;
    pipeline.start(Split::train, order, 4);
    CHECK(pipeline.wait() == 4);
}

TEST_CASE("a class out of range is an error, not a write beside the labels") {
    Counting source;
    source.odd_label_at = 2;
    const auto order = counting(10);
    Pipeline pipeline(source, small_plan(), Arrangement({2, 2, 3}, {}));
    pipeline.start(Split::train, order, 4);
    expect_error(Exit::failed, {"sample 2", "class 99", "3 classes"}, [&] { pipeline.wait(); });
}

TEST_CASE("a pipeline can be left in the middle") {
    Counting source;
    source.slow = true;
    const auto order = counting(1000);
    for (int round = 0; round < 5; ++round) {
        Pipeline pipeline(source, small_plan(), Arrangement({2, 2, 3}, {}));
        if (round > 0) pipeline.start(Split::train, order, 4);
        if (round > 1) pipeline.wait();
        if (round > 2) pipeline.start(Split::train, order, 4);
        if (round > 3) pipeline.stop();
    }
    CHECK(source.loads < 200);
}

TEST_CASE("batches are the same bits for any number of workers") {
    Counting source;
    plan::Plan plan = small_plan();
    plan.training.batch_size = 32;
    plan.dataset.augmentations = {
        {"flip", {{"probability", 0.5}}},
        {"random_crop", {{"padding", std::vector<std::int64_t>{2, 2}}, {"fill", 0.0}}},
        {"mixup", {{"alpha", 0.4}}}};
    plan.dataset.transforms = {
        {"normalize",
         {{"mean", std::vector<double>{0.5, 1}}, {"deviation", std::vector<double>{0.25, 3}}}}};
    // 1000 samples, some of them twice: 33 batches and a tail.
    std::vector<std::int64_t> order = counting(1070);
    std::reverse(order.begin(), order.end());
    const auto batches = [&](int workers, std::int64_t first, bool labelled) {
        plan.target.data_workers = workers;
        Pipeline pipeline(source, plan, Arrangement({2, 2, 3}, {1, 2, 0}));
        pipeline.start({.order = order, .batch = 32, .first_batch = first, .epoch = 3});
        std::vector<std::vector<float>> result;
        while (const std::int64_t samples = pipeline.wait()) {
            std::vector<float> values(32 * 12 + 32 * 3);
            std::vector<std::int32_t> labels(32);
            if (labelled)
                pipeline.take({{values.data()}, labels.data(), true});
            else
                pipeline.take({{values.data()}, values.data() + 32 * 12});
            for (const std::int32_t label : labels)
                values.push_back(float(label));
            values.push_back(float(samples));
            result.push_back(values);
        }
        return result;
    };
    for (const bool labelled : {false, true}) {
        const auto one = batches(1, 0, labelled);
        CHECK(one.size() == 34);
        CHECK(one.back().back() == 1070 - 33 * 32);
        for (const int workers : {2, 3, 4, 7})
            CHECK(batches(workers, 0, labelled) == one);
        // A pass that begins later gives what is left of the whole one.
        for (const std::int64_t first : {1, 17, 33, 34}) {
            CHECK(batches(2, first, labelled) ==
                  std::vector<std::vector<float>>(one.begin() + first, one.end()));
        }
    }
}

TEST_CASE("a sample that comes twice in an epoch is augmented anew, in another epoch too") {
    Counting source;
    plan::Plan plan = small_plan();
    plan.dataset.augmentations = {
        {"random_crop", {{"padding", std::vector<std::int64_t>{1, 2}}, {"fill", 0.0}}}};
    std::vector<std::int64_t> order;
    for (std::int64_t occurrence = 0; occurrence < 16; ++occurrence)
        order.push_back(5 + occurrence * 1000);
    Pipeline pipeline(source, plan, Arrangement({2, 2, 3}, {}));
    const auto pass = [&](std::optional<std::int64_t> epoch) {
        std::vector<std::vector<float>> samples;
        pipeline.start({.order = order, .batch = 4, .epoch = epoch});
        float pixels[48];
        while (pipeline.wait() > 0) {
            pipeline.take({{pixels}});
            for (int i = 0; i < 4; ++i)
                samples.emplace_back(pixels + i * 12, pixels + i * 12 + 12);
        }
        return samples;
    };
    const auto first = pass(0), second = pass(1), plain = pass(std::nullopt);
    CHECK(pass(0) == first);
    CHECK(first != second);
    CHECK(std::set<std::vector<float>>(first.begin(), first.end()).size() > 5);
    // Evaluation sees samples as they are: PyDTNN augmented ImageNet's validation too.
    CHECK(std::set<std::vector<float>>(plain.begin(), plain.end()).size() == 1);
    CHECK(plain[0][5] == 5 + 5.0f / 16);
}

TEST_CASE("normalize is applied last, in the plan's type, and to evaluation as well") {
    Counting source;
    plan::Plan plan = small_plan(DType::f64);
    plan.dataset.transforms = {
        {"normalize",
         {{"mean", std::vector<double>{0.1, 0.2}}, {"deviation", std::vector<double>{0.3, 0.7}}}}};
    plan.dataset.augmentations = {
        {"random_crop", {{"padding", std::vector<std::int64_t>{50, 50}}, {"fill", 0.0}}}};
    const std::vector<std::int64_t> order = {7};
    Pipeline pipeline(source, plan, Arrangement({2, 2, 3}, {}));
    double pixels[12];
    pipeline.start({.split = Split::test, .order = order, .batch = 4});
    REQUIRE(pipeline.wait() == 1);
    pipeline.take({{pixels}});
    CHECK(pixels[4] == (7.25 - 0.1) / 0.3);
    CHECK(pixels[8] == (7.5 - 0.2) / 0.7);
    // The cells that a crop fills are black, and normalized like any other pixel.
    int filled = 0;
    for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
        pipeline.start({.order = order, .batch = 4, .epoch = epoch});
        REQUIRE(pipeline.wait() == 1);
        pipeline.take({{pixels}});
        filled += pixels[0] == (0 - 0.1) / 0.3 && pixels[6] == (0 - 0.2) / 0.7;
    }
    CHECK(filled > 10);
}

TEST_CASE("mixed batches have the labels' rows mixed as their samples are") {
    Counting source;
    plan::Plan plan = small_plan();
    plan.dataset.augmentations = {{"mixup", {{"alpha", 1.0}}}};
    CHECK(Pipeline::staging_bytes(plan) ==
          (2 * 4 + 1) * (12 * 4 + 4 + 3 * 4) + 2 * 12 * 4 + plan::kWorkerBytes);
    const std::vector<std::int64_t> order = {0, 4, 2, 1};
    Pipeline pipeline(source, plan, Arrangement({2, 2, 3}, {}));
    float pixels[48], targets[12];
    pipeline.start({.order = order, .batch = 4, .epoch = 0});
    REQUIRE(pipeline.wait() == 4);
    pipeline.take({{pixels}, targets});
    // The first sample is share * 0 + (1 - share) * 4, its classes 0 and 1.
    const float share = 1 - (pixels[0] / 4), other = pixels[24] - 1;
    CHECK(share > 0);
    CHECK(share < 1);
    CHECK(share != other);
    CHECK(pixels[12] == doctest::Approx(share * 4));
    CHECK(pixels[36] == doctest::Approx(other * 1 + (1 - other) * 2));
    const std::vector<float> expected = {share, 1 - share, 0,     1 - share, share, 0,
                                         0,     1 - other, other, 0,         other, 1 - other};
    for (int i = 0; i < 12; ++i)
        CHECK(targets[i] == doctest::Approx(expected[std::size_t(i)]));
    // Evaluation is not mixed.
    pipeline.start({.order = order, .batch = 4});
    REQUIRE(pipeline.wait() == 4);
    pipeline.take({{pixels}, targets});
    CHECK(pixels[36] == 1);
    CHECK(targets[10] == 1);
}

TEST_CASE("a sample is mixed alike however the order is cut into batches and ranks") {
    Counting source;
    plan::Plan plan = small_plan(DType::f64);
    plan.training.batch_size = 12;
    plan.dataset.augmentations = {{"flip", {{"probability", 0.5}}}, {"mixup", {{"alpha", 0.7}}}};
    const std::vector<std::int64_t> order = counting(41);
    const auto samples_of = [&](std::int64_t batch, int ranks, int workers) {
        plan.target.data_workers = workers;
        std::vector<std::vector<double>> samples(order.size());
        for (int rank = 0; rank < ranks; ++rank) {
            Pipeline pipeline(source, plan, Arrangement({2, 2, 3}, {}));
            pipeline.start(
                {.order = order, .batch = batch, .epoch = 2, .rank = rank, .ranks = ranks});
            std::int64_t place = rank * batch;
            while (const std::int64_t count = pipeline.wait()) {
                std::vector<double> pixels(12 * 12), targets(12 * 3);
                pipeline.take({{pixels.data()}, targets.data()});
                for (std::int64_t i = 0; i < count; ++i) {
                    std::vector<double>& sample = samples[std::size_t(place + i)];
                    sample.assign(pixels.begin() + i * 12, pixels.begin() + (i + 1) * 12);
                    sample.insert(sample.end(), targets.begin() + i * 3,
                                  targets.begin() + (i + 1) * 3);
                }
                place += ranks * batch;
            }
        }
        return samples;
    };
    const auto whole = samples_of(12, 1, 1);
    // The last of an odd number has no partner.
    CHECK(whole.back()[12 + 40 % 3] == 1);
    CHECK(whole[39][12 + 39 % 3] < 1);
    for (const std::int64_t batch : {1, 4, 5, 7})
        for (const int ranks : {1, 2, 3})
            CHECK(samples_of(batch, ranks, ranks) == whole);
}

TEST_CASE(
    "with several workers the first sample that fails is told of, after what came before it") {
    Counting source;
    source.slow = true;
    source.fails_at = 11;
    source.fails_from = 11;
    plan::Plan plan = small_plan();
    plan.training.batch_size = 16;
    plan.target.data_workers = 4;
    const auto order = counting(200);
    std::vector<float> pixels(16 * 12);
    for (int round = 0; round < 5; ++round) {
        Pipeline pipeline(source, plan, Arrangement({2, 2, 3}, {}));
        pipeline.start({.order = order, .batch = 5});
        for (int batch = 0; batch < 2; ++batch) {
            REQUIRE(pipeline.wait() == 5);
            pipeline.take({{pixels.data()}});
        }
        expect_error(Exit::failed, {"sample 11"}, [&] { pipeline.wait(); });
        expect_error(Exit::failed, {"sample 11"}, [&] { pipeline.wait(); });
    }
}

TEST_CASE("what a transform cannot work on is told of with the sample's name") {
    Counting source;
    plan::Plan plan = small_plan();
    plan.dataset.transforms = {{"centre_crop", {{"size", std::vector<std::int64_t>{9, 9}}}}};
    const auto order = counting(4);
    Pipeline cropped(source, plan, Arrangement({2, 2, 3}, {}));
    cropped.start({.split = Split::test, .order = order, .batch = 4});
    expect_error(Exit::failed, {"test sample 0 is 2x2x3", "resize"}, [&] { cropped.wait(); });
    // Images of several sizes, and nothing that makes them one.
    plan.dataset.transforms = {};
    plan.dataset.input().dims = {2, 3, 3};
    Pipeline uneven(source, plan, Arrangement({2, 3, 3}, {}));
    uneven.start({.order = order, .batch = 4});
    expect_error(Exit::failed, {"train sample 0 is 2x2x3", "2x3x3", "resize"},
                 [&] { uneven.wait(); });
}

TEST_CASE("targets come in the plan's type") {
    Counting source;
    source.label_count = 0;
    source.target_count = 3;
    plan::Plan plan = small_plan(DType::f64);
    plan.dataset.target().kind = plan::LabelKind::values;
    const auto order = counting(5);
    Pipeline pipeline(source, plan, Arrangement({2, 2, 3}, {}));
    pipeline.start({.order = order, .batch = 4});
    double targets[12];
    REQUIRE(pipeline.wait() == 4);
    pipeline.take({{}, targets});
    for (int i = 0; i < 12; ++i) {
        const int sample = i / 3;
        CHECK(targets[i] == sample + (i % 3) * 0.1);
    }
    source.target_count = 2;
    pipeline.start({.order = order, .batch = 4});
    expect_error(Exit::failed, {"2 labels", "takes 3"}, [&] { pipeline.wait(); });
}

}  // namespace dtnn::runtime::pipeline_test
