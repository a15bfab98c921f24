#include "compiler/frontend/read/resolve_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/json_text.hpp"
#include "compiler/frontend/compose/composition.hpp"
#include "compiler/frontend/read/resolved.hpp"
#include "compiler/frontend/read/scalars.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/frontend/yaml/yaml_reader.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// A scalar as it was written, or so that it is read the same.
std::string scalar_text(const SourceNode& node) {
    if (!node.quoted) return node.text;
    return json_text(node.text);
}

/// A value on one line.
std::string flow(const SourceNode& node) {
    std::string parts;
    switch (node.kind) {
        case SourceNode::Kind::null:
            return "";
        case SourceNode::Kind::scalar:
            return scalar_text(node);
        case SourceNode::Kind::list:
            for (const SourceNode& item : node.items)
                parts += (parts.empty() ? "" : ", ") + flow(item);
            return "[" + parts + "]";
        case SourceNode::Kind::map:
            break;
    }
    for (const SourceEntry& entry : node.entries)
        parts += fmt::format("{}{}: {}", parts.empty() ? "" : ", ", entry.key, flow(entry.value));
    return "{" + parts + "}";
}

/// The document's own text as a tree.
SourceNode tree_of(const std::string& text) {
    auto tree = read_own_yaml(text);
    DTNN_CHECK(tree, "a resolved document is a spec");
    return std::move(*tree);
}

/// Writes a document in block style, one value a line, each with what `comment` says about it.
class BlockWriter {
  public:
    explicit BlockWriter(const ResolvedSpec& spec) : spec_(spec) {
        for (const plan::ResolvedValue& value : spec.values)
            values_[value.path] = &value;
    }

    std::string write() {
        const SourceNode tree = tree_of(spec_.text);
        const std::string prefix =
            spec_.kind == SpecKind::job ? "" : name_of(spec_.kind) + std::string(".");
        for (const SourceEntry& entry : tree.entries) {
            if (entry.key == "kind")
                line("kind: " + flow(entry.value), "");
            else
                field("", prefix + entry.key, entry);
        }
        return std::move(text_);
    }

  private:
    void line(const std::string& content, const std::string& comment) {
        // Comments begin in one column where the values are short.
        constexpr std::size_t kColumn = 40;
        text_ += content;
        if (!comment.empty())
            text_ += std::string(content.size() + 2 < kColumn ? kColumn - content.size() : 2, ' ') +
                     "# " + comment;
        text_ += "\n";
    }

    std::string origin_of(const std::string& path) const {
        if (path.starts_with("model.operators.")) return "";  // declarations have no values
        const auto found = values_.find(path);
        return found == values_.end() ? "default" : origin_text(*found->second);
    }

    void field(const std::string& indent, const std::string& path, const SourceEntry& entry) {
        if (path == "model.layers") {
            line(fmt::format("{}layers:", indent), "");
            for (const SourceNode& item : entry.value.items)
                layer(indent + "  ", item);
            return;
        }
        // A value whose path is known is one, even when it is written as a map; one of a set has
        // fields with paths of their own besides.
        if (entry.value.is_map() && (!values_.contains(path) || any_below(path + "."))) {
            line(fmt::format("{}{}:", indent, entry.key),
                 values_.contains(path) ? origin_of(path) : "");
            for (const SourceEntry& inner : entry.value.entries)
                field(indent + "  ", path + "." + inner.key, inner);
            return;
        }
        if (entry.value.is_list() && any_below(path + "[")) {
            line(fmt::format("{}{}:", indent, entry.key), origin_of(path));
            for (std::size_t i = 0; i < entry.value.items.size(); ++i)
                item(indent + "  ", fmt::format("{}[{}]", path, i), entry.value.items[i]);
            return;
        }
        line(fmt::format("{}{}: {}", indent, entry.key, flow(entry.value)), origin_of(path));
    }

    /// Whether a value's path begins like that.
    bool any_below(const std::string& prefix) const {
        const auto next = values_.lower_bound(prefix);
        return next != values_.end() && next->first.starts_with(prefix);
    }

