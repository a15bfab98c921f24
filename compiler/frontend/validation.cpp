#include "compiler/frontend/validation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/expansion.hpp"
#include "compiler/frontend/tables.hpp"

namespace dtnn::compiler {
namespace {

/// Samples beyond this are a slip of the pen, and would overflow sizes further on.
constexpr std::int64_t kMaximumSampleElements = std::int64_t{1} << 28;

Span span_or(const std::map<std::string, Span>& spans, const std::string& name, const Span& other) {
    const auto found = spans.find(name);
    return found == spans.end() || found->second.place.file.empty() ? other : found->second;
}

/// The place of a whole spec: where it was referred to, else its first field.
Span span_of(const SourceNode& tree) {
    if (!tree.span.place.file.empty() || tree.entries.empty()) return tree.span;
    for (const SourceEntry& entry : tree.entries)
        if (!entry.key_span.place.file.empty()) return entry.key_span;
    return tree.span;
}

/// Values that the compiler put into the tree (a name made of the file's) count as defaults.
void forget_made(std::map<std::string, Span>& spans) {
    std::erase_if(spans, [](const auto& entry) { return entry.second.place.file.empty(); });
}

bool fits(const std::string& name) {
    const auto alphanumeric = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !name.empty() && name.size() <= 100 && alphanumeric(name[0]) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return alphanumeric(c) || c == '_' || c == '-' || c == '.'; });
}

}  // namespace

void check_spec_name(const FieldValues& fields, const std::string& what, Diagnostics& diagnostics) {
    const auto span = fields.spans.find("name");
    const std::string name = fields.text("name");
    if (span == fields.spans.end() || span->second.place.file.empty() || fits(name)) return;
    if (!fields.values.contains("name")) return;
    diagnostics.error(
        Code::bad_name, span->second,
        fmt::format(
            "the name of the {} is `{}`; it must be at most 100 letters, digits, `_`, `-` and "
            "`.`, beginning with a letter or digit",
            what, name));
}

void check_sample_shape(const plan::Dims& shape, const Span& span, const std::string& what,
                        Diagnostics& diagnostics) {
    if (shape.size() != 3) {
        diagnostics
            .error(Code::wrong_type, span,
                   fmt::format("`shape` of {} has {} extents; it must be [channels, height, width]",
                               what, shape.size()))
            .help = "for samples without height and width write [features, 1, 1]";
        return;
    }
    // Each extent is at most 65536, so the product fits.
    const std::int64_t elements = shape[0] * shape[1] * shape[2];
    if (elements > kMaximumSampleElements)
        diagnostics.error(
            Code::out_of_range, span,
            fmt::format("`shape` of {} is {}x{}x{} = {} values; a sample has at most {}", what,
                        shape[0], shape[1], shape[2], elements, kMaximumSampleElements));
}

ModelSpec read_model(const SourceNode& tree, const std::string& default_name,
                     Diagnostics& diagnostics) {
    ModelSpec model;
    model.span = span_of(tree);
    FieldValues fields = read_fields(tree, model_table(), {"model", model.span}, diagnostics);
    check_spec_name(fields, "model", diagnostics);
    model.name = fields.values.contains("name") ? fields.text("name") : default_name;

    const ModelLanguage language(fields.node("parameters"), fields.node("defaults"),
                                 fields.node("blocks"), diagnostics);
    if (const SourceNode* input = fields.node("input")) {
        if (!input->is_map()) {
            diagnostics
                .error(Code::wrong_type, input->span,
                       fmt::format("`input` of model is {}; it must be a map", describe(*input)))
                .help = "such as `input: {shape: [1, 28, 28]}`";
        } else if (const auto known =
                       evaluated(*input, InReach(language.parameters()), diagnostics)) {
            FieldValues shape =
                read_fields(*known, input_table(), {"input", input->span}, diagnostics);
            model.input_shape = shape.dims("shape");
            model.input_span = span_or(shape.spans, "shape", input->span);
            if (shape.values.contains("shape"))
                check_sample_shape(model.input_shape, model.input_span, "input", diagnostics);
            fields.spans["input.shape"] = model.input_span;
        }
    }
    if (const SourceNode* layers = fields.node("layers")) {
        if (!layers->is_list()) {
            diagnostics
                .error(Code::wrong_type, layers->span,
                       fmt::format("`layers` of model is {}; it must be a list", describe(*layers)))
                .help = "begin every layer with `- `";
        } else if (layers->items.empty()) {
            diagnostics.error(Code::out_of_range, layers->span,
                              "`layers` of model is empty; there must be a layer");
        } else {
            expand_layers(*layers, language, model, diagnostics);
        }
    }
    forget_made(fields.spans);
    model.spans = std::move(fields.spans);
    return model;
}

