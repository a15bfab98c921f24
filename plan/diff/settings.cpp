#include "plan/diff/settings.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/json_text.hpp"
#include "base/saturating.hpp"
#include "plan/diff/setting_members.hpp"
#include "plan/layer_types.hpp"
#include "plan/rules/compression.hpp"

namespace dtnn::plan {

namespace {

Settings resolved(const Plan& plan) {
    Settings settings;
    for (const ResolvedValue& value : plan.values)
        if (!value.path.starts_with("model.layers."))
            settings[value.path] = {value.value, value.origin != OriginKind::fallback,
                                    value.meaning,
                                    value.reason.empty() ? std::string(kNoLabel) : value.reason};
    return settings;
}

// The fields that the runtime goes by, for plans whose specs do not say it.
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
    add("training.carry_state", t.carry_state);
    add("training.validation_split", t.validation_split);
    add("training.k_folds", t.k_folds);
    add("training.fold", t.fold);
    add("training.history_every", t.history_every);
    add("training.accumulation", t.accumulation);
    add("training.loss", t.loss);
    std::vector<std::string> metrics;
    for (const Metric& metric : t.metrics)
        metrics.push_back(metric.type);
    add("training.metrics", metrics);
    add("training.dtype", std::string(name_of(plan.target.dtype)));
    add("training.compute", std::string(name_of(plan.target.compute)));
    add("training.numerics", std::string(name_of(plan.target.numerics)));
    add("training.optimizer", t.optimizer);
    const std::string optimizer = "training.optimizer." + t.optimizer + ".";
    add(optimizer + "learning_rate", t.learning_rate);
    for (const auto& [name, value] : t.optimizer_attributes)
        add(optimizer + name, value);
    add("dataset.type", plan.dataset.type);
    for (const auto& [name, value] : plan.dataset.attributes)
        add("dataset." + name, value);
    return settings;
}

// The fields whose members have fields of their own. The value under such a path is a member's name
// or the list of their names (of groups: of their patterns), and the members' fields are below it.
constexpr const char* kChosen[] = {"training.optimizer",   "training.loss",   "training.metrics",
                                   "training.schedules",   "training.groups", "dataset.transforms",
                                   "dataset.augmentations"};

// A model's parameters are kept as they were written: 1e-2 is 0.01.
bool same_number(const std::string& a, const std::string& b) {
    auto number = [](const std::string& text, double& value) {
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        return read.ec == std::errc() && read.ptr == end;
    };
    double x = 0, y = 0;
    return number(a, x) && number(b, y) && x == y;
}

// The labels of what no spec says: options of the command line, and the compiler's own.
constexpr const char* kRounding = "the same values but for rounding";
constexpr const char* kAnyWorker = "samples do not depend on which thread prepares them";
constexpr const char* kAnywhere = "what is computed does not depend on where";
constexpr const char* kOtherVersion = "another version may choose and arrange differently";
constexpr const char* kKeepMeaning = "passes keep the meaning of the graph";
/// The one pass that does not where products round what they read: it changes what is rounded.
constexpr std::string_view kFolds = "fold_batch_norm";
constexpr const char* kRoundsFolded =
    "products round the weights that batch norm is folded into, and predictions move by as much";

class SettingComparison {
  public:
    SettingComparison(const Plan& a, const Plan& b)
        : a_(a), b_(b), before_(resolved(a)), after_(resolved(b)) {
        fill(own_fields(a), before_, own_fields(b), after_);
        fold_members();
        fold_machine();
        fold_batch();
    }

    std::vector<Change> run() {
        settings();
        same_update();
        target();
        passes();
        if (a_.generator != b_.generator)
            add(Section::compiler, "compiler.generator",
                {json_text(a_.generator), true, Meaning::performance, kOtherVersion},
                {json_text(b_.generator), true, Meaning::performance, kOtherVersion});
        return std::move(changes_);
    }

  private:
    // A field counts where neither plan's specs say it.
    static void fill(const Settings& own_a, Settings& a, const Settings& own_b, Settings& b) {
        std::set<std::string> missing;
        for (const Settings* own : {&own_a, &own_b})
            for (const auto& [path, setting] : *own)
                if (!a.contains(path) && !b.contains(path)) missing.insert(path);
        for (const std::string& path : missing) {
            if (auto found = own_a.find(path); found != own_a.end()) a.insert(*found);
            if (auto found = own_b.find(path); found != own_b.end()) b.insert(*found);
        }
    }

