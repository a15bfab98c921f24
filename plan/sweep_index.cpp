#include "plan/sweep_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/formats.hpp"
#include "base/json.hpp"
#include "base/json_text.hpp"

namespace dtnn::plan {
namespace {

std::vector<std::string> texts_of(const Json& list) {
    std::vector<std::string> texts;
    for (const Json& text : list)
        texts.push_back(text.get<std::string>());
    return texts;
}

SweptPlan plan_of(const Json& entry) {
    SweptPlan plan;
    if (!entry.at("file").is_null()) plan.file = entry.at("file").get<std::string>();
    plan.settings = texts_of(entry.at("settings"));
    plan.parameters = whole_number_of(entry.at("parameters"), 0);
    plan.arena_bytes = whole_number_of(entry.at("arena_bytes"), 0);
    plan.forward_flops_per_sample = whole_number_of(entry.at("forward_flops_per_sample"), 0);
    plan.train_step_flops = whole_number_of(entry.at("train_step_flops"), 0);
    return plan;
}

/// A file of the sweep's folder, and no other place.
bool is_plan_name(const std::string& file) {
    return file.size() > kSweepPlanEnding.size() && file.ends_with(kSweepPlanEnding) &&
           !file.starts_with('.') && file.find('/') == std::string::npos &&
           file.find('\0') == std::string::npos;
}

std::string mistake_in(const SweepIndex& index) {
    std::set<std::string> files;
    for (const SweptPlan& plan : index.plans) {
        if (!is_plan_name(plan.file))
            return fmt::format("`{}` is no name of a plan in the sweep's folder", plan.file);
        if (!files.insert(plan.file).second) return fmt::format("{} stands in it twice", plan.file);
        if (plan.settings.size() != index.sweeps.size())
            return fmt::format("{} has {} settings, and {} are swept", plan.file,
                               plan.settings.size(), index.sweeps.size());
        for (std::size_t i = 0; i < plan.settings.size(); ++i)
            if (!plan.settings[i].starts_with(index.sweeps[i].path + "="))
                return fmt::format("{} has the setting `{}` where `{}` is swept", plan.file,
                                   plan.settings[i], index.sweeps[i].path);
    }
    return index.plans.empty() ? "it has no plans" : "";
}

}  // namespace

std::string SweptPlan::name() const {
    return file.substr(0, file.size() - std::min(file.size(), kSweepPlanEnding.size()));
}

std::string SweptPlan::value(std::size_t index) const {
    const std::string& setting = settings[index];
    return setting.substr(setting.find('=') + 1);
}

std::string to_json(const SweepIndex& index) {
    std::string text =
        fmt::format("{{\n  \"version\": {},\n  \"spec\": {},\n  \"settings\": {},\n  \"sweeps\": [",
                    formats::kSweep.number, json_text(index.spec), json_text(index.settings));
    for (std::size_t i = 0; i < index.sweeps.size(); ++i)
        text += fmt::format("{}\n    {{\"path\": {}, \"values\": {}}}", i == 0 ? "" : ",",
                            json_text(index.sweeps[i].path), json_text(index.sweeps[i].values));
    text += "\n  ],\n  \"plans\": [";
    for (std::size_t i = 0; i < index.plans.size(); ++i) {
        const SweptPlan& one = index.plans[i];
        text += fmt::format(
            "{}\n    {{\"file\": {}, \"settings\": {},\n     \"parameters\": {}, \"arena_bytes\": "
            "{}, \"forward_flops_per_sample\": {}, \"train_step_flops\": {}}}",
            i == 0 ? "" : ",", one.file.empty() ? "null" : json_text(one.file),
            json_text(one.settings), one.parameters, one.arena_bytes, one.forward_flops_per_sample,
            one.train_step_flops);
    }
    return text + "\n  ]\n}\n";
}

SweepIndex read_sweep_index(std::string_view text, std::string& error) {
    SweepIndex index;
    error.clear();
    try {
        const Json document = parse_json(text);
        if (const Json& number = document.at("version"); number != formats::kSweep.number) {
            error = other_format(formats::kSweep, write_json(number));
            return index;
        }
        index.spec = document.at("spec").get<std::string>();
        index.settings = texts_of(document.at("settings"));
        for (const Json& sweep : document.at("sweeps"))
            index.sweeps.push_back(
                {sweep.at("path").get<std::string>(), texts_of(sweep.at("values"))});
        for (const Json& entry : document.at("plans"))
            index.plans.push_back(plan_of(entry));
        error = mistake_in(index);
    } catch (const Json::exception& failure) {
        error = failure.what();
    }
    return index;
}

}  // namespace dtnn::plan
