#include "plan/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/diff_steps.hpp"
#include "plan/json_text.hpp"
#include "plan/meaning.hpp"
#include "plan/renamed_layers.hpp"
#include "plan/summary.hpp"

namespace dtnn::plan {

namespace {

class Comparison {
  public:
    Comparison(const Plan& a, const Plan& b) : a_(a), b_(b) {}

    std::vector<Change> run() {
        layers();
        parameters();
        settings();
        target();
        passes();
        programs();
        memory();
        work();
        return std::move(changes_);
    }

  private:
    void add(const char* section, std::string what, std::string before, std::string after,
             Meaning meaning, std::string_view reason) {
        if (before == after) return;
        changes_.push_back({section, std::move(what), std::move(before), std::move(after), meaning,
                            std::string(reason)});
    }

    // ---- Layers, by name.

    void layers() {
        std::map<std::string, const Layer*> before, after;
        for (const Layer& layer : a_.layers)
            before[layer.name] = &layer;
        for (const Layer& layer : b_.layers)
            after[layer.name] = &layer;
        for (const Layer& layer : a_.layers)
            if (!after.contains(layer.name))
                add("layers", layer.name, layer_text(layer), "", Meaning::mathematics,
                    "the layer is gone");
        for (const Layer& layer : b_.layers) {
            auto other = before.find(layer.name);
            if (other == before.end())
                add("layers", layer.name, "", layer_text(layer), Meaning::mathematics,
                    "the layer is new");
            else
                layer_changes(*other->second, layer);
        }
    }

    static std::string layer_text(const Layer& layer) {
        return fmt::format("{} {} -> {}", layer.type, json_text(layer.attributes),
                           json_text(layer.output_shape));
    }

    void layer_changes(const Layer& a, const Layer& b) {
        constexpr Meaning math = Meaning::mathematics;
        add("layers", a.name + ".type", a.type, b.type, math, "another operator");
        std::set<std::string> names;
        for (const auto* attributes : {&a.attributes, &b.attributes})
            for (const auto& [name, value] : *attributes)
                names.insert(name);
        auto text = [](const Attributes& attributes, const std::string& name) {
            auto found = attributes.find(name);
            return found == attributes.end() ? std::string() : json_text(found->second);
        };
        for (const std::string& name : names)
            add("layers", a.name + "." + name, text(a.attributes, name), text(b.attributes, name),
                math, "the operator computes something else");
        add("layers", a.name + " reads", json_text(a.from), json_text(b.from), math,
            "the layer has another input");
        add("layers", a.name + " output shape", json_text(a.output_shape),
            json_text(b.output_shape), math, "activations have another shape");
        add("layers", a.name + " weights shape", json_text(a.weights_shape),
            json_text(b.weights_shape), math, "weights have another shape");
        add("layers", a.name + " parameters", grouped(a.parameters), grouped(b.parameters), math,
            "the layer has another number of parameters");
    }

    // ---- Parameters, by name; those of layers that came or went are covered by the layers.

    void parameters() {
        std::int64_t totals[2] = {0, 0};
        std::map<std::string, const Parameter*> before, after;
        for (const Parameter& p : a_.parameters)
            before[p.name] = &p;
        for (const Parameter& p : b_.parameters)
            after[p.name] = &p;
        for (const auto& [plan, total] : {std::pair(&a_, &totals[0]), std::pair(&b_, &totals[1])})
            for (const Parameter& p : plan->parameters)
                if (!p.optimizer_state) *total += element_count(p.dims);
        add("parameters", "total", grouped(totals[0]), grouped(totals[1]), Meaning::mathematics,
            "the model has another number of parameters");
        for (const auto& [name, p] : before) {
            auto other = after.find(name);
            if (other == after.end()) continue;
            const Parameter& q = *other->second;
            add("parameters", name + ".initializer", initializer_text(*p), initializer_text(q),
                Meaning::mathematics, "training starts from other values");
            add("parameters", name + ".trainable", json_text(p->trainable), json_text(q.trainable),
                Meaning::mathematics, "it is trained in one of the two only");
            add("parameters", name + ".storage", storage_text(*p), storage_text(q),
                Meaning::performance, "the same elements stored in another order");
        }
    }

