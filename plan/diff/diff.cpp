#include "plan/diff/diff.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "plan/diff/align_layers.hpp"
#include "plan/diff/layers.hpp"
#include "plan/diff/results.hpp"
#include "plan/diff/settings.hpp"
#include "plan/diff/steps.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/parameter_groups.hpp"

namespace dtnn::plan {

namespace {

void append(std::vector<Change>& all, std::vector<Change> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
}

// The setting that says the same as a consequence, where the values are the same too.
const char* setting_of(Section section, const std::string& what) {
    struct Twin {
        Section section;
        const char *what, *setting;
    };
    static constexpr Twin kTwins[] = {
        {Section::data, "training samples", "dataset.train_samples"},
        {Section::data, "test samples", "dataset.test_samples"},
        {Section::data, "shape of a sample", "dataset.shape"},
        {Section::data, "classes", "dataset.classes"},
        {Section::schedule, "steps per epoch", "training.steps_per_epoch"},
        {Section::schedule, "train batch", "training.batch_size"},
        {Section::schedule, "evaluate batch", "training.batch_size"},
        {Section::schedule, "predict batch", "training.batch_size"},
    };
    for (const Twin& twin : kTwins)
        if (section == twin.section && what == twin.what) return twin.setting;
    return nullptr;
}

// A fact is told once: what a chosen setting says already is no news as a consequence.
void drop_told(std::vector<Change>& changes) {
    std::map<std::string, std::pair<std::string, std::string>> told;
    for (const Change& change : changes)
        if (change.section == Section::settings) told[change.what] = {change.before, change.after};
    std::erase_if(changes, [&](const Change& change) {
        const char* setting = setting_of(change.section, change.what);
        auto found = setting ? told.find(setting) : told.end();
        return found != told.end() && found->second == std::pair(change.before, change.after);
    });
}

// Layers of a model with parameters are computed from them: what somebody wrote is the parameter.
void lay_to_parameters(std::vector<Change>& changes) {
    auto is_parameter = [](const Change& change) {
        return change.section == Section::settings && change.what.starts_with("model.parameters.");
    };
    auto is_layer = [](const Change& change) {
        return change.chosen &&
               (change.section == Section::layers || change.section == Section::connections);
    };
    if (std::none_of(changes.begin(), changes.end(), is_parameter)) return;
    bool acts = std::any_of(changes.begin(), changes.end(), is_layer);
    for (Change& change : changes) {
        if (is_layer(change)) {
            change.chosen = false;
            change.reason += " (computed from the model's parameters, unless it was written too)";
        } else if (is_parameter(change) && !acts) {
            change.meaning = Meaning::performance;
            change.reason = "no layer differs";
        }
    }
}

// A layer that is only listed elsewhere may still draw other numbers.
void lay_to_order(std::vector<Change>& changes) {
    bool drawn = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
        return change.section == Section::first_values;
    });
    if (!drawn) return;
    for (Change& change : changes)
        if (change.action == Action::moved && change.meaning == Meaning::performance) {
            change.meaning = Meaning::mathematics;
            change.reason =
                "each layer reads what it read before, but random numbers are drawn by the place "
                "in the list";
        }
}

// `same` and the cells that it comes to here are two ways to write one padding. The steps know the
// cells; a plan without them says nothing, and the change stays one of the mathematics.
void lay_to_cells(const Plan& a, const Plan& b, const LayerNames& names,
                  std::vector<Change>& changes) {
    auto is_padding = [](const Change& change) {
        return change.section == Section::layers && change.action == Action::changed &&
               change.what.ends_with(".padding");
    };
    if (std::none_of(changes.begin(), changes.end(), is_padding)) return;
    auto cells_of = [](const Plan& plan, auto name_of_layer) {
        std::unordered_map<std::string, AttributeValue> cells;
        if (const Program* train = find_program(plan, ProgramKind::train))
            for (const Step& step : train->steps)
                if (auto padding = step.attributes.find("padding");
                    padding != step.attributes.end() && step.layer >= 0 &&
                    step.phase == StepPhase::forward)
                    cells.emplace(name_of_layer(plan.layers[std::size_t(step.layer)].name),
                                  padding->second);
        return cells;
    };
    auto before = cells_of(a, [&](const std::string& name) {
        auto found = names.find(name);
        return found == names.end() ? std::string() : found->second;
    });
    auto after = cells_of(b, [](const std::string& name) { return name; });
    for (Change& change : changes) {
        if (!is_padding(change)) continue;
        bool same = std::all_of(
            change.members.begin(), change.members.end(), [&](const std::string& layer) {
                auto s = before.find(layer), t = after.find(layer);
                return s != before.end() && t != after.end() && s->second == t->second;
            });
        if (!same) continue;
        change.meaning = Meaning::performance;
        change.reason = "both come to the same cells around the image";
    }
}