    // Another member, or another list of transforms or groups, which act on each other, is one
    // fact, with its fields: those of different ones are not comparable. Where the same stand at
    // the same places, their fields are compared.
    void fold_members() {
        for (const std::string owner : kChosen) {
            auto s = before_.find(owner), t = after_.find(owner);
            if (s == before_.end() || t == after_.end()) continue;
            if (owner == "training.schedules" || owner == "training.metrics") {
                match_members(owner);
                continue;
            }
            const bool folded = s->second.value != t->second.value;
            if (folded && !s->second.value.starts_with("[")) drop_common_fields(owner);
            for (Settings* settings : {&before_, &after_}) {
                auto own = settings->find(owner);
                if (folded) {
                    own->second.value = member_value(*settings, owner, own->second.value);
                    std::erase_if(*settings,
                                  [&](const auto& item) { return is_below(item.first, owner); });
                } else {
                    settings->erase(own);
                }
            }
        }
    }

    // Of two members with fields of one name and value only the others are told.
    void drop_common_fields(const std::string& owner) {
        const auto fields_of = [&](const Settings& settings) {
            std::map<std::string, std::string> values;
            for (const auto& [path, setting] : settings)
                if (is_below(path, owner)) values[path.substr(path.rfind('.'))] = setting.value;
            return values;
        };
        const auto before = fields_of(before_), after = fields_of(after_);
        for (Settings* settings : {&before_, &after_})
            std::erase_if(*settings, [&](const auto& item) {
                if (!is_below(item.first, owner)) return false;
                const auto x = before.find(item.first.substr(item.first.rfind('.')));
                const auto y = after.find(item.first.substr(item.first.rfind('.')));
                return x != before.end() && y != after.end() && x->second == y->second;
            });
    }

    // Another machine, or one that only one of the two names, is one fact. Rates, of which a
    // machine may say dozens and which only forecasts read, are its file's.
    void fold_machine() {
        if (a_.machine.name == b_.machine.name) return;
        for (auto [settings, plan] : {std::pair(&before_, &a_), std::pair(&after_, &b_)}) {
            std::string fields;
            for (const char* field : {"nodes", "cores", "memory", "isa"}) {
                const auto found = settings->find(std::string("machine.") + field);
                if (found == settings->end() || !found->second.written) continue;
                fields +=
                    (fields.empty() ? "" : ", ") + json_text(field) + ": " + found->second.value;
            }
            std::erase_if(*settings, [](const auto& item) {
                return item.first == "machine" || is_below(item.first, "machine");
            });
            if (plan->machine.name.empty()) continue;
            (*settings)["machine"] = {
                "{" + json_text("type") + ": " + json_text(plan->machine.name) + ", " +
                    json_text("fields") + ": {" + fields + "}}",
                true, Meaning::performance, "it says what the computation runs on"};
        }
    }

    // A rank's batch is the same however a spec says it, where the number of ranks is.
    void fold_batch() {
        const auto any = [](const Plan& plan) {
            return plan.parallel.data && plan.parallel.any_ranks;
        };
        if (any(a_) || any(b_) || a_.target.ranks != b_.target.ranks ||
            a_.training.batch_size != b_.training.batch_size)
            return;
        for (Settings* settings : {&before_, &after_})
            for (const char* path : {"training.batch_size", "training.global_batch_size"})
                settings->erase(path);
    }

    // As many samples an update, in more or fewer batches, are the same update.
    void same_update() {
        const auto samples = [](const Plan& plan) {
            return saturating_product({plan.training.batch_size, plan.training.accumulation});
        };
        const bool differ = a_.training.accumulation != b_.training.accumulation;
        if (!differ || samples(a_) != samples(b_)) return;
        const bool normed = sees_batch(a_) || sees_batch(b_);
        for (Change& change : changes_) {
            if (change.what != "training.batch_size" && change.what != "training.accumulation")
                continue;
            change.meaning = normed ? Meaning::mathematics : Meaning::performance;
            change.reason = normed
                                ? "an update has as many samples as before, but batch norm takes "
                                  "the statistics of each batch"
                                : "an update has as many samples as before";
        }
    }

    static bool sees_batch(const Plan& plan) {
        return std::any_of(plan.layers.begin(), plan.layers.end(),
                           [](const Layer& layer) { return layer_type(layer.type).sees_batch; });
    }

