#include "compiler/frontend/read/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/frontend/expand/expansion.hpp"
#include "compiler/frontend/expand/unused_parameters.hpp"
#include "compiler/frontend/tables/homes.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ir/axes.hpp"

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
    const auto samples = double(job.dataset.dataset.train_samples);
    // 0.29 of 100 samples are 29, though the product is 28.999...
    constexpr double kRounding = 1e-7;
    const double left =
        samples - std::floor(samples * job.training.training.validation_split + kRounding);
    return std::max<std::int64_t>(
        1, std::int64_t(std::floor(left * job.dataset.sample_percentage / 100 + kRounding)));
}

void check_spec_name(const FieldValues& fields, const std::string& what, Diagnostics& diagnostics) {
    const auto span = fields.spans.find("name");
    const std::string name = fields.text("name");
    if (span == fields.spans.end() || span->second.place.file.empty() || fits(name)) return;
    if (!fields.values.contains("name")) return;
    Diagnostic& error = diagnostics.error(
        Code::bad_name, span->second,
        fmt::format(
            "the name of the {} is `{}`; it must be at most 100 letters, digits, `_`, `-` and "
            "`.`, beginning with a letter or digit",
            what, name));
    std::string sound = name;
    std::replace(sound.begin(), sound.end(), ' ', '_');
    if (fits(sound)) error.help = fmt::format("such as `{}`", sound);
}

void check_sample_shape(const Dims& shape, const Span& span, const std::string& what,
                        Diagnostics& diagnostics) {
    if (shape.size() != 3) {
        diagnostics
            .error(Code::wrong_type, span,
                   fmt::format("`shape` of {} has {} extents; it must be [channels, height, width]",
                               what, shape.size()))
            .help = shape.size() == 4
                        ? fmt::format(
                              "leave the batch out, such as [{}, {}, {}]; channels come "
                              "first",
                              shape[1], shape[2], shape[3])
                        : "for samples without height and width write [features, 1, 1]";
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
    const int errors = diagnostics.error_count();
    FieldValues fields = read_fields(tree, model_table(),
                                     {"model", model.span, homes_of_words("model")}, diagnostics);
    check_spec_name(fields, "model", diagnostics);
    read_allowed(fields, "model", diagnostics);
    model.name = fields.values.contains("name") ? fields.text("name") : default_name;

    const ModelLanguage language(fields.node("parameters"), fields.node("defaults"),
                                 fields.node("blocks"), fields.node("operators"), diagnostics);
    if (const SourceNode* input = fields.node("input")) {
        if (!input->is_map()) {
            diagnostics
                .error(Code::wrong_type, input->span,
                       fmt::format("`input` of model is {}; it must be a map", describe(*input)))
                .help = "such as `input: {shape: [1, 28, 28]}`";
        } else if (const auto known =
                       evaluated(*input, InReach(language.parameters()), diagnostics)) {
            FieldValues shape =
                read_fields(*known, input_table(), {"input", input->span, homes_of_words("model")},
                            diagnostics);
            model.input_shape = shape.dims("shape");
            const Axes image = usual_axes(3);
            if (model.input_shape.size() + 1 == image.size())
                model.input_axes.assign(image.begin() + 1, image.end());
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
    model.operators = formulas_of(language.blocks());
    // Where something is wrong it may be what should read them.
    if (diagnostics.error_count() == errors) check_unused_parameters(tree, diagnostics);
    forget_made(fields.spans);
    model.spans = std::move(fields.spans);
    return model;
}

}  // namespace dtnn::compiler