DatasetSpec read_dataset(const SourceNode& tree, const std::string& default_name,
                         Diagnostics& diagnostics) {
    DatasetSpec spec;
    plan::Dataset& dataset = spec.dataset;
    spec.span = span_of(tree);

    // Which fields there are depends on the type, so the type is read first.
    const SourceEntry* type = tree.find("type");
    FieldTable table = dataset_table();
    SourceNode known = tree;
    if (type && type->value.is_scalar()) dataset.type = type->value.text;
    const auto& types = find_field(dataset_table(), "type")->choices;
    const bool known_type = std::find(types.begin(), types.end(), dataset.type) != types.end();
    const auto own = fields_of_dataset_type(dataset.type);
    const auto belongs = [&](std::string_view name) {
        return name == "kind" || name == "name" || name == "extends" || name == "description" ||
               name == "type" || std::find(own.begin(), own.end(), name) != own.end();
    };
    if (known_type) {
        for (const SourceEntry& entry : tree.entries) {
            if (belongs(entry.key) || !find_field(dataset_table(), entry.key)) continue;
            Diagnostic& error =
                diagnostics.error(Code::misplaced_field, entry.key_span,
                                  fmt::format("`{}` is not a field of a dataset of type {}",
                                              entry.key, dataset.type));
            std::string takers;
            for (const std::string_view other : types) {
                const auto fields = fields_of_dataset_type(other);
                if (std::find(fields.begin(), fields.end(), entry.key) != fields.end())
                    takers += fmt::format("{}{}", takers.empty() ? "" : " and ", other);
            }
            error.help = fmt::format("`{}` belongs to {}", entry.key, takers);
            if (!type->value.span.place.file.empty())
                error.notes.push_back({type->value.span, "the type is given here"});
            known.erase(entry.key);
        }
        std::erase_if(table, [&](const Field& field) { return !belongs(field.name); });
    } else {
        // Without a type nothing can be said to be missing.
        for (Field& field : table)
            if (field.name != "type") field.optional = true;
    }

    FieldValues fields = read_fields(known, table, {"dataset", spec.span}, diagnostics);
    check_spec_name(fields, "dataset", diagnostics);
    dataset.name = fields.values.contains("name") ? fields.text("name") : default_name;
    const bool mnist = dataset.type == "mnist";
    dataset.train_samples = fields.values.contains("train_samples")
                                ? fields.integer("train_samples")
                            : mnist ? 60000
                                    : 10000;
    dataset.test_samples = fields.values.contains("test_samples") ? fields.integer("test_samples")
                           : mnist                                ? 10000
                                                                  : 2000;
    dataset.source_train_samples = dataset.train_samples;
    if (dataset.type == "synthetic") {
        dataset.shape = fields.dims("shape");
        dataset.classes = fields.integer("classes");
        if (fields.text("labels") == "pixel" && dataset.shape.size() == 3)
            dataset.label_shape = {dataset.shape[1], dataset.shape[2]};
        if (fields.values.contains("shape"))
            check_sample_shape(dataset.shape, span_or(fields.spans, "shape", spec.span), "dataset",
                               diagnostics);
    } else if (known_type) {
        dataset.shape = {1, 28, 28};
        dataset.classes = 10;
    }
    dataset.stored_shape = dataset.shape;
    if (mnist) {
        dataset.attributes["path"] = fields.text("path");
        for (const auto& [name, most] :
             {std::pair{"train_samples", 60000}, std::pair{"test_samples", 10000}})
            if (fields.integer(name) > most)
                diagnostics.error(Code::out_of_range, span_or(fields.spans, name, spec.span),
                                  fmt::format("`{}` of dataset is {}; mnist has {}", name,
                                              fields.integer(name), most));
        if (fields.values.contains("path") && fields.text("path").empty())
            diagnostics.error(Code::out_of_range, span_or(fields.spans, "path", spec.span),
                              "`path` of dataset is empty; it must be a folder");
    } else {
        dataset.attributes["seed"] = fields.integer("seed");
    }
    forget_made(fields.spans);
    spec.spans = std::move(fields.spans);
    return spec;
}