    // Schedules and metrics act each by itself: what came, what went, and which field of one that
    // is on both sides differs. Fields of those are compared under the place that they have in `b`.
    void match_members(const std::string& owner) {
        const Setting list_a = before_.at(owner), list_b = after_.at(owner);
        // A written list is chosen against every member of the other's, defaults included.
        const bool written = list_a.written || list_b.written;
        std::vector<ListMember> a = take_members(before_, owner), b = take_members(after_, owner);
        std::vector<std::size_t> places;
        for (const auto& [place_a, place_b] : paired(a, b)) {
            places.push_back(place_b);
            for (const auto& [field, setting] : a[place_a].fields)
                before_[member_path(owner, place_b, b[place_b].name) + "." + field] = setting;
            for (const auto& [field, setting] : b[place_b].fields)
                after_[member_path(owner, place_b, b[place_b].name) + "." + field] = setting;
            a[place_a].matched = b[place_b].matched = true;
        }
        for (std::size_t i = 0; i < a.size(); ++i)
            if (!a[i].matched)
                before_[member_path(owner, i, a[i].name)] = a[i].whole(list_a, written);
        for (std::size_t i = 0; i < b.size(); ++i)
            if (!b[i].matched)
                after_[member_path(owner, i, b[i].name)] = b[i].whole(list_b, written);
        if (std::is_sorted(places.begin(), places.end())) return;
        Change& change = add(Section::settings, owner, list_a, list_b);
        change.meaning = Meaning::performance;
        change.reason = "each does what it did, in another order";
    }

    Change& add(Section section, const std::string& path, const Setting& before,
                const Setting& after) {
        const Setting& labelled = after.value.empty() ? before : after;
        Change change{.section = section,
                      .action = before.value.empty()  ? Action::added
                                : after.value.empty() ? Action::removed
                                                      : Action::changed,
                      .what = path,
                      .before = before.value,
                      .after = after.value,
                      .meaning = labelled.meaning,
                      .reason = labelled.reason,
                      .chosen = before.written || after.written};
        if (path.ends_with("parallel.bucket_size") &&
            (depends_on_buckets(a_.parallel) || depends_on_buckets(b_.parallel))) {
            change.meaning = Meaning::mathematics;
            change.reason = "gradients are rounded or selected within an exchange";
        }
        // The path of a type that only one of the two has.
        if (change.meaning == Meaning::unread && (before.value.empty() || after.value.empty())) {
            change.meaning = Meaning::mathematics;
            change.reason = "the samples come from another source";
        }
        return changes_.emplace_back(std::move(change));
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
            Change& change = add(Section::settings, path, before, after);
            if (!change.chosen) change.reason = "the default is another one here";
        }
    }

    void target() {
        auto is_set = [&](const char* path) {
            auto s = before_.find(path), t = after_.find(path);
            return (s != before_.end()) != (t != after_.end()) ||
                   (s != before_.end() && s->second.value != t->second.value);
        };
        auto field = [&](const std::string& name, const auto& x, const auto& y, const char* reason,
                         Meaning meaning = Meaning::performance) -> Change* {
            if (x == y) return nullptr;
            return &add(Section::target, "target." + name, {json_text(x), true, meaning, reason},
                        {json_text(y), true, meaning, reason});
        };
        // A consequence of a setting, or of another machine, is not chosen.
        const auto follows = [](Change* change, bool because) {
            if (change && because) change->chosen = false;
        };
        const Target &s = a_.target, &t = b_.target;
        field("device", s.device, t.device, kRounding);
        follows(field("isa", s.isa, t.isa, kRounding), a_.machine.isa != b_.machine.isa);
        follows(field("threads", s.threads, t.threads, kRounding),
                is_set("threads") || a_.machine.cores != b_.machine.cores);
        follows(field("data_workers", s.data_workers, t.data_workers, kAnyWorker),
                is_set("data_workers"));
        follows(field("pin_threads", s.pin_threads, t.pin_threads, kAnywhere),
                is_set("pin_threads"));
        field("ranks", s.ranks, t.ranks,
              "a global batch is a batch of every rank; a job with `global_batch_size` gives each "
              "a smaller share instead",
              Meaning::mathematics);
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
            const auto side = [&](const Plan& plan, const std::string& shown) {
                const bool rounds = name == kFolds && plan.target.compute != Compute::full;
                return Setting{shown, chosen, rounds ? Meaning::mathematics : Meaning::performance,
                               rounds ? kRoundsFolded : kKeepMeaning};
            };
            Change& change =
                add(Section::passes, "compiler.passes." + name, side(a_, s), side(b_, t));
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
