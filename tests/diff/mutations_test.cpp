// Random single edits of the zoo's networks: what a comparison says was chosen is exactly the edit,
// and everything else follows from it. The edits are made to a list of layers and fields that knows
// nothing of plans and comparisons, so what is expected is known without them.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <set>

#include "compiler/ops/op.hpp"
#include "plan/diff.hpp"
#include "plan/diff_words.hpp"
#include "plan/json_text.hpp"
#include "tests/diff/compile_job.hpp"
#include "tests/diff/edited_job.hpp"

using namespace dtnn;
using plan::Action;
using plan::Change;
using plan::Meaning;
using plan::Plan;

namespace {

constexpr int kWanted = 700, kLeast = 500, kLeastOfAKind = 30;
constexpr int kMostTries = 6000;
constexpr std::size_t kMostLayers = 120;
constexpr std::chrono::milliseconds kQuick{150};

class Random {
  public:
    std::size_t below(std::size_t count) { return engine_() % count; }
    bool coin() { return below(2) == 0; }
    template <class T>
    const T& one_of(const std::vector<T>& list) {
        return list[below(list.size())];
    }

  private:
    std::mt19937 engine_{20260101};
};

// What the edit is, in the words of a change.
struct Expected {
    std::string kind;  ///< of edit, for the counts
    std::string section;
    Action action = Action::changed;
    std::string what;   ///< empty: not checked
    int id = -1;        ///< the layer that it is about; -1: none
    std::string field;  ///< of that layer
    Meaning meaning = Meaning::mathematics;
    bool neighbours = false;  ///< the layer before or after may as well be the one that moved
};

struct Edit {
    EditedJob job;
    Expected expected;
};

using MaybeEdit = std::optional<Edit>;

// ---- Edits. Each may find nothing to do, or make a spec that is refused; then another is drawn.

std::optional<plan::AttributeValue> another_value(const compiler::Field& field,
                                                  const plan::AttributeValue& old, Random& random) {
    using compiler::FieldType;
    auto positive = [&](std::int64_t value) {
        const std::vector<std::int64_t> candidates = {value + 1, value - 1, value * 2, value / 2};
        std::int64_t chosen = random.one_of(candidates);
        auto least = static_cast<std::int64_t>(field.minimum.value_or(0));
        return std::max(chosen, least);
    };
    switch (field.type) {
        case FieldType::boolean:
            return !std::get<bool>(old);
        case FieldType::integer:
            return positive(std::get<std::int64_t>(old));
        case FieldType::real: {
            double value = std::get<double>(old) * (random.coin() ? 0.5 : 1.25);
            return value == 0 ? 0.125 : value;
        }
        case FieldType::choice: {
            std::string_view choice = random.one_of(field.choices);
            return std::string(choice);
        }
        case FieldType::integer_pair: {
            auto pair = std::get<std::vector<std::int64_t>>(old);
            std::int64_t& side = pair[random.below(pair.size())];
            side = positive(side);
            return pair;
        }
        case FieldType::padding: {
            // One more row above than below: neither valid nor same comes to that.
            auto below = static_cast<std::int64_t>(random.below(2));
            std::int64_t left = static_cast<std::int64_t>(random.below(3));
            return std::vector<std::int64_t>{below + 2, below, left, left};
        }
        default:
            return std::nullopt;
    }
}

MaybeEdit edit_field(EditedJob job, Random& random) {
    EditedLayer& layer = job.layers[random.below(job.layers.size())];
    const compiler::OpDef* op = compiler::find_op(layer.type);
    if (!op || op->fields.empty()) return std::nullopt;
    const compiler::Field& field = random.one_of(op->fields);
    const std::string name(field.name);
    if (!layer.fields.contains(name)) return std::nullopt;
    const auto value = another_value(field, layer.fields.at(name), random);
    if (!value || *value == layer.fields.at(name)) return std::nullopt;
    layer.fields[name] = *value;
    Expected expected{"field", "layers", Action::changed, layer.type + "." + name, layer.id, name};
    return Edit{std::move(job), std::move(expected)};
}

EditedLayer new_layer(const EditedJob& job, Random& random) {
    EditedLayer layer;
    layer.id = job.fresh_id();
    layer.name = fmt::format("new-{}", layer.id);
    layer.type = random.one_of(
        std::vector<std::string>{"relu", "tanh", "sigmoid", "dropout", "batch_norm", "conv2d"});
    if (layer.type == "dropout") layer.fields["rate"] = 0.125;
    if (layer.type == "conv2d") {
        layer.fields["filters"] = static_cast<std::int64_t>(1 + random.below(32));
        layer.fields["kernel"] = std::int64_t{1};
    }
    return layer;
}

MaybeEdit insert(EditedJob job, Random& random) {
    const std::size_t at = random.below(job.layers.size());
    if (!job.chained(at)) return std::nullopt;
    EditedLayer layer = new_layer(job, random);
    layer.sources = job.layers[at].sources;
    job.layers[at].sources = {layer.id};
    Expected expected{"insert", "layers", Action::added, layer.type, layer.id, ""};
    job.layers.insert(job.layers.begin() + static_cast<std::ptrdiff_t>(at), std::move(layer));
    return Edit{std::move(job), std::move(expected)};
}

MaybeEdit remove(EditedJob job, Random& random) {
    const std::size_t at = random.below(job.layers.size() - 1);
    const EditedLayer layer = job.layers[at];
    if (layer.sources.size() != 1) return std::nullopt;
    // Its name would be needed for the layer before it: another edit.
    for (std::size_t reader : job.readers(layer.id))
        if (!job.names && !job.chained(reader)) return std::nullopt;
    for (std::size_t reader : job.readers(layer.id))
        std::replace(job.layers[reader].sources.begin(), job.layers[reader].sources.end(), layer.id,
                     layer.sources[0]);
    job.layers.erase(job.layers.begin() + static_cast<std::ptrdiff_t>(at));
    return Edit{std::move(job), {"remove", "layers", Action::removed, layer.type, layer.id, ""}};
}

MaybeEdit rename(EditedJob job, Random& random) {
    EditedLayer& layer = job.layers[random.below(job.layers.size())];
    layer.name = fmt::format("renamed-{}", random.below(1000));
    // What other layers need has a name anyway; then the edit is to write another one.
    layer.keeps_name = true;
    Expected expected{"rename", "layers", Action::renamed,     "name",
                      layer.id, "",       Meaning::performance};
    return Edit{std::move(job), std::move(expected)};
}

// Takes a layer out of a chain and puts it behind one that follows.
MaybeEdit move(EditedJob job, Random& random) {
    const std::size_t from = random.below(job.layers.size() - 1);
    const std::size_t to = from + 1 + random.below(4);
    if (to + 1 >= job.layers.size()) return std::nullopt;
    for (std::size_t i = from; i <= to + 1; ++i)
        if (!job.chained(i)) return std::nullopt;
    // Nobody else reads what changes its place in the chain.
    for (std::size_t i = from; i <= to; ++i)
        if (job.readers(job.layers[i].id).size() != 1) return std::nullopt;
    auto is_equal = [](const EditedLayer& s, const EditedLayer& t) {
        return s.type == t.type && s.fields == t.fields;
    };
    const EditedLayer layer = job.layers[from];
    for (std::size_t i = from + 1; i <= to; ++i)
        if (is_equal(layer, job.layers[i])) return std::nullopt;
    const int before = layer.sources[0];
    auto begin = job.layers.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(from),
                begin + static_cast<std::ptrdiff_t>(from) + 1,
                begin + static_cast<std::ptrdiff_t>(to) + 1);
    for (std::size_t i = from; i <= to + 1; ++i)
        job.layers[i].sources = {i == from ? before : job.layers[i - 1].id};
    Expected expected{"move", "layers", Action::moved, "", layer.id, ""};
    expected.neighbours = to == from + 1;
    return Edit{std::move(job), std::move(expected)};
}

