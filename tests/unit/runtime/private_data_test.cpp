/// Datasets of ranks: their files, how many samples they hold, and what of a plan follows.

#include "runtime/train/private_data.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <thread>

#include "tests/ranks/threads/in_process.hpp"
#include "tests/unit/runtime/archive_files.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"
#include "tests/unit/runtime/image_files.hpp"

namespace dtnn::runtime::private_data_test {
namespace {

std::string arrays(int train, int test) {
    const auto pixels = [](int count) { return std::string(std::size_t(count) * 4, '\7'); };
    const auto labels = [](int count) {
        std::vector<std::int64_t> values;
        for (int i = 0; i < count; ++i)
            values.push_back(i % 2);
        return bytes_of(values);
    };
    return zip({{"x_train.npy", npy("|u1", fmt::format("({}, 1, 2, 2)", train), pixels(train))},
                {"y_train.npy", npy("<i8", fmt::format("({},)", train), labels(train))},
                {"x_test.npy", npy("|u1", fmt::format("({}, 1, 2, 2)", test), pixels(test))},
                {"y_test.npy", npy("<i8", fmt::format("({},)", test), labels(test))}});
}

/// At most 40 training samples of 1x2x2 and two classes, 10 for the test; batches of 4.
plan::Plan plan_of(const char* type, const std::string& path) {
    plan::Plan plan;
    plan.parallel.data = true;
    plan.parallel.local_steps = 3;
    plan.parallel.private_data = true;
    plan.training.batch_size = 4;
    plan.dataset.name = "own";
    plan.dataset.type = type;
    plan.dataset.input().dims = plan.dataset.input().stored_dims = {1, 2, 2};
    plan.dataset.target().classes = 2;
    plan.dataset.train_samples = plan.dataset.source_train_samples = 40;
    plan.dataset.test_samples = 10;
    plan.dataset.attributes = {
        {"path", path}, {"cache", std::int64_t{1} << 20}, {"most_pixels", std::int64_t{1} << 20}};
    return plan;
}

}  // namespace

TEST_CASE("a rank opens its own files, of as many samples as they hold") {
    const TemporaryFolder folder;
    write_text(folder / "rank_0.npz", arrays(40, 10));
    write_text(folder / "rank_12.npz", arrays(21, 3));
    write_text(folder / "rank_3.npz", arrays(41, 3));
    const plan::Plan plan = plan_of("archive", folder / "rank_${rank}.npz");
    plan::Plan own = plan;
    CHECK(open_private_data(own, 0)->size(Split::train) == 40);
    own = plan;
    own.training.validation_split = 0.2;
    own.dataset.attributes["sample_percentage"] = 50.0;
    const std::unique_ptr<SampleSource> source = open_private_data(own, 12);
    CHECK(source->size(Split::train) == 21);
    CHECK(source->size(Split::test) == 3);
    CHECK(own.dataset.source_train_samples == 21);
    CHECK(own.dataset.validation_samples == 4);
    CHECK(own.dataset.train_samples == 8);  // half of 17
    CHECK(own.dataset.test_samples == 3);
    CHECK(own.dataset.attributes.at("path") == AttributeValue(std::string(folder / "rank_12.npz")));
    own = plan;
    expect_error(Exit::mismatch, {"41 training", "at most 40"}, [&] { open_private_data(own, 3); });
    own = plan;
    expect_error(Exit::failed, {"rank_7.npz"}, [&] { open_private_data(own, 7); });
    own = plan;
    own.training.batch_size = 22;
    expect_error(Exit::mismatch, {"rank 12 has 21 samples", "a batch of 22"},
                 [&] { open_private_data(own, 12); });
    // One that all share has just as many as the plan says.
    own = plan;
    own.dataset.attributes["path"] = folder / "rank_12.npz";
    expect_error(Exit::mismatch, {"21 training"}, [&] { open_source(own.dataset); });
}

TEST_CASE("a rank's images may be fewer, but of all classes") {
    const TemporaryFolder folder;
    for (const auto& [split, count] : {std::pair("train", 9), std::pair("test", 2)})
        for (int i = 0; i < count; ++i) {
            const std::string in = fmt::format("rank_1/{}/{}", split, i % 2 == 0 ? "cat" : "dog");
            std::filesystem::create_directories(folder / in);
            write_text(folder / (in + fmt::format("/{}.png", i)), plain_png(2, 2, 9));
        }
    plan::Plan own = plan_of("folder", folder / "rank_${rank}");
    const std::unique_ptr<SampleSource> source = open_private_data(own, 1);
    CHECK(own.dataset.train_samples == 9);
    CHECK(own.dataset.test_samples == 2);
    own = plan_of("folder", folder / "rank_${rank}");
    own.dataset.target().classes = 3;
    expect_error(Exit::mismatch, {"of 2 classes"}, [&] { open_private_data(own, 1); });
}

TEST_CASE("ranks tell each other how many samples they have") {
    const plan::Plan plan = plan_of("archive", "");
    const std::vector<std::int64_t> samples = {9, 40, 22};
    for (const auto& [participation, steps] :
         {std::pair(plan::Participation::all, 2), std::pair(plan::Participation::avail2all, 10)}) {
        std::vector<std::unique_ptr<Communicator>> all = make_in_process(3);
        std::vector<std::thread> threads;
        std::mutex mutex;
        for (int rank = 0; rank < 3; ++rank) {
            threads.emplace_back([&, rank, word = participation, wanted = steps] {
                plan::Plan own = plan;
                own.parallel.participation = word;
                own.dataset.train_samples = samples[std::size_t(rank)];
                const std::vector<std::int64_t> told =
                    share_sample_counts(own, *all[std::size_t(rank)]);
                const std::lock_guard lock(mutex);
                CHECK(told == samples);
                CHECK(own.training.steps_per_epoch == wanted);
                CHECK_FALSE(own.training.whole_epochs);
            });
        }
        for (std::thread& thread : threads)
            thread.join();
    }
}

}  // namespace dtnn::runtime::private_data_test