    /// An entry of a list whose members have fields: a name, one name with its fields, or a map.
    void item(const std::string& indent, const std::string& path, const SourceNode& node) {
        // Which members there are was said where the list was.
        const std::string list = origin_of(path.substr(0, path.rfind('[')));
        if (!node.is_map()) {
            line(fmt::format("{}- {}", indent, flow(node)), list);
            return;
        }
        std::string dash = "- ";
        for (const SourceEntry& entry : node.entries) {
            const std::string inner = path + "." + entry.key;
            if (entry.value.is_map() && !values_.contains(inner)) {
                line(fmt::format("{}{}{}:", indent, dash, entry.key), list);
                for (const SourceEntry& one : entry.value.entries)
                    field(indent + "    ", inner + "." + one.key, one);
            } else {
                line(fmt::format("{}{}{}: {}", indent, dash, entry.key, flow(entry.value)),
                     origin_of(inner));
            }
            dash = "  ";
        }
    }

    void layer(const std::string& indent, const SourceNode& item) {
        DTNN_CHECK(item.is_map() && item.entries.size() == 1, "a resolved layer is a type");
        const SourceEntry& entry = item.entries[0];
        const SourceEntry* name = entry.value.find("name");
        DTNN_CHECK(name, "a resolved layer has a name");
        const auto place = spec_.layers.find(name->value.text);
        line(fmt::format("{}- {}:", indent, entry.key),
             place == spec_.layers.end() ? "" : place_text(place->second));
        for (const SourceEntry& one : entry.value.entries)
            field(indent + "    ", fmt::format("model.layers.{}.{}", name->value.text, one.key),
                  one);
    }

    static std::string place_text(const plan::Place& place) {
        if (place.file.starts_with("--")) return "command line";
        return place.line > 0 ? fmt::format("{}:{}", place.file, place.line) : place.file;
    }

    const ResolvedSpec& spec_;
    std::map<std::string, const plan::ResolvedValue*, std::less<>> values_;
    std::string text_;
};

/// A dataset, a training or a machine by itself, by way of a job that has nothing else.
ResolvedSpec resolve_part(Composer& composer, Composer::Loaded loaded, const LoadOptions& options,
                          Diagnostics& diagnostics) {
    ResolvedSpec spec;
    const std::string path = loaded.file;
    const std::string kind(loaded.kind->name);
    spec.kind = loaded.kind->kind;
    if (spec.kind == SpecKind::operation || spec.kind == SpecKind::loss) {
        diagnostics.error(
            Code::wrong_kind, Span{{path, 1, 1}, 1},
            fmt::format("this is {}, whose formula stands as it is written; jobs, "
                        "models, datasets, trainings and machines are resolved",
                        with_article(kind)),
            fmt::format("resolve what takes it up; `dtnnc check {}` checks it", path));
        return spec;
    }
    const auto tree = composer.compose_part(std::move(loaded));
    if (!tree) return spec;
    const std::string name = std::filesystem::path(path).stem().string();
    const SourceNode& part = tree->find(kind)->value;
    JobSpec job;
    if (spec.kind != SpecKind::training) {
        Diagnostics unheard;
        job.training = read_training(make_map(), unheard);
    }
    if (spec.kind == SpecKind::dataset) {
        job.dataset = read_dataset(part, name, options.find_data, diagnostics);
    } else if (spec.kind == SpecKind::machine) {
        job.machine = read_machine(part, name, diagnostics);
    } else {
        job.training = read_training(part, diagnostics);
        if (const SourceEntry* entry = part.find("name"); entry && entry->value.is_scalar())
            job.training.name = entry->value.text;
    }
    if (diagnostics.has_errors()) return spec;
    describe_resolved(job);
    for (plan::ResolvedValue& value : job.values)
        if (value.path.starts_with(kind + ".")) spec.values.push_back(std::move(value));
    spec.text = fmt::format("kind: {}\n", kind);
    const SourceNode document = tree_of(job.resolved_text);
    for (const SourceEntry& entry : document.find(kind)->value.entries)
        spec.text += fmt::format("{}: {}\n", entry.key, flow(entry.value));
    return spec;
}

}  // namespace

