#include "compiler/frontend/read/resolved.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/json_text.hpp"
#include "compiler/frontend/datasets/table_columns.hpp"
#include "compiler/frontend/expand/expansion_sharing.hpp"
#include "compiler/frontend/read/quantity.hpp"
#include "compiler/frontend/read/scalars.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {
namespace {

using Spans = std::map<std::string, Span>;

bool is_zero(const AttributeValue& value) {
    return std::visit(
        [](const auto& content) { return content == std::decay_t<decltype(content)>(); }, value);
}

std::string quoted(const std::string& text) {
    return json_text(text);
}

/// "[a, b]": every one of them in that form.
template <class T, class Form>
std::string list_of(const std::vector<T>& all, Form form) {
    std::string text;
    for (const T& one : all)
        text += (text.empty() ? "" : ", ") + form(one);
    return "[" + text + "]";
}

/// Writes the list of values and the document side by side, so that they cannot disagree.
class Writer {
  public:
    explicit Writer(JobSpec& job) : job_(job) {}

    void write() {
        // The dataset and the training of a model alone are made to fit it, again and the same from
        // its own document; their values are known all the same.
        const bool alone = job_.model_alone && !set_beyond_model();
        text_ = "kind: job\n";
        field("", "", "name", job_.name, job_.spans);
        if (job_.threads > 0) field("", "", "threads", std::int64_t{job_.threads}, job_.spans);
        field("", "", "data_workers", std::int64_t{job_.data_workers}, job_.spans);
        field("", "", "pin_threads", job_.pin_threads, job_.spans);
        if (job_.memory_budget > 0)
            quantity("", "", "memory_budget", "bytes", double(job_.memory_budget), job_.spans);
        if (job_.spans.contains("kernels")) {
            text_ += "kernels:\n";
            field("  ", "kernels.", "prefer", std::string(name_of(job_.prefer)),
                  own_spans("kernels."));
        }
        if (job_.prompts > 0) {
            text_ += "generation:\n";
            field("  ", "generation.", "prompts", job_.prompts, own_spans("generation."));
        }
        parallel();
        text_ = alone ? "kind: model\n" : text_ + "model:\n";
        model(alone ? "" : "  ");
        std::string document = text_;
        dataset();
        training();
        machine();
        job_.resolved_text = alone ? std::move(document) : std::move(text_);
    }

  private:
    /// Of the fields of a record of the job, by their own names.
    Spans own_spans(const std::string& prefix) const {
        Spans own;
        for (const auto& [name, span] : job_.spans)
            if (name.starts_with(prefix)) own[name.substr(prefix.size())] = span;
        return own;
    }

    /// Whether the command line set something outside the model.
    bool set_beyond_model() const {
        for (const Spans* spans : {&job_.spans, &job_.dataset.spans, &job_.training.spans,
                                   &job_.parallel.spans, &job_.machine.spans})
            for (const auto& [name, span] : *spans)
                if (span.place.file.starts_with("--set ") &&
                    !(spans == &job_.spans && name == "model"))
                    return true;
        return false;
    }

    void value(const std::string& path, std::string json, const std::string& key,
               const Spans& spans) {
        plan::ResolvedValue resolved{path, std::move(json), plan::OriginKind::fallback, {}};
        if (const Field* row = field_of_path(path)) {
            resolved.meaning = row->change.meaning;
            resolved.reason = row->change.reason;
        }
        if (const auto found = spans.find(key); found != spans.end()) {
            resolved.place = found->second.place;
            resolved.origin = resolved.place.file.starts_with("--set ")
                                  ? plan::OriginKind::command_line
                                  : plan::OriginKind::file;
        }
        job_.values.push_back(std::move(resolved));
    }

    void field(const std::string& indent, const std::string& prefix, const std::string& key,
               const AttributeValue& content, const Spans& spans) {
        text_ += fmt::format("{}{}: {}\n", indent, key, yaml_value(content));
        value(prefix + key, to_json(content), key, spans);
    }