    static std::string initializer_text(const Parameter& p) {
        const Initializer& i = p.initializer;
        if (i.kind == "zeros" || i.kind == "ones") return i.kind;
        return fmt::format("{} fan_in {} fan_out {} stream {}", i.kind, i.fan_in, i.fan_out,
                           i.stream);
    }

    static std::string storage_text(const Parameter& p) {
        // Extents are compared with the layer; only the arrangement counts here.
        return fmt::format("{} of {} axes", json_text(p.order), p.physical_dims.size());
    }

    // ---- The resolved specs, by path. A plan without them (built by a test) is compared by its
    // own fields.

    void settings() {
        std::map<std::string, std::string> before, after;
        for (const ResolvedValue& value : a_.values)
            before[value.path] = value.value;
        for (const ResolvedValue& value : b_.values)
            after[value.path] = value.value;
        std::set<std::string> paths;
        for (const auto* list : {&before, &after})
            for (const auto& [path, value] : *list)
                paths.insert(path);
        auto text = [](const std::map<std::string, std::string>& values, const std::string& path) {
            auto found = values.find(path);
            return found == values.end() ? std::string() : found->second;
        };
        for (const std::string& path : paths) {
            // Layers are compared by name above; here an inserted one would shift all that follow.
            if (path.starts_with("model.layers")) continue;
            FieldMeaning meaning = meaning_of(path);
            add("settings", path, text(before, path), text(after, path), meaning.meaning,
                meaning.reason);
        }
        auto field = [&](const std::string& path, const auto& x, const auto& y) {
            if (before.contains(path) || after.contains(path)) return;
            FieldMeaning meaning = meaning_of(path);
            add("settings", path, json_text(x), json_text(y), meaning.meaning, meaning.reason);
        };
        const Training &s = a_.training, &t = b_.training;
        field("training.batch_size", s.batch_size, t.batch_size);
        field("training.epochs", s.epochs, t.epochs);
        field("training.seed", s.seed, t.seed);
        field("training.shuffle", s.shuffle, t.shuffle);
        field("training.validation_split", s.validation_split, t.validation_split);
        field("training.loss", s.loss, t.loss);
        field("training.metrics", s.metrics, t.metrics);
        // What the runtime goes by, however the specs wrote it.
        constexpr Meaning math = Meaning::mathematics;
        add("training", "learning rate", json_text(s.learning_rate), json_text(t.learning_rate),
            math, "updates have another size");
        add("training", "optimizer", s.optimizer + " " + json_text(s.optimizer_attributes),
            t.optimizer + " " + json_text(t.optimizer_attributes), math,
            "gradients become updates in another way");
        add("training", "steps per epoch", grouped(s.steps_per_epoch), grouped(t.steps_per_epoch),
            math, "an epoch has another number of updates");
        const Dataset &d = a_.dataset, &e = b_.dataset;
        add("dataset", "type", d.type, e.type, math, "the samples come from another source");
        add("dataset", "shape", json_text(d.shape), json_text(e.shape), math,
            "the samples have another shape");
        add("dataset", "training samples", grouped(d.train_samples), grouped(e.train_samples), math,
            "an epoch has another number of samples");
        add("dataset", "validation samples", grouped(d.validation_samples),
            grouped(e.validation_samples), math, "other samples are kept from training");
        add("dataset", "test samples", grouped(d.test_samples), grouped(e.test_samples), math,
            "the accuracy is measured on other samples");
        for (const auto& [name, value] : d.attributes)
            dataset_attribute(name);
        for (const auto& [name, value] : e.attributes)
            if (!d.attributes.contains(name)) dataset_attribute(name);
    }

    void dataset_attribute(const std::string& name) {
        std::string path = "dataset." + name;
        auto text = [&](const Attributes& attributes) {
            auto found = attributes.find(name);
            return found == attributes.end() ? std::string() : json_text(found->second);
        };
        bool listed = std::any_of(changes_.begin(), changes_.end(), [&](const Change& change) {
            return change.section == "settings" && change.what == path;
        });
        if (listed) return;
        FieldMeaning meaning = meaning_of(path);
        add("dataset", name, text(a_.dataset.attributes), text(b_.dataset.attributes),
            meaning.meaning, meaning.reason);
    }

