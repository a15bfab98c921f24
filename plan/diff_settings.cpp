#include "plan/diff_settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "plan/json_text.hpp"
#include "plan/meaning.hpp"

namespace dtnn::plan {

namespace {

struct Setting {
    std::string value;  ///< JSON text
    bool written = false;
};
using Settings = std::map<std::string, Setting>;

Settings resolved(const Plan& plan) {
    Settings settings;
    for (const ResolvedValue& value : plan.values)
        if (!value.path.starts_with("model.layers."))
            settings[value.path] = {value.value, value.origin != OriginKind::fallback};
    return settings;
}

// What the runtime goes by, for plans whose specs do not say it.
Settings own_fields(const Plan& plan) {
    Settings settings;
    auto add = [&](const std::string& path, const auto& value) {
        settings[path] = {json_text(value), true};
    };
    const Training& t = plan.training;
    add("training.batch_size", t.batch_size);
    add("training.epochs", t.epochs);
    add("training.seed", t.seed);
    add("training.shuffle", t.shuffle);
    add("training.validation_split", t.validation_split);
    add("training.loss", t.loss);
    std::vector<std::string> metrics;
    for (const Metric& metric : t.metrics)
        metrics.push_back(metric.name);
    add("training.metrics", metrics);
    add("training.dtype", std::string(name_of(plan.target.dtype)));
    const std::string optimizer = "training.optimizer." + t.optimizer + ".";
    add(optimizer + "learning_rate", t.learning_rate);
    for (const auto& [name, value] : t.optimizer_attributes)
        add(optimizer + name, value);
    add("dataset.type", plan.dataset.type);
    for (const auto& [name, value] : plan.dataset.attributes)
        add("dataset." + name, value);
    return settings;
}

// "training.optimizer.sgd." of any of its fields; empty for other paths.
std::string optimizer_of(const std::string& path) {
    constexpr std::string_view kPrefix = "training.optimizer.";
    if (!path.starts_with(kPrefix)) return "";
    std::size_t dot = path.find('.', kPrefix.size());
    return dot == std::string::npos ? "" : path.substr(kPrefix.size(), dot - kPrefix.size());
}

// A model's parameters are kept as they were written: 1e-2 is 0.01.
bool same_number(const std::string& a, const std::string& b) {
    auto number = [](const std::string& text, double& value) {
        char* end = nullptr;
        value = std::strtod(text.c_str(), &end);
        return !text.empty() && *end == '\0';
    };
    double x = 0, y = 0;
    return number(a, x) && number(b, y) && x == y;
}

class SettingComparison {
  public:
    SettingComparison(const Plan& a, const Plan& b)
        : a_(a), b_(b), before_(resolved(a)), after_(resolved(b)) {
        fill(own_fields(a), before_, own_fields(b), after_);
        fold_optimizer();
    }

    std::vector<Change> run() {
        settings();
        target();
        passes();
        if (a_.generator != b_.generator)
            add("compiler", "compiler.generator", {json_text(a_.generator), true},
                {json_text(b_.generator), true});
        return std::move(changes_);
    }

  private:
    // A field counts where neither plan's specs say it.
    static void fill(const Settings& own_a, Settings& a, const Settings& own_b, Settings& b) {
        std::set<std::string> optimizers;
        for (const Settings* settings : {&a, &b})
            for (const auto& [path, setting] : *settings)
                if (!optimizer_of(path).empty()) optimizers.insert("known");
        std::set<std::string> missing;
        for (const Settings* own : {&own_a, &own_b})
            for (const auto& [path, setting] : *own)
                if (!a.contains(path) && !b.contains(path) &&
                    (optimizers.empty() || optimizer_of(path).empty()))
                    missing.insert(path);
        for (const std::string& path : missing) {
            if (auto found = own_a.find(path); found != own_a.end()) a.insert(*found);
            if (auto found = own_b.find(path); found != own_b.end()) b.insert(*found);
        }
    }