    /// A number with its unit, in the text of a spec and of the values alike.
    void quantity(const std::string& indent, const std::string& prefix, const std::string& key,
                  std::string_view unit, double content, const Spans& spans) {
        const std::string text = quantity_text(content, unit);
        text_ += fmt::format("{}{}: {}\n", indent, key, text);
        value(prefix + key, json_text(text), key, spans);
    }

    /// Only in jobs that have it: how many ranks there are may be said by the command line.
    void parallel() {
        const ParallelSpec& spec = job_.parallel;
        if (!spec.given) return;
        text_ += "parallel:\n";
        const std::string prefix = "parallel.";
        if (!spec.data.empty()) {
            const auto number = parse_integer(spec.data).value;
            field("  ", prefix, "data",
                  number ? AttributeValue(*number) : AttributeValue(spec.data), spec.spans);
        }
        members("  ", prefix, parallel_table(), job_.parallel, "", spec.spans);
    }

    /// A row that was left out: it is zero or empty, and either may be absent or cannot be so.
    static bool is_left_out(const Field& row, const AttributeValue& content) {
        return is_zero(content) &&
               (row.optional || !row.fallback || (row.minimum && *row.minimum > 0));
    }

    /// The rows that fill a member of `spec`, and the records among them, of which `gpus` has lines
    /// of its own. `path` is where the table is below `prefix`: "gpus.".
    void members(const std::string& indent, const std::string& prefix, const FieldTable& table,
                 SpecReference spec, const std::string& path, const Spans& spans) {
        for (const Field& row : table)
            member(indent, prefix, row, spec, path, spans);
    }

    void member(const std::string& indent, const std::string& prefix, const Field& row,
                SpecReference spec, const std::string& path, const Spans& spans) {
        const std::string key = path + std::string(row.name);
        if (row.type == FieldType::record && !is_absent(*row.fields, spec)) {
            if (row.fields == &gpus_table()) {
                text_ += fmt::format("{}{}:\n", indent, row.name);
                members(indent + "  ", prefix, *row.fields, spec, key + ".", spans);
            } else {
                text_ += fmt::format("{}{}: {{{}}}\n", indent, row.name,
                                     record_fields(prefix, *row.fields, spec, key + ".", spans));
            }
        }
        if (!row.member) return;
        const AttributeValue content = row.member.value(spec);
        if (is_left_out(row, content)) return;
        const WrittenValue written = written_member(row, content);
        text_ += fmt::format("{}{}: {}\n", indent, row.name, written.yaml);
        value(prefix + key, written.json, key, spans);
    }

    /// Whether none of a record's fields says anything, or one that must be given is not.
    static bool is_absent(const FieldTable& table, SpecReference spec) {
        bool said = false;
        for (const Field& row : table) {
            if (!row.member) continue;
            const AttributeValue content = row.member.value(spec);
            if (is_left_out(row, content) && !row.optional && !row.fallback) return true;
            said = said || !is_zero(content);
        }
        return !said;
    }

    /// A record's fields as the inside of a flow map.
    std::string record_fields(const std::string& prefix, const FieldTable& table,
                              SpecReference spec, const std::string& path, const Spans& spans) {
        std::string text;
        for (const Field& row : table) {
            if (!row.member) continue;
            const AttributeValue content = row.member.value(spec);
            if (is_left_out(row, content)) continue;
            const std::string key = path + std::string(row.name);
            const WrittenValue written = written_member(row, content);
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", row.name, written.yaml);
            value(prefix + key, written.json, key, spans);
        }
        return text;
    }

    /// What is known of it.
    void machine() {
        const plan::Machine& machine = job_.machine.machine;
        if (machine.name.empty()) return;
        const Spans& spans = job_.machine.spans;
        const std::string prefix = "machine.";
        text_ += "machine:\n";
        field("  ", prefix, "name", machine.name, spans);
        members("  ", prefix, machine_table(), job_.machine, "", spans);
        if (!machine.slurm.empty())
            text_ += fmt::format("  slurm: {{{}}}\n", members_fields(prefix, "slurm", slurm_table(),
                                                                     machine.slurm, spans));
    }