// Of all the sources that could be another layer of the same shape, one. The old source must still
// be read, or it would be no part of the network. Without names the edit would also give and take
// some.
MaybeEdit retarget(EditedJob job, Random& random) {
    if (!job.names) return std::nullopt;
    struct Candidate {
        std::size_t layer, slot;
        int source;
    };
    std::vector<Candidate> candidates;
    for (std::size_t at = 1; at < job.layers.size(); ++at) {
        const std::vector<int>& sources = job.layers[at].sources;
        for (std::size_t slot = 0; slot < sources.size(); ++slot) {
            const int old = job.index_of(sources[slot]);
            if (old < 0 || job.readers(sources[slot]).size() < 2) continue;
            for (std::size_t other = 0; other < at; ++other) {
                const EditedLayer& layer = job.layers[other];
                if (layer.shape == job.layers[static_cast<std::size_t>(old)].shape &&
                    std::count(sources.begin(), sources.end(), layer.id) == 0)
                    candidates.push_back({at, slot, layer.id});
            }
        }
    }
    if (candidates.empty()) return std::nullopt;
    const Candidate& candidate = random.one_of(candidates);
    EditedLayer& layer = job.layers[candidate.layer];
    layer.sources[candidate.slot] = candidate.source;
    Expected expected{"retarget", "connections", Action::changed, "from", layer.id, ""};
    return Edit{std::move(job), std::move(expected)};
}

