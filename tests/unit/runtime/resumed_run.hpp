#pragma once
/// Trainings that are stopped and go on, in a folder of checkpoints.

#include <csignal>
#include <filesystem>

#include "base/folders.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/checkpoint/run_checkpoints.hpp"
#include "runtime/checkpoint/safetensors.hpp"
#include "runtime/checkpoint/training_identity.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/train/initialize.hpp"
#include "runtime/train/loop.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/file_text.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime {

namespace fs = std::filesystem;

/// Notes epochs, and asks for a stop after a step.
class Recorder final : public TrainingObserver {
  public:
    explicit Recorder(std::int64_t stop_after = -1) : stop_after_(stop_after) {}
    void step(const Progress& progress) override {
        ++steps;
        last_progress = progress.step;
        if (steps == stop_after_) request_stop(SIGTERM);
    }
    void epoch(const EpochResult& result) override { epochs.push_back(result); }
    void searching(const TrainingState& from, std::int64_t until) override {
        searched_from = from.step;
        searched_until = until;
    }

    std::int64_t steps = 0;
    std::int64_t last_progress = 0;
    std::int64_t searched_from = -1, searched_until = -1;
    std::vector<EpochResult> epochs;

  private:
    std::int64_t stop_after_;
};

struct Unstopped {
    Unstopped() { request_stop(0); }
    ~Unstopped() { request_stop(0); }
};

/// A session with its checkpoints in a folder.
struct Run {
    Run(plan::Plan the_plan, const std::string& folder, const std::string& checksum = "xxh3:1")
        : plan(std::move(the_plan)),
          session(plan, 1, made_up_source(plan.dataset)),
          keeper(folder, session.executor(), {checksum, "xxh3:d", 1},
                 [this] { return history_bytes; }) {}

    TrainingResult train(Recorder& recorder, const TrainingState* from = nullptr) {
        TrainingRequest request;
        request.from = from;
        request.keeper = &keeper;
        return runtime::train(session, recorder, request);
    }
    std::optional<Checkpoint> load() {
        return keeper.load_newest([this](const std::string& text) { warnings.push_back(text); });
    }
    std::vector<std::byte> weights() {
        const std::byte* memory = session.executor().parameter(0);
        const plan::Parameter& parameter = session.plan().parameters[0];
        return {memory, memory + element_count(parameter.dims) * size_of(parameter.dtype)};
    }

    plan::Plan plan;  ///< what the session is made of
    std::int64_t history_bytes = 17;
    std::vector<std::string> warnings;
    Session session;
    RunCheckpoints keeper;
};

inline plan::Component plateau() {
    return {"reduce_on_plateau",
            {{"metric", std::string("validation.loss")},
             {"factor", 0.5},
             {"patience", std::int64_t{0}},
             {"minimum", 0.0},
             {"direction", std::string("auto")},
             {"cooldown", std::int64_t{0}},
             {"threshold", 0.5}}};
}

inline plan::Component early_stopping(std::int64_t patience, const std::string& direction) {
    return {"early_stopping",
            {{"metric", std::string("loss")},
             {"patience", patience},
             {"direction", direction},
             {"threshold", 0.0},
             {"restore_best", true}}};
}

inline plan::Plan resumed_plan() {
    plan::Plan plan = hand_made_plan();
    plan.training.schedules = {
        {"cosine", {{"begin", std::int64_t{0}}, {"epochs", std::int64_t{0}}, {"minimum", 0.0}}},
        plateau()};
    return plan;
}

inline std::vector<std::string> steps_in(const TemporaryFolder& folder) {
    std::vector<std::string> names = names_in(folder / "checkpoints");
    std::erase(names, "latest");
    return names;
}

inline void flip_byte(const std::string& path, std::size_t at) {
    std::string text = file_text(path);
    text[at % text.size()] = char(text[at % text.size()] ^ 1);
    write_text(path, text);
}

/// A run of four epochs with a checkpoint after each; two are kept.
inline void train_whole(const TemporaryFolder& folder, std::int64_t keep = 2) {
    plan::Plan plan = hand_made_plan();
    plan.training.checkpoint = {0, 0, 1, keep};
    Run run(plan, folder.path());
    Recorder recorder;
    run.train(recorder);
}

}  // namespace dtnn::runtime