    // Another optimizer is one fact, with its fields: those of the two are not comparable.
    void fold_optimizer() {
        auto name = [](const Settings& settings) {
            for (const auto& [path, setting] : settings)
                if (std::string optimizer = optimizer_of(path); !optimizer.empty())
                    return optimizer;
            return std::string();
        };
        if (name(before_) == name(after_)) return;
        for (Settings* settings : {&before_, &after_}) {
            std::string optimizer = name(*settings), fields;
            const std::string prefix = "training.optimizer." + optimizer + ".";
            std::erase_if(*settings, [&](const auto& item) {
                if (!item.first.starts_with(prefix)) return false;
                fields += (fields.empty() ? "" : ", ") +
                          json_text(item.first.substr(prefix.size())) + ": " + item.second.value;
                return true;
            });
            if (!optimizer.empty())
                (*settings)["training.optimizer"] = {
                    "{" + json_text("type") + ": " + json_text(optimizer) + ", " +
                        json_text("fields") + ": {" + fields + "}}",
                    true};
        }
    }

    Change& add(const char* section, const std::string& path, const Setting& before,
                const Setting& after) {
        FieldMeaning meaning = meaning_of(path);
        Change change;
        change.section = section;
        change.what = path;
        change.before = before.value;
        change.after = after.value;
        change.action = before.value.empty()  ? Action::added
                        : after.value.empty() ? Action::removed
                                              : Action::changed;
        change.meaning = meaning.meaning;
        change.reason = meaning.reason;
        change.chosen = before.written || after.written;
        changes_.push_back(std::move(change));
        return changes_.back();
    }

    void settings() {
        auto get = [](const Settings& settings, const std::string& path) {
            auto found = settings.find(path);
            return found == settings.end() ? Setting{} : found->second;
        };
        std::set<std::string> paths;
        for (const Settings* list : {&before_, &after_})
            for (const auto& [path, setting] : *list)
                paths.insert(path);
        for (const std::string& path : paths) {
            Setting before = get(before_, path), after = get(after_, path);
            if (before.value == after.value) continue;
            bool one_sided = before.value.empty() || after.value.empty();
            // A parameter acts through the layers only, and those are compared; a resolved spec has
            // the layers without the parameters.
            if (path.starts_with("model.parameters.") &&
                (one_sided || same_number(before.value, after.value)))
                continue;
            bool name = path == "name" || path.ends_with(".name");
            // A name that a file gave is no fact of the spec.
            if (name && !before.written && !after.written) continue;
            Change& change = add("settings", path, before, after);
            if (!change.chosen) change.reason = "the default is another one here";
        }
    }

    void target() {
        auto is_set = [&](const char* path) {
            auto s = before_.find(path), t = after_.find(path);
            return (s != before_.end()) != (t != after_.end()) ||
                   (s != before_.end() && s->second.value != t->second.value);
        };
        auto field = [&](const std::string& name, const auto& x, const auto& y) -> Change* {
            if (x == y) return nullptr;
            return &add("target", "target." + name, {json_text(x), true}, {json_text(y), true});
        };
        const Target &s = a_.target, &t = b_.target;
        field("device", s.device, t.device);
        field("isa", s.isa, t.isa);
        if (Change* change = field("threads", s.threads, t.threads); change && is_set("threads"))
            change->chosen = false;
        field("ranks", s.ranks, t.ranks);
    }

    void passes() {
        auto state = [](const Plan& plan) {
            std::map<std::string, bool> on;
            for (const std::string& pass : plan.passes)
                on[pass.starts_with("-") ? pass.substr(1) : pass] = !pass.starts_with("-");
            return on;
        };
        std::map<std::string, bool> before = state(a_), after = state(b_);
        auto text = [](const std::map<std::string, bool>& passes, const std::string& name) {
            auto found = passes.find(name);
            return found == passes.end() ? std::string() : json_text(found->second ? "on" : "off");
        };
        std::set<std::string> names;
        for (const auto* list : {&before, &after})
            for (const auto& [name, on] : *list)
                names.insert(name);
        for (const std::string& name : names) {
            std::string s = text(before, name), t = text(after, name);
            if (s == t) continue;
            // A pass that only one of the two compilers has was not chosen.
            bool chosen = !s.empty() && !t.empty();
            Change& change = add("passes", "compiler.passes." + name, {s, chosen}, {t, chosen});
            change.chosen = chosen;
        }
    }

    const Plan& a_;
    const Plan& b_;
    Settings before_, after_;
    std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> diff_settings(const Plan& a, const Plan& b) {
    return SettingComparison(a, b).run();
}

}  // namespace dtnn::plan
