#include "compiler/frontend/read/resolved.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.hpp"
#include "compiler/frontend/read/quantity.hpp"
#include "compiler/frontend/read/scalars.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {
namespace {

using Spans = std::map<std::string, Span>;

std::string yaml_value(const AttributeValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text ? yaml_text(*text) : to_json(value);
}

/// An initializer with numbers is kept as the inside of a map.
std::string yaml_value(const Field& field, const AttributeValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (field.type != FieldType::initializer || !text || text->find(": {") == std::string::npos)
        return yaml_value(value);
    return fmt::format("{{{}}}", *text);
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
            field("  ", "kernels.", "prefer", std::string(plan::name_of(job_.prefer)),
                  own_spans("kernels."));
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
        const plan::Parallel& parallel = spec.parallel;
        const auto word = [](auto value) { return std::string(plan::name_of(value)); };
        field("  ", prefix, "reduction", word(parallel.reduction), spec.spans);
        field("  ", prefix, "batch_statistics", word(parallel.batch_statistics), spec.spans);
        field("  ", prefix, "learning_rate_scaling", word(parallel.learning_rate_scaling),
              spec.spans);
        field("  ", prefix, "optimizer", word(parallel.optimizer), spec.spans);
        field("  ", prefix, "wire", word(parallel.compression), spec.spans);
        if (parallel.compression == plan::Compression::top_k)
            field("  ", prefix, "density", parallel.density, spec.spans);
        if (parallel.bucket_bytes > 0)
            quantity("  ", prefix, "bucket_size", "bytes", double(parallel.bucket_bytes),
                     spec.spans);
        if (parallel.local_steps > 0)
            text_ += fmt::format("  synchronise: {{{}}}\n",
                                 members_fields(prefix, "synchronise", synchronise_table(),
                                                {{"every", parallel.local_steps},
                                                 {"average", word(parallel.average)},
                                                 {"participation", word(parallel.participation)},
                                                 {"min_avail", parallel.min_avail}},
                                                spec.spans));
        field("  ", prefix, "timeout", parallel.timeout_seconds, spec.spans);
    }

    /// `path` is where it is in the machine: "local", "gpus.local".
    void network(const std::string& indent, const char* name, const std::string& path,
                 double latency, double bandwidth) {
        if (latency == 0 && bandwidth == 0) return;
        text_ += fmt::format("{}{}: {{", indent, name);
        const auto one = [&](const char* key, std::string_view unit, double content,
                             const char* separator) {
            const std::string text = quantity_text(content, unit);
            text_ += fmt::format("{}{}: {}", separator, key, text);
            value(fmt::format("machine.{}.{}", path, key), json_text(text),
                  fmt::format("{}.{}", path, key), job_.machine.spans);
        };
        if (latency > 0) one("latency", "seconds", latency, "");
        if (bandwidth > 0) one("bandwidth", "bytes/s", bandwidth, latency > 0 ? ", " : "");
        text_ += "}\n";
    }

    /// What is known of it.
    void machine() {
        const plan::Machine& machine = job_.machine.machine;
        if (machine.name.empty()) return;
        const Spans& spans = job_.machine.spans;
        const std::string prefix = "machine.";
        text_ += "machine:\n";
        field("  ", prefix, "name", machine.name, spans);
        field("  ", prefix, "nodes", std::int64_t{machine.nodes}, spans);
        if (machine.cores > 0) field("  ", prefix, "cores", std::int64_t{machine.cores}, spans);
        if (machine.memory_bytes > 0)
            quantity("  ", prefix, "memory", "bytes", double(machine.memory_bytes), spans);
        if (!machine.isa.empty()) field("  ", prefix, "isa", machine.isa, spans);
        if (!job_.machine.processor.empty())
            field("  ", prefix, "processor", job_.machine.processor, spans);
        const auto rate = [&](const char* key, std::string_view unit, double content) {
            if (content > 0) quantity("  ", prefix, key, unit, content, spans);
        };
        rate("product_rate", "flop/s", machine.product_rate);
        rate("convolution_rate", "flop/s", machine.convolution_rate);
        rate("memory_bandwidth", "bytes/s", machine.memory_bandwidth);
        rate("node_memory_bandwidth", "bytes/s", machine.node_memory_bandwidth);
        rate("step_overhead", "seconds", machine.step_overhead);
        rate("decode_rate", "samples/s", machine.decode_rate);
        network("  ", "network", "network", machine.network_latency, machine.network_bandwidth);
        network("  ", "local", "local", machine.local_latency, machine.local_bandwidth);
        const auto share = [&](const char* key, double content) {
            if (content > 0) field("  ", prefix, key, content, spans);
        };
        share("thread_efficiency", machine.thread_efficiency);
        share("compute_error", machine.compute_error);
        share("exchange_error", machine.exchange_error);
        gpus(machine.gpus);
        if (!machine.slurm.empty())
            text_ += fmt::format("  slurm: {{{}}}\n", members_fields(prefix, "slurm", slurm_table(),
                                                                     machine.slurm, spans));
    }