// Ranks and the batch of each may change together: the batch of all is what a step takes.
void lay_to_global_batch(const Plan& a, const Plan& b, std::vector<Change>& changes) {
    const std::int64_t global = global_batch(a, a.target.ranks);
    if (a.target.ranks == b.target.ranks || global != global_batch(b, b.target.ranks)) return;
    // A single rank has all samples.
    const auto reasons_of = [](const Plan& plan) {
        const bool shared =
            plan.target.ranks > 1 || (plan.parallel.data && plan.parallel.any_ranks);
        return shared ? depends_on_ranks(plan) : std::vector<std::string>();
    };
    std::vector<std::string> reasons = reasons_of(a);
    if (reasons.empty()) reasons = reasons_of(b);
    static const std::set<std::string> kShares = {"parallel.batch_statistics", "parallel.data",
                                                  "target.ranks", "training.batch_size",
                                                  "training.global_batch_size"};
    for (Change& change : changes) {
        const bool batch = change.section == Section::schedule && change.what.ends_with(" batch") &&
                           change.what != "global batch";
        if (!batch && !kShares.contains(change.what)) continue;
        change.meaning = reasons.empty() ? Meaning::performance : Meaning::mathematics;
        change.reason = "global batches are of " + std::to_string(global) +
                        " samples on both sides, " +
                        (reasons.empty() ? "which other ranks share" : "but " + reasons.front());
    }
}

// Groups act on parameters alone: where each is updated as before, nothing is trained otherwise.
void lay_to_groups(const Plan& a, const Plan& b, std::vector<Change>& changes) {
    const auto is_group = [](const Change& change) {
        return change.section == Section::settings && change.what.starts_with("training.groups");
    };
    if (std::none_of(changes.begin(), changes.end(), is_group)) return;
    const auto update = [](const Plan& plan, const std::string& parameter) {
        Attributes fields = optimizer_attributes_of(plan.training, parameter);
        for (const char* own : {"frozen", "learning_rate_scale"})
            fields.erase(own);
        return std::tuple(group_freezes(plan.training, parameter),
                          learning_rate_scale_of(plan.training, parameter), std::move(fields));
    };
    std::set<std::string> of_a;
    for (const Parameter& parameter : a.parameters)
        of_a.insert(parameter.name);
    for (const Parameter& parameter : b.parameters)
        if (!of_a.contains(parameter.name) ||
            update(a, parameter.name) != update(b, parameter.name))
            return;
    for (Change& change : changes) {
        if (!is_group(change)) continue;
        change.meaning = Meaning::performance;
        change.reason = "every parameter is updated as before";
    }
}

bool same_computation(const Plan& a, const Plan& b, const LayerDifference& layers) {
    auto is_field = [](const Change& change) { return change.action != Action::renamed; };
    const Training &s = a.training, &t = b.training;
    return std::tie(s.loss, s.optimizer, s.optimizer_attributes) ==
               std::tie(t.loss, t.optimizer, t.optimizer_attributes) &&
           std::none_of(layers.chosen.begin(), layers.chosen.end(), is_field) &&
           a.dataset.input().dims == b.dataset.input().dims &&
           a.dataset.target().classes == b.dataset.target().classes;
}

int rank_of(const Change& change) {
    // Settings that only speed things, or only name them, after what is chosen of the network.
    const int first = !change.chosen                           ? 100
                      : change.meaning == kNames               ? 75
                      : change.meaning == Meaning::performance ? 50
                      : change.meaning == kUnread              ? 25
                                                               : 0;
    return first + int(change.section);
}

}  // namespace

const char* label_of(Meaning meaning) {
    switch (meaning) {
        case Meaning::mathematics:
            return "changes the mathematics";
        case Meaning::performance:
            return "performance only";
        case Meaning::unread:
            return "unknown until both are read";
        case Meaning::names:
            return "names only";
    }
    return "";
}

std::vector<Change> diff(const Plan& a, const Plan& b) {
    const LayerAlignment alignment = align_layers(a, b);
    const LayerNames names = names_in_b(a, b, alignment);
    LayerDifference layers = diff_layers(a, b, alignment);
    const bool same = same_computation(a, b, layers);
    std::vector<Change> changes = diff_settings(a, b);
    append(changes, std::move(layers.chosen));
    append(changes, std::move(layers.consequences));
    diff_results(a, b, names, changes);
    diff_steps(a, b, names, same, changes);
    diff_costs(a, b, changes);
    drop_told(changes);
    lay_to_parameters(changes);
    lay_to_order(changes);
    lay_to_cells(a, b, names, changes);
    lay_to_global_batch(a, b, changes);
    lay_to_groups(a, b, changes);
    sort_changes(changes);
    return changes;
}

void sort_changes(std::vector<Change>& changes) {
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& x, const Change& y) { return rank_of(x) < rank_of(y); });
}

bool changes_mathematics(const std::vector<Change>& changes) {
    return std::any_of(changes.begin(), changes.end(),
                       [](const Change& change) { return change.meaning == Meaning::mathematics; });
}

}  // namespace dtnn::plan
