#include "plan/summary/settings.hpp"

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/text.hpp"

namespace dtnn::plan {

namespace {

// cosine (begin 2, minimum 0): with all fields, because a default counts as much as what was
// written.
std::string words(const Component& component) {
    std::string fields;
    for (const auto& [name, value] : component.attributes) {
        const auto* text = std::get_if<std::string>(&value);
        fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", name,
                              text ? *text : json_text(value));
    }
    return fields.empty() ? component.type : fmt::format("{} ({})", component.type, fields);
}

std::string words(const std::vector<Component>& list) {
    std::string text;
    for (const Component& component : list)
        text += (text.empty() ? "" : ", ") + words(component);
    return text;
}

std::string optimizer_words(const Training& training) {
    std::string text =
        fmt::format("{}, learning rate {}", training.optimizer, training.learning_rate);
    if (!training.groups.empty())
        text += "; " + count_text(std::int64_t(training.groups.size()), "group of parameters",
                                  "groups of parameters");
    if (training.clip_norm > 0)
        text += fmt::format("; gradients of norm {} at most", training.clip_norm);
    if (training.clip_value > 0)
        text += fmt::format("; gradients between -{0} and {0}", training.clip_value);
    if (training.accumulation > 1)
        text += fmt::format("; an update every {} batches", training.accumulation);
    if (training.average_decay > 0)
        text += fmt::format("; weights averaged with decay {}", training.average_decay);
    text += fmt::format("; loss {}", words({training.loss, training.loss_attributes}));
    std::string metrics;
    for (const Metric& metric : training.metrics)
        metrics += (metrics.empty() ? "" : ", ") + metric.name;
    if (!metrics.empty()) text += fmt::format("; measures {}", metrics);
    return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> summary_settings(const Plan& plan) {
    std::vector<std::pair<std::string, std::string>> lines = {
        {"optimizer", optimizer_words(plan.training)}};
    if (!plan.training.schedules.empty())
        lines.emplace_back("schedules", words(plan.training.schedules));
    const Dataset& dataset = plan.dataset;
    std::string data = words(dataset.transforms);
    if (!dataset.augmentations.empty())
        data +=
            fmt::format("{}in training {}", data.empty() ? "" : "; ", words(dataset.augmentations));
    if (dataset.test_as_validation)
        data +=
            fmt::format("{}the test samples are the validation's too", data.empty() ? "" : "; ");
    if (!data.empty()) lines.emplace_back("data", std::move(data));
    return lines;
}

}  // namespace dtnn::plan
