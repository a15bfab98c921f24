#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/folders.hpp"
#include "base/json.hpp"
#include "runtime/base/checksum.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/checkpoint/run_checkpoints.hpp"
#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/checkpoint/training_identity.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/exec/number_check.hpp"
#include "runtime/train/initialize.hpp"
#include "runtime/train/loop.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/file_text.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"
#include "tests/unit/runtime/resumed_run.hpp"

namespace dtnn::runtime::resume_test {

TEST_CASE("a run that is stopped after any step goes on to the same bits") {
    const Unstopped guard;
    const plan::Plan plan = resumed_plan();
    std::vector<std::byte> weights;
    Recorder whole;
    {
        const TemporaryFolder folder;
        Run run(plan, folder.path());
        run.train(whole);
        weights = run.weights();
    }
    REQUIRE(whole.steps == 24);
    // The plateau has cut the rate, so its state matters.
    CHECK(whole.epochs[3].learning_rate < 0.1);
    for (std::int64_t stop = 1; stop <= 24; ++stop) {
        CAPTURE(stop);
        const TemporaryFolder folder;
        Recorder first(stop), second;
        {
            Run run(plan, folder.path());
            const TrainingResult result = run.train(first);
            CHECK(result.interrupted);
            CHECK(result.step == stop);
        }
        request_stop(0);
        Run run(plan, folder.path());
        const std::optional<Checkpoint> checkpoint = run.load();
        REQUIRE(checkpoint.has_value());
        CHECK(checkpoint->state.step == stop);
        CHECK(checkpoint->history_bytes == 17);
        const TrainingResult result = run.train(second, &checkpoint->state);
        CHECK_FALSE(result.interrupted);
        CHECK(result.step == 24);
        CHECK(result.epoch == 4);
        CHECK(first.steps + second.steps == 24);
        CHECK(run.weights() == weights);
        first.epochs.insert(first.epochs.end(), second.epochs.begin(), second.epochs.end());
        REQUIRE(first.epochs.size() == 4);
        for (std::size_t i = 0; i < 4; ++i) {
            const EpochResult &ours = first.epochs[i], &theirs = whole.epochs[i];
            CHECK(ours.epoch == theirs.epoch);
            CHECK(ours.step == theirs.step);
            CHECK(ours.learning_rate == theirs.learning_rate);
            CHECK(ours.train.loss() == theirs.train.loss());
            CHECK(ours.train.samples == theirs.train.samples);
            CHECK(ours.train.values[1].number() == theirs.train.values[1].number());
            CHECK(ours.validation.loss() == theirs.validation.loss());
        }
    }
}

TEST_CASE("checkpoints come when the rule says so, and the last ones are kept") {
    const Unstopped guard;
    const auto names = [](std::int64_t steps, double seconds, std::int64_t epochs,
                          std::int64_t keep) {
        const TemporaryFolder folder;
        plan::Plan plan = hand_made_plan();
        plan.training.checkpoint = {steps, seconds, epochs, keep};
        Run run(plan, folder.path());
        Recorder recorder;
        run.train(recorder);
        return steps_in(folder);
    };
    using Names = std::vector<std::string>;
    CHECK(names(0, 0, 1, 2) == Names{"0000000018", "0000000024"});
    CHECK(names(0, 0, 2, 9) == Names{"0000000012", "0000000024"});
    CHECK(names(5, 0, 0, 9) == Names{"0000000005", "0000000010", "0000000015", "0000000020"});
    CHECK(names(6, 0, 0, 9) == Names{"0000000006", "0000000012", "0000000018", "0000000024"});
    CHECK(names(0, 1e-9, 0, 3) == Names{"0000000022", "0000000023", "0000000024"});
    CHECK(names(0, 0, 0, 3).empty());
}

TEST_CASE("latest names the newest checkpoint") {
    const Unstopped guard;
    const TemporaryFolder folder;
    train_whole(folder);
    CHECK(file_text(folder / "checkpoints/latest") == "0000000024\n");
}

TEST_CASE("a damaged checkpoint is noticed whatever the byte, and the one before it serves") {
    const Unstopped guard;
    for (const char* file : {"state.json", "parameters.safetensors"}) {
        for (const std::size_t at : {0UL, 7UL, 30UL, 200UL, 333UL, 5000UL}) {
            CAPTURE(file);
            CAPTURE(at);
            const TemporaryFolder folder;
            train_whole(folder);
            flip_byte(folder / ("checkpoints/0000000024/" + std::string(file)), at);
            Run run(hand_made_plan(), folder.path());
            const auto checkpoint = run.load();
            REQUIRE(checkpoint.has_value());
            CHECK(checkpoint->state.step == 18);
            REQUIRE(run.warnings.size() == 1);
            CHECK(run.warnings[0].find("0000000024 is damaged") != std::string::npos);
            CHECK(run.warnings[0].find("step 18") != std::string::npos);
            // It no longer counts as one of those that are kept.
            CHECK(steps_in(folder) == std::vector<std::string>{"0000000018", "damaged-0000000024"});
        }
    }
}

TEST_CASE("a state that is nested deep is damage like any other, and the one before it serves") {
    const Unstopped guard;
    const TemporaryFolder folder;
    train_whole(folder);
    const std::string state = folder / "checkpoints/0000000024/state.json";
    const std::string content = std::string(60'000, '[') + std::string(60'000, ']');
    const std::string digits = checksum_text(content);
    for (const std::string& text :
         {std::string(60'000, '['), "{\"checksum\": \"x\", \"content\":\n" + content + "}\n",
          "{\"checksum\": \"" + digits + "\", \"content\":\n" + content + "}\n"}) {
        write_text(state, text);
        Run run(hand_made_plan(), folder.path());
        const auto checkpoint = run.load();
        REQUIRE(checkpoint.has_value());
        CHECK(checkpoint->state.step == 18);
        CHECK(run.warnings.size() == 1);
        fs::rename(folder / "checkpoints/damaged-0000000024", folder / "checkpoints/0000000024");
    }
}

TEST_CASE(
    "a state with a count that no training comes to is damage, and the one before it serves") {
    const Unstopped guard;
    for (const char* count :
         {"epoch", "batch", "step", "update", "batch_size", "history_bytes", "threads", "ranks"}) {
        CAPTURE(count);
        const TemporaryFolder folder;
        train_whole(folder);
        const std::string state = folder / "checkpoints/0000000024/state.json";
        Json content = parse_json(file_text(state))["content"];
        content[count] = std::numeric_limits<std::int64_t>::max();
        const std::string text = write_json(content);
        write_text(state,
                   "{\"checksum\": \"" + checksum_text(text) + "\", \"content\":\n" + text + "}\n");
        Run run(hand_made_plan(), folder.path());
        const auto checkpoint = run.load();
        REQUIRE(checkpoint.has_value());
        CHECK(checkpoint->state.step == 18);
        REQUIRE(run.warnings.size() == 1);
        CHECK(run.warnings[0].find("9223372036854775807 is not from") != std::string::npos);
    }
}

TEST_CASE("a checkpoint without a file, or cut short, is damaged; when all are, that is said") {
    const Unstopped guard;
    const TemporaryFolder folder;
    train_whole(folder, 3);
    fs::remove(folder / "checkpoints/0000000024/state.json");
    fs::resize_file(folder / "checkpoints/0000000018/parameters.safetensors", 700);
    {
        Run run(hand_made_plan(), folder.path());
        const auto checkpoint = run.load();
        REQUIRE(checkpoint.has_value());
        CHECK(checkpoint->state.step == 12);
        CHECK(run.warnings.size() == 2);
    }
    write_text(folder / "checkpoints/0000000012/state.json", "");
    Run run(hand_made_plan(), folder.path());
    // However often it is tried, nothing is begun from the start.
    for (int attempt = 0; attempt < 2; ++attempt)
        expect_error(Exit::mismatch, {"0000000012 is damaged", "help:"}, [&] { run.load(); });
    CHECK(steps_in(folder) ==
          std::vector<std::string>{"0000000012", "damaged-0000000018", "damaged-0000000024"});
    fs::remove_all(folder / "checkpoints/0000000012");
    expect_error(Exit::mismatch, {"damaged checkpoints only", "help:"}, [&] { run.load(); });
    CHECK_FALSE(Run(hand_made_plan(), folder / "elsewhere").load().has_value());
}

TEST_CASE("what was killed between the two names of an exchange is put back") {
    const Unstopped guard;
    const TemporaryFolder folder;
    train_whole(folder);
    const std::string checkpoints = folder / "checkpoints";
    fs::rename(checkpoints + "/0000000024", checkpoints + "/.writing-0000000024.old");
    fs::create_directories(checkpoints + "/.writing-0000000024");
    // One that has been replaced already is not.
    fs::create_directories(checkpoints + "/.writing-0000000018.old");
    Run run(hand_made_plan(), folder.path());
    run.keeper.clean();
    CHECK(steps_in(folder) == std::vector<std::string>{"0000000018", "0000000024"});
    const auto checkpoint = run.load();
    REQUIRE(checkpoint.has_value());
    CHECK(checkpoint->state.step == 24);
    CHECK_FALSE(fs::exists(checkpoints + "/.writing-0000000024"));
    CHECK_FALSE(fs::exists(checkpoints + "/.writing-0000000018.old"));
}

TEST_CASE("a checkpoint of another plan, model or shape is refused with the difference") {
    const Unstopped guard;
    const TemporaryFolder folder;
    train_whole(folder);
    plan::Plan drawn_otherwise = hand_made_plan();
    ++drawn_otherwise.training.seed;
    Run other_plan(drawn_otherwise, folder.path(), "xxh3:2");
    expect_error(Exit::mismatch, {"of another plan", "xxh3:1", "xxh3:2", "--weights"},
                 [&] { other_plan.load(); });
    HandMade wish;
    wish.classes = 4;
    Run other_shape(hand_made_plan(wish), folder.path());
    const std::vector<std::byte> before = other_shape.weights();
    expect_error(Exit::mismatch,
                 {"dense_1.weights", "f32 [32,3] in the checkpoint", "f32 [32,4] in the plan"},
                 [&] { other_shape.load(); });
    CHECK(other_shape.weights() == before);
    plan::Plan renamed = hand_made_plan();
    renamed.model = "another";
    renamed.parameters[1].name = "dense_1.offset";
    Run other_model(renamed, folder.path());
    expect_error(Exit::mismatch,
                 {"softmax_regression", "another", "`dense_1.offset` is not in the checkpoint"},
                 [&] { other_model.load(); });
    // No checkpoint was called damaged for that.
    CHECK(steps_in(folder) == std::vector<std::string>{"0000000018", "0000000024"});
}

TEST_CASE("plans that share the work in another way go on from each other's checkpoints") {
    const Unstopped guard;
    const TemporaryFolder folder;
    train_whole(folder);
    plan::Plan shared = hand_made_plan();
    shared.name = "another";
    shared.parallel.reduction = plan::ReductionMode::blocking;
    shared.parallel.timeout_seconds = 7;
    shared.machine.name = "fast";
    shared.training.checkpoint.keep = 1;
    Run run(shared, folder.path(), "xxh3:2");
    const std::optional<Checkpoint> checkpoint = run.load();
    REQUIRE(checkpoint);
    CHECK(checkpoint->plan == "xxh3:1");
    CHECK(checkpoint->state.step == 24);
    CHECK(checkpoint->state.batch_size == shared.training.batch_size);
    const std::string identity = training_identity(shared);
    CHECK(identity == training_identity(hand_made_plan()));
    // Batches are compared with the ranks that share them, but where each moves weights of its own.
    shared.training.batch_size += 1;
    CHECK(identity == training_identity(shared));
    shared.parallel.data = true, shared.parallel.local_steps = 4;
    const std::string local = training_identity(shared);
    shared.training.batch_size += 1;
    CHECK(local != training_identity(shared));
    const std::vector<std::function<void(plan::Plan&)>> others = {
        [](plan::Plan& p) { p.training.learning_rate *= 2; },
        [](plan::Plan& p) { p.training.epochs += 1; },
        [](plan::Plan& p) {
            p.training.groups.push_back({"*", {{"frozen", true}}});
        },
        [](plan::Plan& p) { p.dataset.train_samples -= 1; },
        [](plan::Plan& p) { p.parallel.batch_statistics = plan::BatchStatistics::synchronised; },
        [](plan::Plan& p) { p.parallel.learning_rate_scaling = plan::RateScaling::linear; },
        [](plan::Plan& p) { p.parallel.compression = plan::Compression::bf16; },
        [](plan::Plan& p) { p.parallel.local_steps = 4; },
        [](plan::Plan& p) { p.target.dtype = DType::f64; },
        [](plan::Plan& p) { p.layers[0].attributes["units"] = std::int64_t{7}; },
        [](plan::Plan& p) { p.parameters[0].initializer.stream += 1; }};
    for (const auto& change : others) {
        plan::Plan other = hand_made_plan();
        change(other);
        CHECK(training_identity(other) != identity);
    }
}

TEST_CASE("a checkpoint that cannot be written ends the run and leaves the others whole") {
    const Unstopped guard;
    const TemporaryFolder folder;
    plan::Plan plan = hand_made_plan();
    plan.training.checkpoint = {1, 0, 0, 2};
    Run run(plan, folder.path());
    run.keeper.checkpoint({});
    // Writing fails in the middle of a file, as on a full disk.
    struct rlimit before {};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    for (const rlim_t bytes : {rlim_t{0}, rlim_t{64}, rlim_t{500}}) {
        CAPTURE(bytes);
        const struct rlimit small { bytes, before.rlim_max };
        REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
        Recorder recorder;
        expect_error(Exit::failed,
                     {"the checkpoint of step 1 cannot be written", "File too large",
                      "help:", "go on from the checkpoint of step 0"},
                     [&] { run.train(recorder); });
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK(recorder.steps == 1);
        CHECK(steps_in(folder) == std::vector<std::string>{"0000000000"});
        CHECK(run.load().has_value());
        CHECK(run.warnings.empty());
    }
    std::signal(SIGXFSZ, handler);
    // A file stands where the folder should be.
    fs::remove_all(folder / "checkpoints");
    write_text(folder / "checkpoints", "no folder");
    expect_error(Exit::failed, {"the checkpoint of step 0 cannot be written"},
                 [&] { run.keeper.checkpoint({}); });
}

TEST_CASE("a folder takes another's place at once, and what was half done is removed") {
    const TemporaryFolder folder;
    for (const char* text : {"old", "new"}) {
        create_folders(folder / "aside");
        write_text(folder / "aside/file", text);
        CHECK(put_folder(folder / "aside", folder / "place") == 0);
        CHECK(file_text(folder / "place/file") == text);
    }
    CHECK(names_in(folder.path()) == std::vector<std::string>{"place"});
    create_folders(folder / "checkpoints/.writing-0000000009");
    Run run(hand_made_plan(), folder.path());
    run.keeper.clean();
    CHECK(names_in(folder / "checkpoints").empty());
}

TEST_CASE("early stopping takes back the weights of the best epoch, after a resume too") {
    const Unstopped guard;
    HandMade wish;
    wish.learning_rate = 0.02;
    plan::Plan plan = hand_made_plan(wish);
    // Maximizing a loss that falls: the first epoch is the best.
    plan.training.schedules = {early_stopping(2, "maximize")};
    plan.training.checkpoint = {0, 0, 1, 9};
    wish.epochs = 1;
    const plan::Plan first_epoch = hand_made_plan(wish);
    std::vector<std::byte> best;
    {
        const TemporaryFolder folder;
        Run run(first_epoch, folder.path());
        Recorder recorder;
        run.train(recorder);
        best = run.weights();
    }
    const TemporaryFolder folder;
    {
        Run run(plan, folder.path());
        Recorder recorder;
        const TrainingResult result = run.train(recorder);
        CHECK(result.epoch == 3);
        CHECK(result.stop.find("early_stopping") != std::string::npos);
        REQUIRE(result.restored.has_value());
        CHECK(result.restored->epoch == 1);
        CHECK(run.weights() == best);
        CHECK(names_in(folder / "best/early_stopping") ==
              std::vector<std::string>{"epoch_1.safetensors"});
    }
    // The checkpoint of the end knows that it was the end.
    Run again(plan, folder.path());
    const auto checkpoint = again.load();
    REQUIRE(checkpoint.has_value());
    CHECK(again.weights() != best);
    Recorder recorder;
    const TrainingResult result = again.train(recorder, &checkpoint->state);
    CHECK(recorder.steps == 0);
    CHECK(result.epoch == 3);
    CHECK_FALSE(result.stop.empty());
    CHECK(again.weights() == best);
    // Weights that were changed are not taken back; those of the end stay.
    const std::string path = folder / "best/early_stopping/epoch_1.safetensors";
    flip_byte(path, fs::file_size(path) - 3);
    const TrainingResult lost = again.train(recorder, &checkpoint->state);
    CHECK_FALSE(lost.restored.has_value());
    REQUIRE(lost.not_restored.has_value());
    expect_error(Exit::failed, {"epoch_1.safetensors", "not the bytes that were written"},
                 [&] { throw RunError(*lost.not_restored); });
}

TEST_CASE("model_checkpoint keeps weights that can be loaded, and drops those that were better") {
    const Unstopped guard;
    HandMade wish;
    wish.learning_rate = 0.02;
    plan::Plan plan = hand_made_plan(wish);
    plan.training.schedules = {{"model_checkpoint",
                                {{"metric", std::string("loss")},
                                 {"direction", std::string("auto")},
                                 {"every_epochs", std::int64_t{1}},
                                 {"keep", std::int64_t{2}}}}};
    const TemporaryFolder folder;
    Run run(plan, folder.path());
    Recorder recorder;
    run.train(recorder);
    // The loss falls all the time, so the last two epochs are the best.
    CHECK(names_in(folder / "best/model_checkpoint") ==
          std::vector<std::string>{"epoch_3.safetensors", "epoch_4.safetensors"});
    Run other(plan, folder / "other");
    load_weights(other.session.executor(), folder / "best/model_checkpoint/epoch_4.safetensors");
    CHECK(other.weights() == run.weights());
    CHECK(read_safetensors(folder / "best/model_checkpoint/epoch_4.safetensors")
              .metadata.contains("loss"));
}

TEST_CASE("a training does not go on from where none can stand") {
    const Unstopped guard;
    const plan::Plan plan = hand_made_plan();
    Session session(plan, 1, made_up_source(plan.dataset));
    for (int wrong = 0; wrong < 4; ++wrong) {
        CAPTURE(wrong);
        TrainingState state;
        if (wrong == 0) state.batch = 7;
        if (wrong == 1) state.batch = -1;
        if (wrong == 2) state.epoch = 5;
        if (wrong == 3) state.sums.resize(3);
        TrainingRequest request;
        request.from = &state;
        Recorder recorder;
        expect_error(Exit::mismatch, {"plan", "help:"}, [&] { train(session, recorder, request); });
        CHECK(recorder.steps == 0);
    }
}

TEST_CASE("a file of lines is cut back to whole lines, and has one writer") {
    const TemporaryFolder folder;
    const std::string path = folder / "lines";
    write_text(path, "one\ntwo\nthr");
    {
        LineFile file(path, LineFile::Begin::as_it_is);
        expect_error(Exit::failed, {"another process writes", "lines", "help:"},
                     [&] { const LineFile second(path, LineFile::Begin::empty); });
        CHECK(file.bytes() == 11);
        file.cut(1000);
        CHECK(file.bytes() == 8);
        file.add("four");
        file.cut(6);
        CHECK(file.bytes() == 4);
        file.add("two again");
        file.close();
    }
    CHECK(file_text(path) == "one\ntwo again\n");
    LineFile empty(path);
    CHECK(empty.bytes() == 0);
}

}  // namespace dtnn::runtime::resume_test
