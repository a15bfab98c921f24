// Every number of every table that has a usual range: `usual_least` and `usual_most` of its Field.

#include <fmt/format.h>

#include <array>

#include "compiler/frontend/expand/layers.hpp"
#include "compiler/frontend/lint/lint_rule.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

/// Says it where the number is outside the field's usual range.
void judge(const Field& field, double value, const std::string& whose, const Span& span,
           LintVoice& voice) {
    const bool low = field.usual_least && value < *field.usual_least;
    const bool high = field.usual_most && value > *field.usual_most;
    // Zero is how things are switched off.
    if ((!low && !high) || value == 0) return;
    const std::string usual =
        field.usual_least && field.usual_most
            ? fmt::format("lie between {:.6g} and {:.6g}", *field.usual_least, *field.usual_most)
        : low ? fmt::format("are {} or more", *field.usual_least)
              : fmt::format("are {} or less", *field.usual_most);
    voice.say(
        span, fmt::format("`{}` of {} is {}; useful values {}", field.name, whose, value, usual),
        fmt::format(
            "check the number's size{}",
            field.fallback ? fmt::format("; the default is {}", to_json(*field.fallback)) : ""));
}

void judge_all(const FieldTable& table, const Attributes& values, const std::string& whose,
               const std::function<Span(std::string_view)>& span, LintVoice& voice) {
    for (const Field& field : table) {
        if (!field.usual_least && !field.usual_most) continue;
        if (const auto* real = value_of<double>(values, std::string(field.name)))
            judge(field, *real, whose, span(field.name), voice);
    }
}

void learning_rate(const LintSubject& subject, LintVoice& voice) {
    const plan::Training& training = subject.training();
    const ComponentInfo* optimizer = optimizers().find(training.optimizer);
    const Field* field = optimizer ? find_field(*optimizer->fields, "learning_rate") : nullptr;
    if (field)
        judge(*field, training.learning_rate, training.optimizer,
              subject.of_training(fmt::format("optimizer.{}.learning_rate", training.optimizer)),
              voice);
}

void training_values(const LintSubject& subject, LintVoice& voice) {
    const plan::Training& training = subject.training();
    const auto component = [&](const ComponentSet& set, const std::string& type,
                               const Attributes& values, const std::string& path) {
        const ComponentInfo* info = set.find(type);
        if (!info) return;
        judge_all(
            *info->fields, values, type,
            [&](std::string_view field) {
                return span_or(subject.job().training.spans,
                               fmt::format("{}.{}.{}", path, type, field),
                               subject.of_training(path));
            },
            voice);
    };
    component(optimizers(), training.optimizer, training.optimizer_attributes, "optimizer");
    component(losses(), training.loss, training.loss_attributes, "loss");
    for (std::size_t i = 0; i < training.schedules.size(); ++i)
        component(schedules(), training.schedules[i].type, training.schedules[i].attributes,
                  fmt::format("schedules[{}]", i));
    const auto record = [&](const FieldTable& table, const char* name, const char* field,
                            double value) {
        judge(*find_field(table, field), value, name,
              subject.of_training(fmt::format("{}.{}", name, field)), voice);
    };
    record(clip_table(), "clip", "norm", training.clip_norm);
    record(clip_table(), "clip", "value", training.clip_value);
    record(average_table(), "average", "decay", training.average_decay);
    for (std::size_t i = 0; i < training.groups.size(); ++i) {
        const std::string path = fmt::format("groups[{}]", i);
        FieldTable table = group_table();
        if (const ComponentInfo* info = optimizers().find(training.optimizer))
            table.insert(table.end(), info->fields->begin(), info->fields->end());
        judge_all(
            table, training.groups[i].attributes, path,
            [&](std::string_view field) {
                return subject.of_training(fmt::format("{}.{}", path, field));
            },
            voice);
    }
}

void layer_values(const LintSubject& subject, LintVoice& voice) {
    for (const LayerSpec& layer : subject.layers())
        judge_all(
            fields_of_operator(op(layer.type)), layer.fields, fmt::format("`{}`", layer.name),
            [&](std::string_view field) {
                return span_or(layer.spans, std::string(field), layer.span);
            },
            voice);
}

void data_values(const LintSubject& subject, LintVoice& voice) {
    const auto all = [&](const ComponentSet& set, const std::vector<plan::Component>& list,
                         const char* name) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            const ComponentInfo* info = set.find(list[i].type);
            const std::string path = fmt::format("{}[{}]", name, i);
            if (info)
                judge_all(
                    *info->fields, list[i].attributes, list[i].type,
                    [&](std::string_view field) {
                        return span_or(subject.job().dataset.spans,
                                       fmt::format("{}.{}.{}", path, list[i].type, field),
                                       subject.of_dataset(path));
                    },
                    voice);
        }
    };
    all(transforms(), subject.dataset().transforms, "transforms");
    all(augmentations(), subject.dataset().augmentations, "augmentations");
}

constexpr std::array kValueRules = {
    LintRule{Code::unusual_learning_rate, LintScope::training, learning_rate},
    LintRule{Code::unusual_value, LintScope::training, training_values},
    LintRule{Code::unusual_value, LintScope::model, layer_values},
    LintRule{Code::unusual_value, LintScope::dataset, data_values},
};

}  // namespace

std::span<const LintRule> value_lints() {
    return kValueRules;
}

}  // namespace dtnn::compiler
