#include "compiler/frontend/resolved.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/tables.hpp"
#include "compiler/frontend/value_reader.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {
namespace {

using Spans = std::map<std::string, Span>;

/// Text as YAML: bare when every reader takes it for text, else in quotes.
std::string yaml_text(const std::string& text) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto other = [](char c) {
        return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
    };
    bool bare = !text.empty() && letter(text[0]);
    for (const char c : text)
        bare = bare && (letter(c) || other(c));
    std::string word = text;
    for (char& c : word)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    for (const std::string_view reserved :
         {"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
        bare = bare && word != reserved;
    return bare ? text : json_quoted(text);
}

std::string yaml_value(const plan::AttributeValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text ? yaml_text(*text) : to_json(value);
}

/// An initializer with numbers is kept as the inside of a map.
std::string yaml_value(const Field& field, const plan::AttributeValue& value) {
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
        if (job_.memory_budget > 0)
            field("", "", "memory_budget", fmt::format("{}B", job_.memory_budget), job_.spans);
        text_ = alone ? "kind: model\n" : text_ + "model:\n";
        model(alone ? "" : "  ");
        std::string document = text_;
        dataset();
        training();
        job_.resolved_text = alone ? std::move(document) : std::move(text_);
    }

  private:
    /// Whether the command line set something outside the model.
    bool set_beyond_model() const {
        for (const Spans* spans : {&job_.spans, &job_.dataset.spans, &job_.training.spans})
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
               const plan::AttributeValue& content, const Spans& spans) {
        text_ += fmt::format("{}{}: {}\n", indent, key, yaml_value(content));
        value(prefix + key, to_json(content), key, spans);
    }

    void model(const std::string& indent) {
        const ModelSpec& model = job_.model;
        field(indent, "model.", "name", model.name, model.spans);
        text_ += fmt::format("{}input: {{shape: {}}}\n{}layers:\n", indent,
                             to_json(model.input_shape), indent);
        value("model.input.shape", to_json(model.input_shape), "input.shape", model.spans);
        int previous = -1;
        for (const LayerSpec& one : model.layers)
            layer(indent + "  ", one, previous++);
    }

    /// One line: every layer with its name, and with the layers it reads unless it reads the one
    /// before.
    void layer(const std::string& indent, const LayerSpec& layer, int previous) {
        const std::string prefix = fmt::format("model.layers.{}.", layer.name);
        text_ += fmt::format("{}- {}: {{name: {}", indent, layer.type, yaml_text(layer.name));
        if (layer.sources.size() != 1 || layer.sources[0] != previous) {
            std::string quoted, bare;
            for (const int source : layer.sources) {
                const std::string name =
                    source < 0 ? "input" : job_.model.layers[static_cast<std::size_t>(source)].name;
                quoted += (quoted.empty() ? "" : ", ") + json_quoted(name);
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

    void dataset() {
        const plan::Dataset& dataset = job_.dataset.dataset;
        const Spans& spans = job_.dataset.spans;
        text_ += "dataset:\n";
        field("  ", "dataset.", "name", dataset.name, spans);
        field("  ", "dataset.", "type", dataset.type, spans);
        if (dataset.type == "synthetic") {
            field("  ", "dataset.", "shape", dataset.shape, spans);
            field("  ", "dataset.", "classes", dataset.classes, spans);
            field("  ", "dataset.", "labels",
                  std::string(dataset.label_shape.empty() ? "sample" : "pixel"), spans);
        }
        for (const auto& [key, content] : dataset.attributes)
            field("  ", "dataset.", key, content, spans);
        field("  ", "dataset.", "train_samples", dataset.train_samples, spans);
        field("  ", "dataset.", "test_samples", dataset.test_samples, spans);
    }

    void training() {
        const plan::Training& training = job_.training.training;
        const Spans& spans = job_.training.spans;
        text_ += "training:\n";
        if (!job_.training.name.empty())
            field("  ", "training.", "name", job_.training.name, spans);
        const std::string prefix = fmt::format("training.optimizer.{}.", training.optimizer);
        std::vector<std::string> fields;
        for (const Field& one : *optimizer_table(training.optimizer)) {
            const std::string key(one.name);
            const plan::AttributeValue content = key == "learning_rate"
                                                     ? plan::AttributeValue(training.learning_rate)
                                                     : training.optimizer_attributes.at(key);
            fields.push_back(fmt::format("{}: {}", key, to_json(content)));
            value(prefix + key, to_json(content), "optimizer." + key, spans);
        }
        text_ += fmt::format("  optimizer: {{{}: {{{}}}}}\n", training.optimizer,
                             fmt::join(fields, ", "));
        field("  ", "training.", "loss", training.loss, spans);
        std::vector<std::string> names, quoted;
        for (const plan::Metric& metric : training.metrics)
            names.push_back(metric.name);
        for (const std::string& metric : names)
            quoted.push_back(json_quoted(metric));
        text_ += fmt::format("  metrics: [{}]\n", fmt::join(names, ", "));
        value("training.metrics", fmt::format("[{}]", fmt::join(quoted, ", ")), "metrics", spans);
        field("  ", "training.", "epochs", training.epochs, spans);
        field("  ", "training.", "batch_size", training.batch_size, spans);
        field("  ", "training.", "validation_split", training.validation_split, spans);
        field("  ", "training.", "shuffle", training.shuffle, spans);
        field("  ", "training.", "seed", static_cast<std::int64_t>(training.seed), spans);
        field("  ", "training.", "dtype", std::string(plan::name_of(job_.training.dtype)), spans);
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
