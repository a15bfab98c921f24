// Random single edits of the zoo's networks: what a comparison says was chosen is exactly the edit,
// and everything else follows from it. The edits are made to a list of layers and fields that knows
// nothing of plans and comparisons, so what is expected is known without them.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json_text.hpp"
#include "plan/diff/diff.hpp"
#include "tests/diff/compile_job.hpp"
#include "tests/diff/edits.hpp"

namespace mutations_test {

using namespace dtnn;
using plan::Change;
using plan::Plan;

namespace {

constexpr int kWanted = 1100, kLeast = 1000, kLeastOfAKind = 20;
constexpr int kMostTries = 6000;
constexpr std::size_t kMostLayers = 90;

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
    return index < 0 ? "" : plan.layers[std::size_t(index)].name;
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
        if (plan::name_of(change.section) != expected.section)
            return fmt::format("another section: {}", plan::name_of(change.section));
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
                return json_text(plan.layers[std::size_t(index)].attributes.at(expected.field));
            };
            if (change.before != value(a, i) || change.after != value(b, j))
                return fmt::format("another value: {} -> {}", change.before, change.after);
        }
        if (expected.section == "connections" &&
            change.after != json_text(b.layers[std::size_t(j)].from))
            return "another source: " + change.after;
        if (expected.action == Action::renamed && change.after != json_text(told))
            return "another name: " + change.after;
        return "";
    }

    // The former place of the layer of `b` with this name: that of its id.
    int moved_from(const std::string& name) const {
        int j = index_of(b, name);
        return j < 0 ? -1 : before.index_of(after.layers[std::size_t(j)].id);
    }

    // Every shape that differs is told with the right one, and no other.
    std::string check_shapes(const std::vector<Change>& changes) const {
        if (!after.names) return "";
        std::set<std::string> differing, told;
        for (const EditedLayer& layer : after.layers) {
            int i = before.index_of(layer.id), j = after.index_of(layer.id);
            if (i < 0) continue;
            const plan::Layer &s = a.layers[std::size_t(i)], &t = b.layers[std::size_t(j)];
            if (s.output_shape != t.output_shape) differing.insert(t.name);
        }
        for (const Change& change : changes)
            if (change.section == plan::Section::shapes && change.what == "output shape")
                for (const std::string& name : change.members) {
                    told.insert(name);
                    int j = index_of(b, name);
                    if (j < 0 || json_text(b.layers[std::size_t(j)].output_shape) != change.after)
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

// Networks that are small enough to compile often, with written names and with made ones.
std::vector<Base> bases(const std::filesystem::path& home) {
    std::vector<std::filesystem::path> files;
    for (const auto& item : std::filesystem::recursive_directory_iterator(home / "specs/models"))
        if (item.path().extension() == ".yaml") files.push_back(item.path());
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.filename() < b.filename(); });
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
        // Edited jobs are of samples without a name that get a class.
        if (model->layers.back().output_shape.size() != 1 ||
            model->layers.front().from != std::vector<std::string>{"input"})
            continue;
        for (bool names : {true, false}) {
            Base base{file.stem().string(), EditedJob::of(*model, names), {}};
            base.job.dataset["classes"] = std::to_string(model->layers.back().output_shape.front());
            SpecFolder::write("base.yaml", base.job.text());
            std::optional<Plan> plan = compile_job("base.yaml", error);
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
    for (const auto& one : compared) {
        const auto& kind = one.first;
        const auto& count = one.second;
        counts += fmt::format(" {} {},", kind, count);
        CHECK_MESSAGE(count >= kLeastOfAKind, kind);
    }
    MESSAGE(total << " edits of " << models.size() << " models compared:" << counts << " of "
                  << settings.size() << " settings");
    CHECK(total >= kLeast);
    CHECK(compared.size() == 7);
    CHECK(settings.size() == count_setting_edits());
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
                // The made dataset of a model alone follows its classes.
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

}  // namespace mutations_test
