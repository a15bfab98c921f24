#include "tools/dtnn_run/more_epochs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/folders.hpp"
#include "base/text.hpp"
#include "plan/json/json.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/training_identity.hpp"
#include "runtime/report/history_reader.hpp"
#include "runtime/report/run_folder.hpp"
#include "runtime/train/learning_rates.hpp"
#include "runtime/train/schedules.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

namespace {

constexpr const char* kEndedFolder = "/ended";
constexpr std::string_view kEndedBegin = "epoch_", kEndedEnd = ".json";
/// As a spec may have.
constexpr std::int64_t kMostEpochs = 1'000'000;

std::optional<std::int64_t> number_in(std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

/// How far the run has come.
struct Done {
    bool finished = false;
    std::int64_t epochs = 0;
};

Done done_by(const std::string& folder) {
    const RunFolder run(folder);
    std::error_code ignored;
    if (!std::filesystem::exists(run.history(), ignored)) return {};
    const RunHistory history = read_history(run.history());
    return {history.ending == RunState::finished,
            history.epochs.empty() ? 0 : history.epochs.back().epoch};
}

/// The resolved document with another number of epochs, and where that comes from.
std::string with_epochs(const std::string& document, std::int64_t epochs,
                        const std::string& origin) {
    constexpr std::string_view kSection = "\ntraining:", kField = "\n  epochs:";
    constexpr std::size_t kCommentColumn = 40;
    const std::size_t section = document.find(kSection);
    if (section == std::string::npos) return document;
    const std::size_t begin = document.find(kField, section);
    if (begin == std::string::npos) return document;
    const std::size_t end = std::min(document.find('\n', begin + 1), document.size());
    std::string line = fmt::format("  epochs: {}", epochs);
    line.resize(std::max(line.size() + 1, kCommentColumn), ' ');
    return document.substr(0, begin + 1) + line + "# " + origin + document.substr(end);
}

}  // namespace

std::vector<EndedTraining> ended_trainings(const Options& options) {
    const RunFolder run(options.resume);
    const std::string folder = run.path() + kEndedFolder;
    std::vector<EndedTraining> all;
    for (const std::string& name : names_in(folder)) {
        if (!name.starts_with(kEndedBegin) || !name.ends_with(kEndedEnd)) continue;
        const auto epoch = number_in(std::string_view(name).substr(
            kEndedBegin.size(), name.size() - kEndedBegin.size() - kEndedEnd.size()));
        if (epoch) all.push_back({*epoch, read_plan_file(folder + "/" + name)});
    }
    if (const Done done = done_by(run.path()); !options.epochs.empty() && done.finished) {
        const bool kept = std::any_of(all.begin(), all.end(), [&](const EndedTraining& one) {
            return one.epoch == done.epochs;
        });
        if (!kept) all.push_back({done.epochs, read_plan_file(run.plan())});
    }
    std::sort(all.begin(), all.end(),
              [](const EndedTraining& a, const EndedTraining& b) { return a.epoch < b.epoch; });
    return all;
}

void take_data(EndedTraining& ended, const plan::Plan& opened) {
    if (!opened.parallel.private_data) return;
    plan::Plan& plan = ended.loaded.plan;
    plan.dataset = opened.dataset;
    plan.training.steps_per_epoch = opened.training.steps_per_epoch;
    plan.training.whole_epochs = opened.training.whole_epochs;
}

void keep_ended_plans(const std::string& run, const std::vector<EndedTraining>& ended) {
    if (ended.empty()) return;
    create_folders(run + kEndedFolder);
    for (const EndedTraining& one : ended) {
        const std::string path =
            fmt::format("{}{}/{}{}{}", run, kEndedFolder, kEndedBegin, one.epoch, kEndedEnd);
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored)) write_file(path, one.loaded.text);
    }
}

void require_epochs(const std::string& text) {
    const auto epochs = number_in(std::string_view(text).substr(text.starts_with('+') ? 1 : 0));
    if (epochs && *epochs > 0) return;
    throw RunError(Exit::usage, fmt::format("--epochs {} is no number of epochs", text),
                   "+2 is two more than are done, 10 is ten in all");
}

std::string total_epochs(const Options& options) {
    if (!options.epochs.starts_with('+')) return options.epochs;
    const std::int64_t more = number_in(std::string_view(options.epochs).substr(1)).value_or(0);
    return fmt::to_string(done_by(options.resume).epochs + more);
}