    void target() {
        constexpr Meaning speed = Meaning::performance;
        const Target &s = a_.target, &t = b_.target;
        add("target", "device", s.device, t.device, speed, "the same values but for rounding");
        add("target", "dtype", name_of(s.dtype), name_of(t.dtype), Meaning::mathematics,
            "values are rounded to another precision");
        add("target", "isa", s.isa, t.isa, speed, "the same values but for rounding");
        add("target", "threads", std::to_string(s.threads), std::to_string(t.threads), speed,
            "the same values but for rounding");
        add("target", "ranks", std::to_string(s.ranks), std::to_string(t.ranks), speed,
            "ranks share the same global batch");
        add("generator", "version", a_.generator, b_.generator, speed,
            "another compiler may choose and arrange differently");
    }

    void passes() {
        auto is_on = [](const Plan& plan, const std::string& name) -> std::string {
            for (const std::string& pass : plan.passes) {
                if (pass == name) return "on";
                if (pass == "-" + name) return "off";
            }
            return "";
        };
        std::vector<std::string> names;
        for (const Plan* plan : {&a_, &b_})
            for (const std::string& pass : plan->passes) {
                std::string name = pass.starts_with("-") ? pass.substr(1) : pass;
                if (std::find(names.begin(), names.end(), name) == names.end())
                    names.push_back(name);
            }
        for (const std::string& name : names)
            add("passes", name, is_on(a_, name), is_on(b_, name), Meaning::performance,
                "passes keep the meaning of the graph");
    }

    // ---- Programs: batch sizes, fusion, kernels, work of steps.

    void programs() {
        for (const Program& program : a_.programs)
            if (!find_program(b_, program.name))
                add("programs", program.name, fmt::format("batch {}", program.batch), "",
                    Meaning::result, "batches of that size no longer occur");
        for (const Program& after : b_.programs) {
            const Program* before = find_program(a_, after.name);
            if (!before) {
                add("programs", after.name, "", fmt::format("batch {}", after.batch),
                    Meaning::result, "batches of that size did not occur");
                continue;
            }
            add("programs", after.name + ": batch", std::to_string(before->batch),
                std::to_string(after.batch), Meaning::result,
                "it follows from batch size and number of samples");
            for (const char* part : {"prologue", "steps"}) {
                bool prologue = part[0] == 'p';
                const auto& s = prologue ? before->prologue : before->steps;
                const auto& t = prologue ? after.prologue : after.steps;
                add("fusion", fmt::format("{}: {}", after.name, part), std::to_string(s.size()),
                    std::to_string(t.size()), Meaning::result,
                    "it follows from layers, loss, optimizer, metrics and fusion");
            }
        }
        for (Change& change : diff_steps(a_, b_))
            changes_.push_back(std::move(change));
    }

    void memory() {
        constexpr std::string_view reason = "it follows from shapes, lives and optimizer";
        const Memory &s = a_.memory, &t = b_.memory;
        auto bytes = [&](const char* what, std::int64_t x, std::int64_t y) {
            if (x != y)
                add("memory", what, grouped(x) + " bytes", grouped(y) + " bytes", Meaning::result,
                    reason);
        };
        bytes("arena", s.arena, t.arena);
        bytes("parameters", s.parameters, t.parameters);
        bytes("optimizer", s.optimizer, t.optimizer);
        bytes("inputs", s.inputs, t.inputs);
        bytes("transient", s.transient, t.transient);
        bytes("prepared batches", s.staging, t.staging);
    }

    void work() {
        constexpr std::string_view reason = "it follows from layers, batch size and fusion";
        Work s = work_of(a_), t = work_of(b_);
        auto number = [&](const char* what, std::int64_t x, std::int64_t y) {
            add("work", what, grouped(x), grouped(y), Meaning::result, reason);
        };
        number("forward, FLOP per sample", s.forward_flops_per_sample, t.forward_flops_per_sample);
        number("training step, FLOP", s.train_step_flops, t.train_step_flops);
        number("training step, bytes", s.train_step_bytes, t.train_step_bytes);
        number("evaluation step, FLOP", s.evaluate_step_flops, t.evaluate_step_flops);
        number("evaluation step, bytes", s.evaluate_step_bytes, t.evaluate_step_bytes);
        number("training step, kernels", s.train_steps, t.train_steps);
        number("evaluation step, kernels", s.evaluate_steps, t.evaluate_steps);
    }