    void model(const std::string& indent) {
        const ModelSpec& model = job_.model;
        field(indent, "model.", "name", model.name, model.spans);
        inputs(indent, model);
        operators(indent, model);
        text_ += fmt::format("{}layers:\n", indent);
        int previous = -1;
        for (const LayerSpec& one : model.layers)
            layer(indent + "  ", one, previous++);
    }

    /// Formulas that learn, which an expression alone does not say.
    void operators(const std::string& indent, const ModelSpec& model) {
        std::string text;
        for (const FormulaSpec& formula : model.operators)
            if (std::any_of(model.layers.begin(), model.layers.end(), [&](const LayerSpec& layer) {
                    return !layer.parameters.empty() && layer.formula == formula.name;
                }))
                text += fmt::format("{}  {}: {}\n", indent, formula.name, formula.declaration);
        if (!text.empty()) text_ += fmt::format("{}operators:\n{}", indent, text);
    }

    void inputs(const std::string& indent, const ModelSpec& model) {
        const bool named = !model.input().name.empty();
        if (named) text_ += fmt::format("{}inputs:\n", indent);
        for (const InputSpec& input : model.inputs) {
            const std::string key = named ? "inputs." + input.name : "input";
            text_ += fmt::format("{}{}: {{shape: {}", named ? indent + "  " : indent,
                                 named ? input.name : key, to_json(input.shape));
            const std::string path = "model." + key;
            value(path + ".shape", to_json(input.shape), key + ".shape", model.spans);
            axes(input, key, model.spans);
            if (input.integers()) {
                const std::string values = fmt::format("{}", input.values);
                part(path, "dtype", "i32", json_text("i32"), key + ".dtype", model.spans);
                part(path, "values", values, values, key + ".values", model.spans);
            }
            text_ += "}\n";
        }
    }

    /// The axes of an input where they are not the usual ones of so many extents.
    void axes(const InputSpec& input, const std::string& key, const Spans& spans) {
        const Axes usual = usual_axes(input.shape.size());
        if (std::equal(input.axes.begin(), input.axes.end(), usual.begin() + 1, usual.end()))
            return;
        std::vector<std::string> kinds;
        for (const AxisKind kind : input.axes)
            kinds.emplace_back(name_of(kind));
        names("model." + key, "axes", kinds, key + ".axes", spans);
    }

    /// A field of a line, as YAML and as JSON; `said` is its place among the spans.
    void part(const std::string& path, const std::string& key, const std::string& yaml,
              const std::string& json, const std::string& said, const Spans& spans) {
        text_ += fmt::format(", {}: {}", key, yaml);
        value(fmt::format("{}.{}", path, key), json, said, spans);
    }

    void names(const std::string& path, const std::string& key,
               const std::vector<std::string>& list, const std::string& said, const Spans& spans) {
        part(path, key, list_of(list, yaml_text), list_of(list, quoted), said, spans);
    }

    std::string source_name(int source) const {
        if (source >= 0) return job_.model.layers[std::size_t(source)].name;
        const std::string& name = job_.model.input_of(source).name;
        return name.empty() ? "input" : name;
    }

    /// One line: every layer with its name, and with the layers it reads unless it reads the one
    /// before.
    void layer(const std::string& indent, const LayerSpec& layer, int previous) {
        const std::string path = "model.layers." + layer.name;
        const bool learns = !layer.parameters.empty();
        text_ += fmt::format("{}- {}: {{name: {}", indent, learns ? layer.formula : layer.type,
                             yaml_text(layer.name));
        if (layer.sources.size() != 1 || layer.sources[0] != previous) {
            std::vector<std::string> sources;
            for (const int source : layer.sources)
                sources.push_back(source_name(source));
            names(path, "from", sources, "from", layer.spans);
        }
        if (layer.share) {
            const std::string& name = job_.model.layers[*layer.share].name;
            part(path, "share", yaml_text(name), json_text(name), "share", layer.spans);
        }
        if (learns) {
            for (const auto& [name, content] : layer.formula_values)
                part(path, name, to_json(content), to_json(content), "expression", layer.spans);
        } else {
            for (const Field& field : op(layer.type).fields) {
                const auto found = layer.fields.find(std::string(field.name));
                if (found != layer.fields.end() && !initializes_shared(layer, field.name))
                    part(path, found->first, yaml_value(field, found->second),
                         to_json(found->second), found->first, layer.spans);
            }
        }
        text_ += "}\n";
    }

