#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "runtime/data/pipeline.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime {
namespace {

/// Sample i has the pixels i, i + 1/16, ...; fails at one index.
class Counting final : public SampleSource {
  public:
    void load(Split, std::int64_t index, Sample& sample) const override {
        if (index == fails_at) {
            throw RunError(Exit::failed, "disk.idx: sample 11 cannot be read", "mend the disk");
        }
        if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        sample.set_shape(2, 2, 3);
        for (std::size_t i = 0; i < sample.pixels.size(); ++i)
            sample.pixels[i] = float(index) + float(i) / 16;
        ++loads;
        sample.labels.resize(label_count);
        for (std::size_t i = 0; i < sample.labels.size(); ++i)
            sample.labels[i] =
                index == odd_label_at ? 99 : std::int32_t((index + std::int64_t(i)) % 3);
    }
    std::int64_t size(Split) const override { return 1000; }
    std::uint64_t content_hash() const override { return 0; }
    std::int64_t resident_bytes() const override { return 0; }

    std::int64_t fails_at = -1;
    std::int64_t odd_label_at = -1;
    bool slow = false;
    std::size_t label_count = 1;
    mutable std::atomic<int> loads{0};
};

plan::Plan small_plan(plan::DType dtype = plan::DType::f32) {
    plan::Plan plan;
    plan.target.dtype = dtype;
    plan.training.batch_size = 4;
    plan.dataset.shape = {2, 2, 3};
    plan.dataset.classes = 3;
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
    plan.dataset.label_shape = {2, 3};
    source.label_count = 6;
    // Two batches of samples with their labels, and two samples of the worker's own.
    CHECK(Pipeline::staging_bytes(plan) == 2 * 4 * (12 * 4 + 6 * 4) + 2 * 12 * 4);
    Pipeline pipeline(source, plan, Arrangement({2, 2, 3}, {}));
    float pixels[48];
    std::int32_t labels[24];
    const std::vector<std::int64_t> order = counting(10);
    pipeline.start(Split::train, order, 4);
    std::int64_t next = 0;
    while (const std::int64_t samples = pipeline.wait()) {
        pipeline.take(pixels, labels);
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
            pipeline.take(pixels, labels);
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
    pipeline.take(pixels, nullptr);
    CHECK(pipeline.wait() == 0);
}

TEST_CASE("samples are stored in the plan's order and type") {
    Counting source;
    const std::vector<std::int64_t> order = {7};
    Pipeline pipeline(source, small_plan(plan::DType::f64), Arrangement({2, 2, 3}, {1, 2, 0}));
    pipeline.start(Split::train, order, 4);
    REQUIRE(pipeline.wait() == 1);
    double pixels[12];
    pipeline.take(pixels, nullptr);
    for (int c = 0; c < 2; ++c) {
        for (int y = 0; y < 2; ++y) {
            for (int x = 0; x < 3; ++x)
                CHECK(pixels[(y * 3 + x) * 2 + c] == 7 + (c * 6 + y * 3 + x) / 16.0);
        }
    }
}

TEST_CASE("no more than two batches are prepared ahead") {
    Counting source;
    Pipeline pipeline(source, small_plan(), Arrangement({2, 2, 3}, {}));
    const auto order = counting(100);
    pipeline.start(Split::train, order, 4);
    pipeline.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(source.loads == 8);
}

TEST_CASE("an error in the background ends the run where it happened, never in a hang") {
    Counting source;
    source.fails_at = 11;
    Pipeline pipeline(source, small_plan(), Arrangement({2, 2, 3}, {}));
    const auto order = counting(100);
    float pixels[48];
    pipeline.start(Split::train, order, 4);
    // Batches before the broken one are still good.
    REQUIRE(pipeline.wait() == 4);
    pipeline.take(pixels, nullptr);
    REQUIRE(pipeline.wait() == 4);
    pipeline.take(pixels, nullptr);
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
    Pipeline pipeline(source, small_plan(), Arrangement({2, 2, 3}, {}));
    const auto order = counting(10);
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

}  // namespace dtnn::runtime