std::string origin_text(const plan::ResolvedValue& value) {
    if (value.origin == plan::OriginKind::command_line) return "command line";
    if (value.origin == plan::OriginKind::fallback) return "default";
    if (value.origin == plan::OriginKind::data) return "found in the data";
    return fmt::format("{}:{}", value.place.file, value.place.line);
}

ResolvedSpec resolve_spec(const std::string& path, const LoadOptions& options,
                          Diagnostics& diagnostics) {
    Composer composer(options, diagnostics);
    auto loaded = composer.load_root(path);
    if (!loaded) return {};
    if (loaded->kind->kind != SpecKind::job && loaded->kind->kind != SpecKind::model)
        return resolve_part(composer, std::move(*loaded), options, diagnostics);

    // Both read the file; what is wrong with it alone was said.
    JobSpec job = load_job(path, options, diagnostics);
    ResolvedSpec spec;
    if (diagnostics.has_errors()) return spec;
    spec.text = std::move(job.resolved_text);
    spec.kind = spec.text.starts_with("kind: model\n") ? SpecKind::model : SpecKind::job;
    spec.values = std::move(job.values);
    if (spec.kind == SpecKind::model)
        std::erase_if(spec.values, [](const plan::ResolvedValue& value) {
            return !value.path.starts_with("model.");
        });
    for (const LayerSpec& layer : job.model.layers)
        spec.layers[layer.name] = layer.span.place;
    for (plan::ResolvedValue& value : spec.values) {
        // The sources of a layer follow from where it stands, when it does not name them.
        constexpr std::string_view kLayers = "model.layers.", kFrom = ".from";
        if (value.origin != plan::OriginKind::fallback || !value.path.starts_with(kLayers) ||
            !value.path.ends_with(kFrom))
            continue;
        const auto layer = spec.layers.find(
            value.path.substr(kLayers.size(), value.path.size() - kLayers.size() - kFrom.size()));
        if (layer == spec.layers.end() || layer->second.line < 1) continue;
        value.origin = plan::OriginKind::file;
        value.place = layer->second;
    }
    return spec;
}

std::string text_with_origins(const ResolvedSpec& spec) {
    return BlockWriter(spec).write();
}

std::vector<plan::ResolvedValue> model_parameters(const std::string& path,
                                                  const LoadOptions& options) {
    Diagnostics unheard;
    Composer composer(options, unheard);
    auto loaded = composer.load_root(path, {"job", "model"});
    if (!loaded) return {};
    const std::string file = loaded->file;
    SourceNode job = std::move(loaded->tree);
    if (loaded->kind->kind == SpecKind::model) {
        SourceNode model = std::move(job);
        job = make_map(Span{{file, 1, 1}, 1});
        job.entries.push_back({"model", Span{}, std::move(model)});
    }
    if (!composer.compose_job(job, file)) return {};
    const SourceEntry* model = job.find("model");
    const SourceEntry* parameters = model ? model->value.find("parameters") : nullptr;
    std::vector<plan::ResolvedValue> values;
    const FieldChange& change = find_field(model_table(), "parameters")->change;
    if (!parameters || !parameters->value.is_map()) return values;
    for (const SourceEntry& entry : parameters->value.entries) {
        const bool number = !entry.value.quoted &&
                            (parse_boolean(entry.value.text) || parse_real(entry.value.text).value);
        values.push_back({"model.parameters." + entry.key,
                          number ? entry.value.text : json_text(entry.value.text),
                          entry.value.span.place.file.starts_with("--set ")
                              ? plan::OriginKind::command_line
                              : plan::OriginKind::file,
                          entry.value.span.place, change.meaning, std::string(change.reason)});
    }
    return values;
}

}  // namespace dtnn::compiler