    void gpus(const plan::Gpus& gpus) {
        if (gpus.count == 0) return;
        const Spans& spans = job_.machine.spans;
        const std::string indent = "    ", prefix = "machine.gpus.";
        text_ += "  gpus:\n";
        const auto place = [&](const char* key) { return std::string("gpus.") + key; };
        const auto one = [&](const char* key, std::string_view unit, double content) {
            if (!(content > 0)) return;
            const std::string text = quantity_text(content, unit);
            text_ += fmt::format("{}{}: {}\n", indent, key, text);
            value(prefix + key, json_text(text), place(key), spans);
        };
        if (!gpus.model.empty()) {
            text_ += fmt::format("{}model: {}\n", indent, yaml_text(gpus.model));
            value(prefix + "model", json_text(gpus.model), place("model"), spans);
        }
        text_ += fmt::format("{}count: {}\n", indent, gpus.count);
        value(prefix + "count", fmt::format("{}", gpus.count), place("count"), spans);
        one("memory", "bytes", double(gpus.memory_bytes));
        one("library_memory", "bytes", double(gpus.library_bytes));
        for (const GpuNumber& number : gpu_numbers())
            one(number.field, find_field(gpus_table(), number.field)->unit, gpus.*number.number);
        network(indent, "local", "gpus.local", gpus.latency, gpus.bandwidth);
    }

    void model(const std::string& indent) {
        const ModelSpec& model = job_.model;
        field(indent, "model.", "name", model.name, model.spans);
        inputs(indent, model);
        text_ += fmt::format("{}layers:\n", indent);
        int previous = -1;
        for (const LayerSpec& one : model.layers)
            layer(indent + "  ", one, previous++);
    }

    void inputs(const std::string& indent, const ModelSpec& model) {
        const bool named = !model.input().name.empty();
        if (named) text_ += fmt::format("{}inputs:\n", indent);
        for (const InputSpec& input : model.inputs) {
            const std::string key = named ? "inputs." + input.name : "input";
            text_ += fmt::format("{}{}: {{shape: {}", named ? indent + "  " : indent,
                                 named ? input.name : key, to_json(input.shape));
            value(fmt::format("model.{}.shape", key), to_json(input.shape), key + ".shape",
                  model.spans);
            if (input.integers()) {
                text_ += fmt::format(", dtype: i32, values: {}", input.values);
                value(fmt::format("model.{}.dtype", key), json_text("i32"), key + ".dtype",
                      model.spans);
                value(fmt::format("model.{}.values", key), fmt::format("{}", input.values),
                      key + ".values", model.spans);
            }
            text_ += "}\n";
        }
    }

    std::string source_name(int source) const {
        if (source >= 0) return job_.model.layers[std::size_t(source)].name;
        const std::string& name = job_.model.input_of(source).name;
        return name.empty() ? "input" : name;
    }

