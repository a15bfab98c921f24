#include "compiler/frontend/read/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "compiler/frontend/expand/expansion.hpp"
#include "compiler/frontend/expand/unused_parameters.hpp"
#include "compiler/frontend/tables/misplaced_fields.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ir/axes.hpp"
#include "plan/rules/validation_part.hpp"

namespace dtnn::compiler {
namespace {

/// Samples beyond this are a slip of the pen, and would overflow sizes further on.
constexpr std::int64_t kMaximumSampleElements = std::int64_t{1} << 28;

bool fits(const std::string& name) {
    const auto alphanumeric = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !name.empty() && name.size() <= 100 && alphanumeric(name[0]) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return alphanumeric(c) || c == '_' || c == '-' || c == '.'; });
}

/// The help where a shape has one extent more than an image.
std::string leave_batch_out(const Dims& shape) {
    return fmt::format("leave the batch out, such as [{}, {}, {}]; channels come first", shape[1],
                       shape[2], shape[3]);
}

}  // namespace

Span span_or(const std::map<std::string, Span>& spans, const std::string& name, const Span& other) {
    const auto found = spans.find(name);
    return found == spans.end() || found->second.place.file.empty() ? other : found->second;
}

Span span_of(const SourceNode& tree) {
    if (!tree.span.place.file.empty() || tree.entries.empty()) return tree.span;
    for (const SourceEntry& entry : tree.entries)
        if (!entry.key_span.place.file.empty()) return entry.key_span;
    return tree.span;
}

void forget_made(std::map<std::string, Span>& spans) {
    std::erase_if(spans, [](const auto& entry) { return entry.second.place.file.empty(); });
}

void read_allowed(const FieldValues& fields, const std::string& what, Diagnostics& diagnostics) {
    const SourceNode* node = fields.node("allow");
    if (!node) return;
    if (const auto lints = read_texts(*node, allow_field(), what, diagnostics))
        for (const LocatedText& lint : *lints)
            if (const auto code = find_lint(lint.text)) diagnostics.allow(*code);
}

std::int64_t samples_of_epoch(const JobSpec& job) {
    const std::int64_t samples = job.dataset.dataset.train_samples;
    const std::int64_t left = samples - plan::validation_part(samples, job.training.training).count;
    return std::max<std::int64_t>(1, plan::share_of(left, job.dataset.sample_percentage / 100));
}

void check_spec_name(const FieldValues& fields, const std::string& what, Diagnostics& diagnostics) {
    const auto span = fields.spans.find("name");
    const std::string name = fields.text("name");
    if (span == fields.spans.end() || span->second.place.file.empty() || fits(name)) return;
    if (!fields.values.contains("name")) return;
    Diagnostic& error =
        diagnostics.error(Code::bad_name, span->second,
                          fmt::format("the name of the {} is `{}`; it must be at most 100 letters, "
                                      "digits, `_`, `-` and `.`, beginning with a letter or digit",
                                      what, name));
    std::string sound = name;
    std::replace(sound.begin(), sound.end(), ' ', '_');
    if (fits(sound)) error.help = fmt::format("such as `{}`", sound);
}

namespace {

void check_sample_elements(const Dims& shape, const Span& span, const std::string& what,
                           Diagnostics& diagnostics) {
    const std::int64_t elements = element_count(shape);
    if (elements > kMaximumSampleElements)
        diagnostics.error(
            Code::out_of_range, span,
            fmt::format("`shape` of {} is {} = {} values; a sample has at most {}", what,
                        fmt::join(shape, "x"), elements, kMaximumSampleElements));
}

}  // namespace

bool check_image_extents(const Dims& shape, const Span& span, const std::string& what,
                         Diagnostics& diagnostics) {
    const std::size_t wanted = image_axes().size();
    if (shape.size() == wanted) return true;
    diagnostics.error(
        Code::wrong_type, span,
        fmt::format("`shape` of {} has {} extents; it must be [channels, height, width]", what,
                    shape.size()),
        shape.size() == wanted + 1 ? leave_batch_out(shape)
                                   : "for samples without height and width write [features, 1, 1]");
    return false;
}

void check_sample_shape(const Dims& shape, const Span& span, const std::string& what,
                        Diagnostics& diagnostics) {
    if (check_image_extents(shape, span, what, diagnostics))
        check_sample_elements(shape, span, what, diagnostics);
}