LoadedPlan plan_of_more_epochs(const Options& options, LoadedPlan kept, int ranks) {
    if (options.epochs.empty()) return kept;
    const RunFolder run(options.resume);
    const Done done = done_by(run.path());
    const std::int64_t total = number_in(total_epochs(options)).value_or(0);
    std::int64_t& planned = kept.plan.training.epochs;
    // Begun already, by the same command: it goes on as any run does.
    if (!done.finished && total == planned && !options.epochs.starts_with('+')) return kept;
    if (!done.finished)
        throw RunError(Exit::mismatch,
                       fmt::format("the run {} has not finished: {} of its {} epochs are done",
                                   run.path(), done.epochs, planned),
                       fmt::format("go on with it first: dtnn-run --resume {}", run.path()));
    if (total <= done.epochs)
        throw RunError(Exit::usage,
                       fmt::format("the run {} has done {}, and --epochs {} leaves none",
                                   run.path(), count_text(done.epochs, "epoch"), options.epochs),
                       "--epochs +N is N more than are done");
    if (total > kMostEpochs)
        throw RunError(Exit::usage, fmt::format("{} epochs; the most is {}", total, kMostEpochs));
    if (total == planned) return kept;
    planned = total;
    const std::string origin = "--epochs " + options.epochs;
    for (plan::ResolvedValue& value : kept.plan.values) {
        if (value.path != "training.epochs") continue;
        value.value = fmt::to_string(total);
        value.origin = plan::OriginKind::command_line;
        value.place = {};
        value.place.file = origin;
    }
    kept.plan.resolved_spec = with_epochs(kept.plan.resolved_spec, total, origin);
    return load_plan_text(plan::to_json(kept.plan), run.plan(), ranks);
}

std::vector<std::string> ended_identities(const std::vector<EndedTraining>& ended,
                                          const plan::Plan& plan) {
    const std::string own = training_identity(plan);
    std::vector<std::string> identities;
    for (const EndedTraining& one : ended) {
        plan::Plan same = one.loaded.plan;
        same.training.epochs = plan.training.epochs;
        if (training_identity(same) == own)
            identities.push_back(training_identity(one.loaded.plan));
    }
    return identities;
}

AnotherTraining begin_another_training(const std::vector<EndedTraining>& ended,
                                       const plan::Plan& plan, int ranks,
                                       const std::string& identity, TrainingState& state) {
    AnotherTraining another;
    std::vector<std::string>& spanning = another.spanning;
    for (const plan::Component& schedule : plan.training.schedules)
        if (spans_training(schedule)) spanning.push_back(schedule.type);
    const auto end = std::find_if(ended.begin(), ended.end(), [&](const EndedTraining& one) {
        return one.epoch == state.epoch && state.batch == 0;
    });
    if (end == ended.end()) {
        const std::vector<std::string> earlier = ended_identities(ended, plan);
        if (spanning.empty() || identity == training_identity(plan) ||
            std::find(earlier.begin(), earlier.end(), identity) == earlier.end())
            return another;
        throw RunError(
            Exit::mismatch,
            fmt::format("the newest checkpoint is of step {}, before the end of the training, and "
                        "`{}` spans all epochs: with more of them it goes another way from there",
                        state.step, spanning.front()),
            "begin a new training with the run's weights: dtnn-run PLAN --weights "
            "RUN/weights.safetensors");
    }
    Schedules schedules(plan, ranks), before(end->loaded.plan, ranks);
    if (!state.schedules.empty() && before.set_state(state.schedules) &&
        schedules.set_state(state.schedules)) {
        schedules.begin_again();
        state.schedules = schedules.state();
    }
    const bool alike = spanning.empty() && state.stop.empty();
    state.stop.clear();
    another.begins = true;
    another.lines.push_back(
        fmt::format("another training: the one before ended after epoch {}, this one has {} "
                    "epochs, and takes the optimizer's state over{}",
                    state.epoch, plan.training.epochs,
                    alike ? "; its schedules make it the same as one training of so many" : ""));
    const std::int64_t last = extent_of(plan, ranks).batches - 1;
    for (const std::string& name : spanning) {
        another.lines.push_back(fmt::format(
            "`{}` spans all epochs, now {} in place of {}: the learning rate ended with {:.4g}, "
            "and goes on with {:.4g}; one training of {} epochs would have gone another way",
            name, plan.training.epochs, end->loaded.plan.training.epochs,
            before.learning_rate({state.epoch - 1, last}),
            schedules.learning_rate({state.epoch, 0}), plan.training.epochs));
    }
    return another;
}

}  // namespace dtnn