    /// A member's fields as the inside of a flow map; their values go to the list of values.
    std::string members_fields(const std::string& prefix, const std::string& path,
                               const FieldTable& table, const Attributes& attributes,
                               const Spans& spans) {
        std::string text;
        for (const Field& field : table) {
            const auto found = attributes.find(std::string(field.name));
            if (found == attributes.end()) continue;
            const std::string key = fmt::format("{}.{}", path, field.name);
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field.name,
                                yaml_value(field, found->second));
            value(prefix + key, to_json(found->second), key, spans);
        }
        return text;
    }

    std::string component_text(const std::string& prefix, const std::string& path,
                               const ComponentSet& set, const plan::Component& component,
                               const Spans& spans) {
        const std::string fields =
            members_fields(prefix, fmt::format("{}.{}", path, component.type),
                           *set.find(component.type)->fields, component.attributes, spans);
        return fields.empty() ? component.type
                              : fmt::format("{{{}: {{{}}}}}", component.type, fields);
    }

    /// A field that chooses one of a set: its name is a value, and every field of it.
    void component(const std::string& prefix, const std::string& key, const ComponentSet& set,
                   const plan::Component& component, const Spans& spans) {
        value(prefix + key, json_text(component.type), key, spans);
        text_ += fmt::format("  {}: {}\n", key, component_text(prefix, key, set, component, spans));
    }

    /// A list of members: the list of their names is a value.
    void components(const std::string& prefix, const std::string& key, const ComponentSet& set,
                    const std::vector<plan::Component>& list, const Spans& spans) {
        const auto type = [](const plan::Component& one) { return json_text(one.type); };
        value(prefix + key, list_of(list, type), key, spans);
        std::size_t i = 0;
        const auto text = [&](const plan::Component& one) {
            return component_text(prefix, fmt::format("{}[{}]", key, i++), set, one, spans);
        };
        text_ += fmt::format("  {}: {}\n", key, list_of(list, text));
    }

    void dataset() {
        const plan::Dataset& dataset = job_.dataset.dataset;
        const Spans& spans = job_.dataset.spans;
        text_ += "dataset:\n";
        field("  ", "dataset.", "name", dataset.name, spans);
        field("  ", "dataset.", "type", dataset.type, spans);
        if (const ComponentInfo* type = dataset_types().find(dataset.type))
            for (const Field& one : *type->fields) {
                const auto found = job_.dataset.type_fields.find(std::string(one.name));
                const bool given = found != job_.dataset.type_fields.end();
                if (given && one.type == FieldType::quantity)
                    quantity("  ", "dataset.", found->first, one.unit,
                             double(std::get<std::int64_t>(found->second)), spans);
                else if (given)
                    field("  ", "dataset.", found->first, found->second, spans);
                else if (one.name == "columns" && !dataset.columns.empty())
                    columns(dataset.columns, spans);
                else if (const auto* list = plan::texts_of(dataset, one.name))
                    texts("dataset.", std::string(one.name), *list, spans);
                else
                    continue;
                note_found(one.name);
            }
        components("dataset.", "transforms", transforms(), dataset.transforms, spans);
        components("dataset.", "augmentations", augmentations(), dataset.augmentations, spans);
        field("  ", "dataset.", "sample_percentage", job_.dataset.sample_percentage, spans);
        field("  ", "dataset.", "test_as_validation", dataset.test_as_validation, spans);
        const bool input = dataset.target().kind == plan::LabelKind::input;
        field("  ", "dataset.", "target", std::string(input ? "input" : "label"), spans);
        if (!dataset.target().names.empty()) {
            texts("dataset.", "class_names", dataset.target().names, spans);
            note_found("class_names");
        }
        if (const auto hash = dataset.attributes.find("content_hash");
            hash != dataset.attributes.end())
            field("  ", "dataset.", "content_hash", hash->second, spans);
    }