namespace {

/// Extents that have usual axes; and those that fit a plan's tensors, beside the batch.
constexpr std::size_t kMostUsual = 3, kMostExtents = 7;

void check_input_shape(const InputSpec& input, bool axes, Diagnostics& diagnostics) {
    const Dims& shape = input.shape;
    const std::size_t most = axes ? kMostExtents : kMostUsual;
    if (!shape.empty() && shape.size() <= most)
        return check_sample_elements(shape, input.span, "input", diagnostics);
    Diagnostic& error =
        diagnostics.error(Code::wrong_type, input.span,
                          fmt::format("`shape` of input has {} extents; {} 1 to {}", shape.size(),
                                      axes ? "it must have" : "without `axes` it must have", most));
    error.help = "such as [channels, height, width], [steps, features] or [features]";
    if (!axes) error.help += "; `axes` says what others are, such as [step, step, feature]";
    if (!axes && shape.size() == kMostUsual + 1) error.help = leave_batch_out(shape);
}

/// The kinds that the field `axes` lists; none after a diagnostic.
Axes listed_axes(const SourceNode& node, Diagnostics& diagnostics) {
    Axes axes;
    const auto texts = read_texts(node, *find_field(input_table(), "axes"), "input", diagnostics);
    if (!texts) return {};
    for (const LocatedText& one : *texts) {
        AxisKind kind{};
        if (!parse_name(one.text, kind) || kind == AxisKind::batch) {
            diagnostics.error(
                Code::unknown_choice, one.span,
                fmt::format(
                    "`axes` of input has `{}`; an axis is one of channel, space, step, feature",
                    one.text),
                "the batch is not counted");
            return {};
        }
        axes.push_back(kind);
    }
    return axes;
}

/// Those of the field `axes`, or the usual ones of so many extents; none after a diagnostic.
Axes read_axes(const FieldValues& fields, const Dims& shape, Diagnostics& diagnostics) {
    Axes usual = usual_axes(shape.size());
    if (!usual.empty()) usual.erase(usual.begin());
    const SourceNode* node = fields.node("axes");
    if (!node) return usual;
    Axes axes = listed_axes(*node, diagnostics);
    if (axes.empty() || shape.empty()) return {};
    const auto refuse = [&](const std::string& text, const char* help) {
        diagnostics.error(Code::conflicting_fields, node->span, text, help);
        return Axes();
    };
    if (axes.size() != shape.size())
        return refuse(fmt::format("`axes` of input names {}, and `shape` has {}",
                                  count_text(std::int64_t(axes.size()), "axis", "axes"),
                                  count_text(std::int64_t(shape.size()), "extent")),
                      "there is a kind for each extent; the batch is not counted");
    const auto count = [&](AxisKind kind) { return std::count(axes.begin(), axes.end(), kind); };
    // Integers may be the features themselves.
    const std::int64_t features = count(AxisKind::channel) + count(AxisKind::feature);
    if (features != 1 && !(features == 0 && fields.text("dtype") == "i32"))
        return refuse("`axes` of input must have one axis of kind channel or feature",
                      "such as [step, feature]; of integers there may be none, as in [step]");
    // Channels that are last anyway are features.
    if (axes.back() == AxisKind::channel) axes.back() = AxisKind::feature;
    return axes;
}

/// What `values` says must be what the elements are.
void check_values(const FieldValues& fields, const InputSpec& input, Diagnostics& diagnostics) {
    const bool integers = fields.text("dtype") == "i32";
    if (integers == fields.values.contains("values")) {
        if (integers && input.shape.size() != 1)
            diagnostics.error(
                Code::wrong_type, input.span,
                fmt::format("`shape` of input has {} extents; an input of integers has one",
                            input.shape.size()),
                "such as `{shape: [16], axes: [step], dtype: i32, values: 1000}`, 16 integers a "
                "sample");
        return;
    }
    diagnostics.error(
        Code::conflicting_fields, span_or(fields.spans, integers ? "dtype" : "values", input.span),
        integers ? "an input of integers has no `values`: how many they may have"
                 : "`values` of input is of integers, and its elements are real numbers",
        integers ? "such as `values: 1000` for 0 to 999" : "add `dtype: i32`");
}

/// `spans`: those of the model, which gets those of the fields, by "inputs.NAME.shape" and so on.
std::optional<InputSpec> read_input(const std::string& name, const SourceNode& tree,
                                    const ModelLanguage& language,
                                    std::map<std::string, Span>& spans, Diagnostics& diagnostics) {
    if (!tree.is_map()) {
        diagnostics.error(
            Code::wrong_type, tree.span,
            fmt::format("`{}` of {} is {}; it must be a map", name.empty() ? "input" : name,
                        name.empty() ? "model" : "inputs", describe(tree)),
            "such as `input: {shape: [1, 28, 28]}`");
        return std::nullopt;
    }
    const auto known = evaluated(tree, InReach(language.parameters()), diagnostics);
    if (!known) return std::nullopt;
    const int errors = diagnostics.error_count();
    const FieldValues fields =
        read_fields(*known, name.empty() ? input_table() : named_input_table(),
                    {.what = "input",
                     .span = tree.span,
                     .more_elsewhere = [] { return help_for_misplaced("model"); }},
                    diagnostics);
    for (const auto& [field, span] : fields.spans)
        spans[(name.empty() ? "input." : "inputs." + name + ".") + field] = span;
    InputSpec input{.name = name, .shape = fields.dims("shape")};
    input.span = span_or(fields.spans, "shape", tree.span);
    input.values = fields.integer("values");
    if (fields.values.contains("shape")) {
        check_input_shape(input, fields.node("axes") != nullptr, diagnostics);
        check_values(fields, input, diagnostics);
    }
    input.axes = read_axes(fields, input.shape, diagnostics);
    if (diagnostics.error_count() != errors) {
        input.shape = {};
        input.axes = {};
    }
    return input;
}

void read_inputs(FieldValues& fields, const ModelLanguage& language, ModelSpec& model,
                 Diagnostics& diagnostics) {
    if (const SourceNode* input = fields.node("input")) {
        if (const auto read = read_input("", *input, language, fields.spans, diagnostics))
            model.inputs = {*read};
    }
    const SourceNode* inputs = fields.node("inputs");
    if (!inputs) return;
    if (fields.node("input")) {
        diagnostics.error(Code::conflicting_fields, span_or(fields.spans, "inputs", model.span),
                          "the model has both `input` and `inputs`",
                          "leave one of them out: `input` is one without a name");
        return;
    }
    if (!inputs->is_map() || inputs->entries.empty()) {
        diagnostics.error(
            Code::wrong_type, inputs->span,
            fmt::format("`inputs` of model is {}; it must be a map of inputs", describe(*inputs)),
            "such as `inputs: {image: {shape: [1, 28, 28]}}`; one without a name is `input: "
            "{shape: [1, 28, 28]}`");
        return;
    }
    model.inputs.clear();
    for (const SourceEntry& entry : inputs->entries) {
        const bool sound = check_layer_name(entry.key, entry.key_span, diagnostics);
        if (sound && (is_reserved_input(entry.key) || entry.key.find('/') != std::string::npos))
            diagnostics.error(
                Code::bad_name, entry.key_span,
                fmt::format("an input cannot be called `{}`, as programs have such inputs",
                            entry.key));
        if (auto read = read_input(entry.key, entry.value, language, fields.spans, diagnostics))
            model.inputs.push_back(std::move(*read));
    }
    if (model.inputs.empty()) model.inputs.resize(1);
}

}  // namespace

