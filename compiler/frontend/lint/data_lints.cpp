// A dataset by itself, and how its samples choose.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/frontend/lint/lint_rule.hpp"
#include "compiler/frontend/tables/components.hpp"

namespace dtnn::compiler {
namespace {

/// Mean and deviation of pixels as bytes, for pixels that are shares of 255.
void wrong_scale(const LintSubject& subject, LintVoice& voice) {
    const std::vector<plan::Component>& transforms = subject.dataset().transforms;
    for (std::size_t i = 0; i < transforms.size(); ++i) {
        const ComponentInfo* info = compiler::transforms().find(transforms[i].type);
        if (!info || !info->centres) continue;
        for (const char* field : {"mean", "deviation"}) {
            const auto* given = value_of<std::vector<double>>(transforms[i].attributes, field);
            if (!given || std::none_of(given->begin(), given->end(),
                                       [](double number) { return number > 1; }))
                continue;
            std::vector<std::string> shares;
            for (const double number : *given)
                shares.push_back(fmt::format("{:.4g}", number / 255));
            voice.say(subject.of_dataset(fmt::format("transforms[{}].{}.{}", i, info->name, field)),
                      fmt::format("`{}` of {} is [{:g}], but pixels are between 0 and 1", field,
                                  info->name, fmt::join(*given, ", ")),
                      fmt::format("of numbers from 0 to 255, write `{}: [{}]`", field,
                                  fmt::join(shares, ", ")));
        }
    }
}

void not_normalised(const LintSubject& subject, LintVoice& voice) {
    const plan::Dataset& dataset = subject.dataset();
    const ComponentInfo* type = dataset_types().find(dataset.type);
    if (type && type->pixels) wrong_scale(subject, voice);
    // Gray pixels between 0 and 1 are near enough to what weights are made for.
    if (!type || !type->pixels || dataset.input().dims.empty() || dataset.input().dims[0] != 3)
        return;
    if (is_centred(dataset)) return;
    // The activation of a network that gives the pixels again reaches them as they are.
    if (dataset.target().kind == plan::LabelKind::input && op(subject.end().type).range) return;
    voice.say(
        subject.of_dataset("type"),
        fmt::format("the pixels of `{}` are between 0 and 1, and no transform gives their "
                    "channels mean 0 and deviation 1",
                    dataset.name),
        "write `transforms: [{normalize: {constants: imagenet}}]`, or with mean and deviation "
        "of your own, which `dtnnc data` prints");
}

void few_samples(const LintSubject& subject, LintVoice& voice) {
    const plan::Dataset& dataset = subject.dataset();
    if (dataset.target().kind == plan::LabelKind::values || !dataset.target().dims.empty() ||
        dataset.train_samples >= dataset.target().classes)
        return;
    voice.say(subject.of_dataset("train_samples"),
              fmt::format("the dataset `{}` has {} training samples for {} classes: some class is "
                          "never seen",
                          dataset.name, dataset.train_samples, dataset.target().classes),
              "check `train_samples` and `classes`");
}

void test_chooses(const LintSubject& subject, LintVoice& voice) {
    if (!subject.dataset().test_as_validation) return;
    const auto& schedules = subject.training().schedules;
    for (std::size_t i = 0; i < schedules.size(); ++i) {
        const auto* watched = value_of<std::string>(schedules[i].attributes, "metric");
        if (!watched || !watched->starts_with("validation.")) continue;
        Diagnostic& warning = voice.say(
            subject.of_training(fmt::format("schedules[{}]", i)),
            fmt::format("{} watches the test samples, which `test_as_validation` takes for "
                        "validation: results on them are no longer those of unseen samples",
                        schedules[i].type),
            "keep training samples for validation, `validation_split: 0.1`, and the test samples "
            "for the end");
        warning.notes.push_back(
            {subject.of_dataset("test_as_validation"), "`test_as_validation` is given here"});
    }
}

constexpr std::array kDataRules = {
    LintRule{Code::not_normalised, LintScope::job, not_normalised},
    LintRule{Code::few_samples, LintScope::dataset, few_samples},
    LintRule{Code::test_chooses, LintScope::job, test_chooses},
};

}  // namespace

std::span<const LintRule> data_lints() {
    return kDataRules;
}

}  // namespace dtnn::compiler