    /// One line: every layer with its name, and with the layers it reads unless it reads the one
    /// before.
    void layer(const std::string& indent, const LayerSpec& layer, int previous) {
        const std::string prefix = fmt::format("model.layers.{}.", layer.name);
        text_ += fmt::format("{}- {}: {{name: {}", indent, layer.type, yaml_text(layer.name));
        if (layer.sources.size() != 1 || layer.sources[0] != previous) {
            std::string quoted, bare;
            for (const int source : layer.sources) {
                const std::string name = source_name(source);
                quoted += (quoted.empty() ? "" : ", ") + json_text(name);
                bare += (bare.empty() ? "" : ", ") + yaml_text(name);
            }
            text_ += fmt::format(", from: [{}]", bare);
            value(prefix + "from", fmt::format("[{}]", quoted), "from", layer.spans);
        }
        for (const Field& field : op(layer.type).fields) {
            const auto found = layer.fields.find(std::string(field.name));
            if (found == layer.fields.end()) continue;
            text_ += fmt::format(", {}: {}", field.name, yaml_value(field, found->second));
            value(prefix + found->first, to_json(found->second), found->first, layer.spans);
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
        std::string names;
        for (const plan::Component& one : list)
            names += (names.empty() ? "" : ", ") + json_text(one.type);
        value(prefix + key, "[" + names + "]", key, spans);
        std::string text;
        for (std::size_t i = 0; i < list.size(); ++i)
            text += (text.empty() ? "" : ", ") +
                    component_text(prefix, fmt::format("{}[{}]", key, i), set, list[i], spans);
        text_ += fmt::format("  {}: [{}]\n", key, text);
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
                else if (one.name == "label_names" && !dataset.label_names.empty())
                    texts("dataset.", "label_names", dataset.label_names, spans);
                else if (one.name == "ignored_names" && !dataset.ignored_names.empty())
                    texts("dataset.", "ignored_names", dataset.ignored_names, spans);
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

    /// The value that was written last comes from the dataset's files, if it does.
    void note_found(std::string_view field) {
        if (job_.dataset.found.contains(field)) job_.values.back().origin = plan::OriginKind::data;
    }

    void texts(const std::string& prefix, const std::string& key,
               const std::vector<std::string>& list, const Spans& spans) {
        std::string quoted, bare;
        for (const std::string& one : list) {
            quoted += (quoted.empty() ? "" : ", ") + json_text(one);
            bare += (bare.empty() ? "" : ", ") + yaml_text(one);
        }
        value(prefix + key, "[" + quoted + "]", key, spans);
        text_ += fmt::format("  {}: [{}]\n", key, bare);
    }

    void groups(const std::vector<plan::ParameterGroup>& list, const FieldTable& table,
                const Spans& spans) {
        std::string patterns, text;
        for (const plan::ParameterGroup& group : list)
            patterns += (patterns.empty() ? "" : ", ") + json_text(group.pattern);
        value("training.groups", "[" + patterns + "]", "groups", spans);
        for (std::size_t i = 0; i < list.size(); ++i) {
            Attributes attributes = list[i].attributes;
            attributes["parameters"] = list[i].pattern;
            text += fmt::format("{}{{{}}}", text.empty() ? "" : ", ",
                                members_fields("training.", fmt::format("groups[{}]", i), table,
                                               attributes, spans));
        }
        text_ += fmt::format("  groups: [{}]\n", text);
    }

    void record(const std::string& key, const FieldTable& table, const Attributes& attributes,
                const Spans& spans) {
        text_ += fmt::format("  {}: {{{}}}\n", key,
                             members_fields("training.", key, table, attributes, spans));
    }

    void training() {
        const plan::Training& training = job_.training.training;
        const Spans& spans = job_.training.spans;
        text_ += "training:\n";
        if (!job_.training.name.empty())
            field("  ", "training.", "name", job_.training.name, spans);
        plan::Component optimizer{training.optimizer, training.optimizer_attributes};
        optimizer.attributes["learning_rate"] = training.learning_rate;
        component("training.", "optimizer", optimizers(), optimizer, spans);
        groups(training.groups, any_group_table(), spans);
        if (training.clip_norm > 0)
            record("clip", clip_table(), {{"norm", training.clip_norm}}, spans);
        if (training.clip_value > 0)
            record("clip", clip_table(), {{"value", training.clip_value}}, spans);
        field("  ", "training.", "accumulation", training.accumulation, spans);
        if (training.average_decay > 0)
            record("average", average_table(), {{"decay", training.average_decay}}, spans);
        component("training.", "loss", losses(), {training.loss, training.loss_attributes}, spans);
        std::vector<plan::Component> measured;
        for (const plan::Metric& metric : training.metrics)
            measured.push_back({metric.type, metric.attributes});
        components("training.", "metrics", metrics(), measured, spans);
        components("training.", "schedules", schedules(), training.schedules, spans);
        const plan::CheckpointRule& rule = training.checkpoint;
        record("checkpoint", checkpoint_table(),
               {{"every_epochs", rule.every_epochs},
                {"every_steps", rule.every_steps},
                {"every_seconds", rule.every_seconds},
                {"keep", rule.keep}},
               spans);
        field("  ", "training.", "epochs", training.epochs, spans);
        // The batch of a rank follows from that of all, and its number is in the plan.
        if (job_.training.global_batch_size > 0)
            field("  ", "training.", "global_batch_size", job_.training.global_batch_size, spans);
        else
            field("  ", "training.", "batch_size", training.batch_size, spans);
        field("  ", "training.", "validation_split", training.validation_split, spans);
        field("  ", "training.", "shuffle", training.shuffle, spans);
        field("  ", "training.", "seed", std::int64_t(training.seed), spans);
        field("  ", "training.", "dtype", std::string(plan::name_of(job_.training.dtype)), spans);
        field("  ", "training.", "compute", std::string(plan::name_of(job_.training.compute)),
              spans);
        field("  ", "training.", "numerics", std::string(plan::name_of(job_.training.numerics)),
              spans);
        field("  ", "training.", "loss_scale", training.loss_scale, spans);
        field("  ", "training.", "steps_per_epoch", training.steps_per_epoch, spans);
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
