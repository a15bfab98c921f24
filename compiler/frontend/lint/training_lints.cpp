// A training by itself: what never happens in it, and what undoes itself.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "compiler/frontend/lint/lint_rule.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/components.hpp"

namespace dtnn::compiler {
namespace {

std::string epochs_text(std::int64_t count) {
    return count_text(count, "epoch");
}

/// A schedule with where its fields stand.
struct PlacedSchedule {
    const plan::Component& schedule;
    std::string path;
    const LintSubject& subject;

    std::int64_t integer(const char* field) const {
        const auto* value = value_of<std::int64_t>(schedule.attributes, field);
        return value ? *value : 0;
    }
    Span span(const char* field) const {
        return span_or(subject.job().training.spans,
                       fmt::format("{}.{}.{}", path, schedule.type, field),
                       subject.of_training(path));
    }
};

std::vector<PlacedSchedule> schedules_of(const LintSubject& subject) {
    std::vector<PlacedSchedule> placed;
    const auto& list = subject.training().schedules;
    for (std::size_t i = 0; i < list.size(); ++i)
        placed.push_back({list[i], fmt::format("schedules[{}]", i), subject});
    return placed;
}

void note_epochs(const LintSubject& subject, Diagnostic& warning) {
    const auto epochs = subject.job().training.spans.find("epochs");
    if (epochs != subject.job().training.spans.end())
        warning.notes.push_back({epochs->second, "`epochs` of the training is given here"});
}

/// When a schedule is through with its work, in epochs done; 0: it is not known, or it has none.
std::int64_t end_of(const PlacedSchedule& one, std::string& field) {
    const Attributes& attributes = one.schedule.attributes;
    if (const auto* list = value_of<std::vector<std::int64_t>>(attributes, "epochs")) {
        field = "epochs";
        // The learning rate of an epoch that comes after it.
        return list->empty() ? 0 : list->back() + 1;
    }
    const std::int64_t begin = one.integer("begin"), epochs = one.integer("epochs");
    field = epochs > 0 ? "epochs" : "begin";
    if (epochs > 0) return begin + epochs;
    return begin > 0 ? begin + 1 : 0;
}

void schedule_behind_end(const LintSubject& subject, LintVoice& voice) {
    const std::int64_t epochs = subject.training().epochs;
    // A training that does not say its epochs is one that others extend.
    if (!subject.job().training.spans.contains("epochs")) return;
    for (const PlacedSchedule& one : schedules_of(subject)) {
        // Batches are counted in place of epochs.
        if (one.integer("batches") > 0) continue;
        std::string field;
        const std::int64_t end = end_of(one, field);
        if (end <= epochs) continue;
        const std::string& type = one.schedule.type;
        const auto* list = value_of<std::vector<std::int64_t>>(one.schedule.attributes, "epochs");
        std::string fact;
        if (list)
            fact = fmt::format("{} reduces the learning rate after {}", type,
                               epochs_text(list->back()));
        else if (field == "begin")
            fact = fmt::format("{} begins after {}", type, epochs_text(one.integer("begin")));
        else
            fact = fmt::format("{} reaches epoch {}", type, end);
        Diagnostic& warning =
            voice.say(one.span(field.c_str()),
                      fmt::format("{}, but the training has {}", fact, epochs_text(epochs)),
                      fmt::format("train for more epochs, or make `{}` fit", field));
        note_epochs(subject, warning);
    }
}

void patience_behind_end(const LintSubject& subject, LintVoice& voice) {
    const std::int64_t epochs = subject.training().epochs;
    // A training that does not say its epochs is one that others extend.
    if (!subject.job().training.spans.contains("epochs")) return;
    for (const PlacedSchedule& one : schedules_of(subject)) {
        if (one.integer("patience") < epochs) continue;
        Diagnostic& warning = voice.say(
            one.span("patience"),
            fmt::format(
                "{} waits for {} without improvement, but the training has {}: it never acts",
                one.schedule.type, epochs_text(one.integer("patience")), epochs_text(epochs)),
            fmt::format("make `patience` smaller, or leave {} out", one.schedule.type));
        note_epochs(subject, warning);
    }
}

void checkpoint_never(const LintSubject& subject, LintVoice& voice) {
    const plan::Training& training = subject.training();
    for (const PlacedSchedule& one : schedules_of(subject))
        if (one.integer("every_epochs") > training.epochs)
            voice.say(
                one.span("every_epochs"),
                fmt::format("{} looks every {} epochs, but the training has {}", one.schedule.type,
                            one.integer("every_epochs"), epochs_text(training.epochs)),
                "look more often");
    const plan::CheckpointRule& rule = training.checkpoint;
    if (rule.every_steps > 0 || rule.every_seconds > 0) return;
    if (rule.every_epochs > 0 && rule.every_epochs <= training.epochs) return;
    if (!subject.job().training.spans.contains("checkpoint.every_epochs")) return;
    voice.say(subject.of_training("checkpoint.every_epochs"),
              rule.every_epochs == 0
                  ? std::string("no checkpoint is written while the training runs: one that is "
                                "killed begins again from the start")
                  : fmt::format("a checkpoint is written every {} epochs, but the training has {}: "
                                "one that is killed begins again from the start",
                                rule.every_epochs, epochs_text(training.epochs)),
              "write `checkpoint: {every_seconds: 600}`");
}

void no_shuffle(const LintSubject& subject, LintVoice& voice) {
    const plan::Training& training = subject.training();
    if (training.shuffle || training.carry_state || training.epochs < 2) return;
    voice.say(subject.of_training("shuffle"),
              "the samples come in the same order in every epoch; where they lie by classes, "
              "batches have samples of one class only",
              "leave out `shuffle: false`");
}

void frozen_by_rate(const LintSubject& subject, LintVoice& voice) {
    const auto& groups = subject.training().groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto* scale = value_of<double>(groups[i].attributes, "learning_rate_scale");
        if (!scale || *scale != 0) continue;
        voice.say(subject.of_training(fmt::format("groups[{}].learning_rate_scale", i)),
                  fmt::format("a learning rate of 0 keeps `{}` as it is, and its gradients are "
                              "computed for nothing",
                              groups[i].pattern),
                  "write `frozen: true`, which saves the work");
    }
}

void large_validation(const LintSubject& subject, LintVoice& voice) {
    const double split = subject.training().validation_split;
    if (split <= 0.5) return;
    voice.say(
        subject.of_training("validation_split"),
        fmt::format(
            "`validation_split` is {}: more samples are kept for validation than are trained on",
            split),
        fmt::format("write `validation_split: {:.3g}` if the other part was meant", 1 - split));
}

constexpr std::array kTrainingRules = {
    LintRule{Code::schedule_behind_end, LintScope::training, schedule_behind_end},
    LintRule{Code::patience_behind_end, LintScope::training, patience_behind_end},
    LintRule{Code::checkpoint_never, LintScope::training, checkpoint_never},
    LintRule{Code::no_shuffle, LintScope::training, no_shuffle},
    LintRule{Code::frozen_by_rate, LintScope::training, frozen_by_rate},
    LintRule{Code::large_validation, LintScope::training, large_validation},
};

}  // namespace

std::span<const LintRule> training_lints() {
    return kTrainingRules;
}

}  // namespace dtnn::compiler