struct SettingEdit {
    const char *kind, *field;
    std::vector<std::string> values;
    Meaning meaning = Meaning::mathematics;
};

const std::vector<SettingEdit>& setting_edits() {
    constexpr Meaning kSpeed = Meaning::performance;
    static const std::vector<SettingEdit> edits = {
        {"job", "name", {"other", "another"}, kSpeed},
        {"job", "threads", {"1", "3", "4"}, kSpeed},
        {"job", "memory_budget", {"32GiB", "48GiB"}, kSpeed},
        {"dataset", "name", {"others"}, kSpeed},
        {"dataset", "train_samples", {"60", "128", "1000"}},
        {"dataset", "test_samples", {"8", "100"}},
        {"dataset", "seed", {"0", "4"}},
        {"training", "name", {"long"}, kSpeed},
        {"training", "loss", {"mean_squared_error"}},
        {"training", "metrics", {"[]"}, kSpeed},
        {"training", "epochs", {"1", "3", "50"}},
        {"training", "batch_size", {"4", "7", "16", "32"}},
        {"training", "validation_split", {"0.25", "0.1"}},
        {"training", "shuffle", {"false"}},
        {"training", "seed", {"6", "99"}},
        {"training", "dtype", {"f64"}},
        {"training", "steps_per_epoch", {"2", "4"}},
        {"training", "optimizer.learning_rate", {"0.02", "1e-3"}},
        {"training", "optimizer.momentum", {"0.8", "0.0"}},
        {"training", "optimizer.nesterov", {"true"}},
        {"training", "optimizer.weight_decay", {"1e-4"}},
        {"training", "optimizer", {"adam"}},
    };
    return edits;
}

MaybeEdit edit_setting(EditedJob job, Random& random) {
    const SettingEdit& edit = random.one_of(setting_edits());
    const std::string kind = edit.kind, field = edit.field;
    const std::string& value = random.one_of(edit.values);
    Expected expected{"setting", "settings", Action::changed, "", -1, "", edit.meaning};
    expected.what = kind == "job" ? field : kind + "." + field;
    if (field == "optimizer") {
        job.optimizer = value;
        std::erase_if(job.training, [](const auto& item) {
            return item.first.starts_with("optimizer.") &&
                   item.first != "optimizer.learning_rate" &&
                   item.first != "optimizer.weight_decay";
        });
        return Edit{std::move(job), std::move(expected)};
    }
    if (field.starts_with("optimizer."))
        expected.what = "training.optimizer." + job.optimizer + "." + field.substr(10);
    (kind == "job" ? job.job : kind == "dataset" ? job.dataset : job.training)[field] = value;
    return Edit{std::move(job), std::move(expected)};
}

// ---- What is held against each other.