TrainingSpec read_training(const SourceNode& tree, Diagnostics& diagnostics) {
    TrainingSpec spec;
    plan::Training& training = spec.training;
    spec.span = span_of(tree);
    FieldScope scope{"training", spec.span};
    for (const std::string_view optimizer : optimizer_names())
        for (const Field& field : *optimizer_table(optimizer))
            scope.elsewhere.emplace(
                field.name, fmt::format("it is the optimizer's: `optimizer: {{{}: {{{}: ...}}}}`",
                                        optimizer, field.name));
    FieldValues fields = read_fields(tree, training_table(), scope, diagnostics);
    check_spec_name(fields, "training", diagnostics);

    training.epochs = fields.integer("epochs");
    training.batch_size = fields.integer("batch_size");
    training.steps_per_epoch = fields.integer("steps_per_epoch");
    training.seed = static_cast<std::uint64_t>(fields.integer("seed"));
    training.shuffle = fields.flag("shuffle");
    training.loss = fields.text("loss");
    training.validation_split = fields.real("validation_split");
    plan::parse_dtype(fields.text("dtype"), spec.dtype);

    std::vector<std::string> metrics = {"categorical_accuracy"};
    if (const SourceNode* list = fields.node("metrics"))
        if (const auto texts = read_texts(*list, *find_field(training_table(), "metrics"),
                                          "training", diagnostics)) {
            metrics.clear();
            for (const LocatedText& text : *texts)
                if (std::find(metrics.begin(), metrics.end(), text.text) == metrics.end())
                    metrics.push_back(text.text);
        }
    for (const std::string& name : metrics)
        training.metrics.push_back({name, name, {}, name});

    static const SourceNode no_fields = make_map();
    const SourceNode* optimizer = fields.node("optimizer");
    const SourceNode* settings = &no_fields;
    SourceNode name = make_scalar("sgd");
    if (optimizer && optimizer->is_map() && optimizer->entries.size() == 1) {
        const SourceEntry& entry = optimizer->entries[0];
        name = make_scalar(entry.key, entry.key_span);
        if (entry.value.is_map()) {
            settings = &entry.value;
        } else if (!entry.value.is_null()) {
            diagnostics.error(Code::wrong_type, entry.value.span,
                              fmt::format("`{}` of optimizer is given {}; it takes a map of fields",
                                          entry.key, describe(entry.value)));
        }
    } else if (optimizer && optimizer->is_scalar()) {
        name = *optimizer;
    } else if (optimizer) {
        diagnostics
            .error(
                Code::wrong_type, optimizer->span,
                fmt::format(
                    "`optimizer` of training is {}; it must be a name, or one name with its fields",
                    optimizer->is_map() ? fmt::format("a map of {}", optimizer->entries.size())
                                        : describe(*optimizer)))
            .help = "such as `optimizer: {adam: {learning_rate: 0.001}}`";
        settings = nullptr;
    }
    if (settings) {
        const Field& field = *find_field(training_table(), "optimizer");
        Field choice = field;
        choice.type = FieldType::choice;
        if (const auto chosen = read_value(name, choice, "training", diagnostics)) {
            training.optimizer = std::get<std::string>(*chosen);
            FieldValues values = read_fields(*settings, *optimizer_table(training.optimizer),
                                             {training.optimizer, name.span}, diagnostics);
            training.learning_rate = values.real("learning_rate");
            values.values.erase("learning_rate");
            training.optimizer_attributes = std::move(values.values);
            for (auto& [key, span] : values.spans)
                fields.spans[fmt::format("optimizer.{}", key)] = span;
        }
    }
    forget_made(fields.spans);
    spec.spans = std::move(fields.spans);
    return spec;
}

}  // namespace dtnn::compiler