    void columns(const std::vector<plan::FeatureColumn>& list, const Spans& spans) {
        const auto text = [](const auto& column) { return quoted(column_text(column)); };
        value("dataset.columns", list_of(list, text), "columns", spans);
        text_ += "  columns:\n";
        for (const plan::FeatureColumn& column : list)
            text_ += fmt::format("    - {}\n", column_text(column));
    }

    /// The value that was written last comes from the dataset's files, if it does.
    void note_found(std::string_view field) {
        if (job_.dataset.found.contains(field)) job_.values.back().origin = plan::OriginKind::data;
    }

    void texts(const std::string& prefix, const std::string& key,
               const std::vector<std::string>& list, const Spans& spans) {
        value(prefix + key, list_of(list, quoted), key, spans);
        text_ += fmt::format("  {}: {}\n", key, list_of(list, yaml_text));
    }

    void groups(const std::vector<plan::ParameterGroup>& list, const FieldTable& table,
                const Spans& spans) {
        const auto pattern = [](const plan::ParameterGroup& group) {
            return quoted(group.pattern);
        };
        value("training.groups", list_of(list, pattern), "groups", spans);
        std::string text;
        for (std::size_t i = 0; i < list.size(); ++i) {
            Attributes attributes = list[i].attributes;
            attributes["parameters"] = list[i].pattern;
            text += fmt::format("{}{{{}}}", text.empty() ? "" : ", ",
                                members_fields("training.", fmt::format("groups[{}]", i), table,
                                               attributes, spans));
        }
        text_ += fmt::format("  groups: [{}]\n", text);
    }

    void training() {
        const plan::Training& training = job_.training.training;
        const Spans& spans = job_.training.spans;
        const std::string prefix = "training.";
        text_ += "training:\n";
        // Rows that are more than one value.
        const std::map<std::string_view, std::function<void()>> by_hand = {
            {"name",
             [&] {
                 if (!job_.training.name.empty())
                     field("  ", prefix, "name", job_.training.name, spans);
             }},
            {"optimizer",
             [&] {
                 plan::Component optimizer{training.optimizer, training.optimizer_attributes};
                 optimizer.attributes["learning_rate"] = training.learning_rate;
                 component(prefix, "optimizer", optimizers(), optimizer, spans);
             }},
            {"groups", [&] { groups(training.groups, any_group_table(), spans); }},
            {"loss",
             [&] {
                 component(prefix, "loss", losses(), {training.loss, training.loss_attributes},
                           spans);
             }},
            {"metrics",
             [&] {
                 std::vector<plan::Component> measured;
                 for (const plan::Metric& metric : training.metrics)
                     measured.push_back({metric.type, metric.attributes});
                 components(prefix, "metrics", metrics(), measured, spans);
             }},
            {"schedules",
             [&] { components(prefix, "schedules", schedules(), training.schedules, spans); }},
            // The batch of a rank follows from that of all, and its number is in the plan.
            {"batch_size",
             [&] {
                 if (job_.training.global_batch_size == 0)
                     field("  ", prefix, "batch_size", training.batch_size, spans);
             }},
        };
        for (const Field& row : training_table()) {
            if (const auto writer = by_hand.find(row.name); writer != by_hand.end())
                writer->second();
            else
                member("  ", prefix, row, job_.training, "", spans);
        }
    }

    JobSpec& job_;
    std::string text_;
};

}  // namespace

void describe_resolved(JobSpec& job) {
    job.values.clear();
    Writer(job).write();
}

}  // namespace dtnn::compiler