// Whether without these two layers both networks are the same list: then an edit may as well have
// been about them, when made names do not tell.
bool equal_without(const Plan& a, int i, const Plan& b, int j, bool names) {
    std::vector<const plan::Layer*> s, t;
    for (const plan::Layer& layer : a.layers)
        if (layer.index != i) s.push_back(&layer);
    for (const plan::Layer& layer : b.layers)
        if (layer.index != j) t.push_back(&layer);
    return std::equal(s.begin(), s.end(), t.begin(), t.end(),
                      [&](const plan::Layer* x, const plan::Layer* y) {
                          return x->type == y->type && x->attributes == y->attributes &&
                                 (!names || x->name == y->name);
                      });
}

int index_of(const Plan& plan, const std::string& name) {
    for (const plan::Layer& layer : plan.layers)
        if (layer.name == name) return layer.index;
    return -1;
}

std::string name_at(const Plan& plan, int index) {
    return index < 0 ? "" : plan.layers[static_cast<std::size_t>(index)].name;
}

struct Comparison {
    const EditedJob& before;
    const EditedJob& after;
    const Plan& a;
    const Plan& b;
    const Expected& expected;

    // Empty, or what is wrong.
    std::string check_chosen(const std::vector<Change>& changes) const {
        std::vector<const Change*> chosen;
        for (const Change& change : changes)
            if (change.chosen) chosen.push_back(&change);
        if (chosen.size() != 1) return fmt::format("{} facts are chosen", chosen.size());
        const Change& change = *chosen[0];
        if (change.section != expected.section) return "another section: " + change.section;
        if (change.action != expected.action)
            return fmt::format("another action: {}", plan::name_of(change.action));
        if (!expected.what.empty() && change.what != expected.what)
            return "another fact: " + change.what;
        if (change.meaning != expected.meaning)
            return fmt::format("labelled `{}`", plan::label_of(change.meaning));
        if (plan::changes_mathematics(changes) != (expected.meaning == Meaning::mathematics))
            return "a consequence has another label than what was chosen";
        return expected.id < 0 ? "" : check_layer(change);
    }

    std::string check_layer(const Change& change) const {
        if (change.members.size() != 1)
            return fmt::format("{} layers are told", change.members.size());
        const bool removed = expected.action == Action::removed;
        const int i = before.index_of(expected.id), j = after.index_of(expected.id);
        const std::string name = removed ? name_at(a, i) : name_at(b, j);
        const std::string& told = change.members[0];
        if (told != name) {
            // The same edit, told of an equal neighbour.
            const bool placed = expected.action == Action::added || removed;
            int s = removed ? index_of(a, told) : expected.action == Action::moved ? -2 : -1;
            int t = removed ? -1 : index_of(b, told);
            if (s == -2) s = expected.neighbours || !after.names ? moved_from(told) : -1;
            if (!(placed && !after.names) && expected.action != Action::moved)
                return "another layer: " + told;
            if (s < 0 && t < 0) return "no such layer: " + told;
            if (!equal_without(a, s, b, t, false)) return "another layer: " + told;
            return "";
        }
        if (!expected.field.empty()) {
            auto value = [&](const Plan& plan, int index) {
                return plan::json_text(
                    plan.layers[static_cast<std::size_t>(index)].attributes.at(expected.field));
            };
            if (change.before != value(a, i) || change.after != value(b, j))
                return fmt::format("another value: {} -> {}", change.before, change.after);
        }
        if (expected.section == "connections" &&
            change.after != plan::json_text(b.layers[static_cast<std::size_t>(j)].from))
            return "another source: " + change.after;
        if (expected.action == Action::renamed && change.after != plan::json_text(told))
            return "another name: " + change.after;
        return "";
    }

    // Where the layer of `b` with this name was: the one of its id.
    int moved_from(const std::string& name) const {
        int j = index_of(b, name);
        return j < 0 ? -1 : before.index_of(after.layers[static_cast<std::size_t>(j)].id);
    }