    const Plan& a_;
    const Plan& b_;
    std::vector<Change> changes_;
};

}  // namespace

const char* label_of(Meaning meaning) {
    switch (meaning) {
        case Meaning::mathematics:
            return "changes the mathematics";
        case Meaning::performance:
            return "performance only";
        case Meaning::result:
            return "consequence";
        case Meaning::name:
            return "name only";
    }
    return "";
}

std::vector<Change> diff(const Plan& a, const Plan& b) {
    std::vector<Change> changes;
    const std::map<std::string, std::string> renamed = renamed_layers(a, b);
    for (const Layer& layer : a.layers)
        if (auto name = renamed.find(layer.name); name != renamed.end())
            changes.push_back({"layers", layer.name + " name", layer.name, name->second,
                               Meaning::name, "the same layer; weight files use its name"});
    std::vector<Change> others = renamed.empty()
                                     ? Comparison(a, b).run()
                                     : Comparison(with_layer_names(a, renamed), b).run();
    changes.insert(changes.end(), others.begin(), others.end());
    // Sections stand together, in the order in which each first appears.
    std::vector<std::string> sections;
    for (const Change& change : changes)
        if (std::find(sections.begin(), sections.end(), change.section) == sections.end())
            sections.push_back(change.section);
    std::stable_sort(changes.begin(), changes.end(), [&](const Change& x, const Change& y) {
        return std::find(sections.begin(), sections.end(), x.section) <
               std::find(sections.begin(), sections.end(), y.section);
    });
    return changes;
}

std::string diff_text(const std::vector<Change>& changes, const std::string& a,
                      const std::string& b) {
    if (changes.empty()) return fmt::format("{} and {} are the same plan\n", a, b);
    std::string text = fmt::format("--- {}\n+++ {}\n", a, b);
    std::size_t by_meaning[4] = {};
    std::string section;
    for (const Change& change : changes) {
        ++by_meaning[static_cast<int>(change.meaning)];
        if (change.section != section) {
            section = change.section;
            text += "\n" + section + "\n";
        }
        std::string values = change.before.empty()  ? "+ " + change.after
                             : change.after.empty() ? "- " + change.before
                                                    : change.before + " -> " + change.after;
        text += fmt::format("  {}: {}\n      {}: {}\n", change.what, values,
                            label_of(change.meaning), change.reason);
    }
    text += fmt::format("\n{} difference{}:", changes.size(), changes.size() == 1 ? "" : "s");
    const char* separator = " ";
    for (Meaning meaning :
         {Meaning::mathematics, Meaning::performance, Meaning::result, Meaning::name})
        if (std::size_t count = by_meaning[static_cast<int>(meaning)]) {
            text += fmt::format("{}{} {}", separator, count, label_of(meaning));
            separator = ", ";
        }
    return text + "\n";
}

std::string diff_json(const std::vector<Change>& changes) {
    bool mathematics = false;
    std::string list;
    for (const Change& change : changes) {
        mathematics = mathematics || change.meaning == Meaning::mathematics;
        list += fmt::format(
            "{}\n  {{\"section\": {}, \"what\": {}, \"before\": {}, \"after\": {}, \"meaning\": "
            "{}, \"reason\": {}}}",
            list.empty() ? "" : ",", json_text(change.section), json_text(change.what),
            change.before.empty() ? "null" : json_text(change.before),
            change.after.empty() ? "null" : json_text(change.after),
            json_text(label_of(change.meaning)), json_text(change.reason));
    }
    return fmt::format(
        "{{\"version\": 1, \"same\": {}, \"changes_the_mathematics\": {},\n \"changes\": [{}]}}\n",
        changes.empty(), mathematics, list);
}

}  // namespace dtnn::plan