namespace {

/// What is said of words that are no fields of a model; those of its parameters first, also by what
/// other tools call the number of classes.
std::map<std::string, std::string> help_for_model_fields(const SourceNode& tree) {
    std::map<std::string, std::string> help;
    const SourceEntry* parameters = tree.find("parameters");
    const auto add = [&](const std::string& word, const std::string& parameter) {
        const SourceEntry* given = tree.find(word);
        help.emplace(
            word, fmt::format("it is a parameter of the model: `parameters: {{{}: {}}}`", parameter,
                              given && given->value.is_scalar() ? given->value.text : "..."));
    };
    if (parameters)
        for (const SourceEntry& one : parameters->value.entries) {
            add(one.key, one.key);
            if (one.key == "classes")
                for (const char* word : {"num_classes", "n_classes", "nb_classes", "num_labels"})
                    add(word, one.key);
        }
    help.insert(help_for_misplaced("model").begin(), help_for_misplaced("model").end());
    return help;
}

}  // namespace

ModelSpec read_model(const SourceNode& tree, const std::string& default_name,
                     Diagnostics& diagnostics) {
    ModelSpec model;
    model.span = span_of(tree);
    const int errors = diagnostics.error_count();
    FieldTable table = model_table();
    // Either of the two, however it is spelt.
    std::vector<std::string> names;
    for (const Field& field : table)
        names.emplace_back(field.name);
    const auto means_inputs = [&](const SourceEntry& entry) {
        return entry.key == "inputs" ||
               (!find_field(table, entry.key) && did_you_mean(entry.key, names) == "inputs");
    };
    if (std::any_of(tree.entries.begin(), tree.entries.end(), means_inputs))
        std::find_if(table.begin(), table.end(), [](const Field& field) {
            return field.name == "input";
        })->optional = true;
    FieldValues fields =
        read_fields(tree, table,
                    {.what = "model",
                     .span = model.span,
                     .more_elsewhere = [&] { return help_for_model_fields(tree); }},
                    diagnostics);
    check_spec_name(fields, "model", diagnostics);
    read_allowed(fields, "model", diagnostics);
    model.name = fields.values.contains("name") ? fields.text("name") : default_name;

    const ModelLanguage language(fields.node("parameters"), fields.node("defaults"),
                                 fields.node("blocks"), fields.node("operators"), diagnostics);
    read_inputs(fields, language, model, diagnostics);
    if (const SourceNode* layers = fields.node("layers")) {
        if (!layers->is_list()) {
            diagnostics.error(
                Code::wrong_type, layers->span,
                fmt::format("`layers` of model is {}; it must be a list", describe(*layers)),
                "begin every layer with `- `");
        } else if (layers->items.empty()) {
            diagnostics.error(Code::out_of_range, layers->span,
                              "`layers` of model is empty; there must be a layer");
        } else {
            model.replaced_layers = tree.find("layers")->replaced;
            expand_layers(*layers, language, model, diagnostics);
        }
    }
    model.operators = formulas_of(language.blocks());
    // A wrong place may be the one that should read them.
    if (diagnostics.error_count() == errors) check_unused_parameters(tree, diagnostics);
    forget_made(fields.spans);
    model.spans = std::move(fields.spans);
    return model;
}

}  // namespace dtnn::compiler