    // Every shape that differs is told with the right one, and no other.
    std::string check_shapes(const std::vector<Change>& changes) const {
        if (!after.names) return "";
        std::set<std::string> differing, told;
        for (const EditedLayer& layer : after.layers) {
            int i = before.index_of(layer.id), j = after.index_of(layer.id);
            if (i < 0) continue;
            const plan::Layer &s = a.layers[static_cast<std::size_t>(i)],
                              &t = b.layers[static_cast<std::size_t>(j)];
            if (s.output_shape != t.output_shape) differing.insert(t.name);
        }
        for (const Change& change : changes)
            if (change.section == "shapes" && change.what == "output shape")
                for (const std::string& name : change.members) {
                    told.insert(name);
                    int j = index_of(b, name);
                    if (j < 0 ||
                        plan::json_text(b.layers[static_cast<std::size_t>(j)].output_shape) !=
                            change.after)
                        return "another shape: " + name;
                }
        return told == differing
                   ? ""
                   : fmt::format("{} shapes differ, {} are told", differing.size(), told.size());
    }
};

struct Base {
    std::string model;
    EditedJob job;
    Plan plan;
};

// Networks that compile quickly, with written names and with made ones.
std::vector<Base> bases(const std::filesystem::path& home) {
    std::vector<std::filesystem::path> files;
    for (const auto& item : std::filesystem::directory_iterator(home / "specs/models"))
        if (item.path().extension() == ".yaml") files.push_back(item.path());
    std::sort(files.begin(), files.end());
    std::vector<Base> bases;
    for (const auto& file : files) {
        // Copied, because a spec finds what it extends beside itself.
        std::filesystem::copy_file(file, file.filename());
    }
    for (const auto& file : files) {
        std::string error;
        if (count_layers(file.filename().string()) > kMostLayers) continue;
        std::optional<Plan> model = compile_job(file.filename().string(), error);
        REQUIRE_MESSAGE(model, file.string() << "\n" << error);
        if (model->layers.back().output_shape.size() != 1) continue;
        for (bool names : {true, false}) {
            Base base{file.stem().string(), EditedJob::of(*model, names), {}};
            base.job.dataset["classes"] = std::to_string(model->layers.back().output_shape.front());
            SpecFolder::write("base.yaml", base.job.text());
            auto start = std::chrono::steady_clock::now();
            std::optional<Plan> plan = compile_job("base.yaml", error);
            if (std::chrono::steady_clock::now() - start > kQuick) break;
            REQUIRE_MESSAGE(plan, base.model << "\n" << error << base.job.text());
            base.plan = std::move(*plan);
            bases.push_back(std::move(base));
        }
    }
    return bases;
}

}  // namespace

TEST_CASE("mutations: what is told as chosen is exactly the edit") {
    using MakeEdit = MaybeEdit (*)(EditedJob, Random&);
    // More often what there is the most of, and what is refused the most.
    const std::vector<MakeEdit> edits = {
        edit_field, edit_field, edit_field, edit_field, edit_field, retarget,     retarget,
        retarget,   insert,     remove,     rename,     move,       edit_setting, edit_setting};
    SpecFolder folder("dtnn_mutations");
    const std::vector<Base> networks = bases(folder.home());
    REQUIRE(networks.size() >= 8);
    Random random;
    std::map<std::string, int> compared;
    std::set<std::string> settings, models;
    int total = 0;
    for (int tries = 0; tries < kMostTries && total < kWanted; ++tries) {
        const Base& base = random.one_of(networks);
        MaybeEdit edit = random.one_of(edits)(base.job, random);
        if (!edit) continue;
        const std::string text = edit->job.text();
        SpecFolder::write("base.yaml", text);
        std::string error;
        std::optional<Plan> plan;
        try {
            plan = compile_job("base.yaml", error);
        } catch (const std::exception& failure) {
            FAIL_CHECK(failure.what() << "\n" << text);
            continue;
        }
        if (!plan) continue;
        const std::vector<Change> changes = plan::diff(base.plan, *plan);
        const Comparison comparison{base.job, edit->job, base.plan, *plan, edit->expected};
        std::string wrong = comparison.check_chosen(changes);
        if (wrong.empty()) wrong = comparison.check_shapes(changes);
        CHECK_MESSAGE(wrong.empty(), edit->expected.kind
                                         << " in " << base.model
                                         << std::string(base.job.names ? " with" : " without")
                                         << " names"
                                         << ": " << wrong << "\n"
                                         << plan::diff_text(changes, "a", "b"));
        CHECK(plan::diff(*plan, *plan).empty());
        ++compared[edit->expected.kind];
        if (edit->expected.kind == "setting") settings.insert(edit->expected.what);
        models.insert(base.model);
        ++total;
    }
    std::string counts;
    for (const auto& [kind, count] : compared) {
        counts += fmt::format(" {} {},", kind, count);
        CHECK_MESSAGE(count >= kLeastOfAKind, kind);
    }
    MESSAGE(total << " edits of " << models.size() << " models compared:" << counts << " of "
                  << settings.size() << " settings");
    CHECK(total >= kLeast);
    CHECK(compared.size() == 7);
    CHECK(settings.size() == setting_edits().size());
}

TEST_CASE("mutations: a parameter of a model is chosen, the layers that it makes are not") {
    SpecFolder folder("dtnn_parameters");
    int compared = 0;
    std::set<std::string> models;
    for (const Base& base : bases(folder.home())) {
        if (!base.job.names) continue;
        std::string error;
        const std::string file = base.model + ".yaml";
        const std::optional<Plan> before = compile_job(file, error);
        REQUIRE_MESSAGE(before, error);
        for (const plan::ResolvedValue& value : before->values) {
            constexpr std::string_view kPrefix = "model.parameters.";
            if (!value.path.starts_with(kPrefix)) continue;
            const std::string name = value.path.substr(kPrefix.size());
            if (value.value.find_first_not_of("0123456789") != std::string::npos) continue;
            const int number = std::stoi(value.value) + 1;
            SpecFolder::write("edited.yaml",
                              fmt::format("kind: model\nname: {}\nextends: ./{}\nparameters: "
                                          "{{{}: {}}}\n",
                                          before->model, file, name, number));
            const std::optional<Plan> after = compile_job("edited.yaml", error);
            if (!after) continue;
            const std::vector<Change> changes = plan::diff(*before, *after);
            std::vector<std::string> chosen;
            bool differ = before->layers.size() != after->layers.size();
            for (std::size_t i = 0; i < before->layers.size() && !differ; ++i)
                differ = before->layers[i].attributes != after->layers[i].attributes;
            for (const Change& change : changes)
                // Of a model alone the made dataset follows its classes.
                if (change.chosen && change.what != "name" &&
                    !change.what.starts_with("dataset.")) {
                    chosen.push_back(change.what);
                    CHECK((change.meaning == Meaning::mathematics) == differ);
                }
            CHECK_MESSAGE(chosen == std::vector<std::string>{value.path},
                          base.model << ": " << plan::diff_text(changes, "a", "b"));
            models.insert(base.model);
            ++compared;
        }
    }
    MESSAGE(compared << " parameters of " << models.size() << " models compared");
    CHECK(compared >= 10);
}

TEST_CASE("a spec does not differ from its resolved document, nor when it is written otherwise") {
    SpecFolder folder("dtnn_resolved");
    for (const Base& base : bases(folder.home())) {
        CAPTURE(base.model);
        SpecFolder::write("base.yaml", base.job.text());
        std::string error;
        SpecFolder::write("resolved.yaml", resolve_job("base.yaml"));
        std::optional<Plan> resolved = compile_job("resolved.yaml", error);
        REQUIRE_MESSAGE(resolved, error);
        std::vector<Change> changes = plan::diff(base.plan, *resolved);
        CHECK_MESSAGE(changes.empty(), plan::diff_text(changes, "spec", "resolved"));
        // The model's own file, with its blocks, and what it resolves to.
        std::optional<Plan> model = compile_job(base.model + ".yaml", error);
        REQUIRE_MESSAGE(model, error);
        SpecFolder::write("resolved.yaml", resolve_job(base.model + ".yaml"));
        std::optional<Plan> flat = compile_job("resolved.yaml", error);
        REQUIRE_MESSAGE(flat, error);
        changes = plan::diff(*model, *flat);
        CHECK_MESSAGE(changes.empty(), plan::diff_text(changes, "model", "resolved"));
    }
}
