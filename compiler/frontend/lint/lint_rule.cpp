#include "compiler/frontend/lint/lint_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/components.hpp"

namespace dtnn::compiler {

const LayerSpec* LintSubject::source(const LayerSpec& layer) const {
    const int first = layer.sources.empty() ? -1 : layer.sources[0];
    return first < 0 ? nullptr : &layers()[std::size_t(first)];
}

const LayerSpec* LintSubject::before(const LayerSpec& layer,
                                     const std::function<bool(const LayerSpec&)>& passes) const {
    const LayerSpec* one = source(layer);
    while (one && passes(*one))
        one = source(*one);
    return one;
}

std::vector<const LayerSpec*> LintSubject::readers(const LayerSpec& layer) const {
    if (readers_.empty()) {
        readers_.resize(layers().size());
        for (const LayerSpec& reader : layers())
            for (const int source : reader.sources)
                if (source >= 0) readers_[std::size_t(source)].push_back(&reader);
    }
    return readers_[std::size_t(&layer - layers().data())];
}

const Dims& LintSubject::input_shape(const LayerSpec& layer) const {
    const LayerSpec* read = source(layer);
    return read ? read->shape : job_.model.input_of(layer.sources[0]).shape;
}

const LayerSpec& LintSubject::end() const {
    const LayerSpec* last = &layers().back();
    while (keeps_numbers(*last) && source(*last))
        last = source(*last);
    return *last;
}

Span LintSubject::of_training(const std::string& path) const {
    return span_or(job_.training.spans, path, job_.training.span);
}

Span LintSubject::of_dataset(const std::string& path) const {
    return span_or(job_.dataset.spans, path, job_.dataset.span);
}

Diagnostic& LintVoice::say(const Span& span, std::string text, std::string help) {
    Diagnostic& warning = diagnostics_.warning(code_, span, std::move(text));
    warning.help = std::move(help);
    return warning;
}

void LintVoice::say(const std::vector<const LayerSpec*>& layers, std::string text,
                    std::string help) {
    constexpr std::size_t kShown = 3;
    if (layers.empty()) return;
    // A block that is used often, and what is repeated, stands in one place.
    std::vector<const LayerSpec*> places;
    for (const LayerSpec* layer : layers) {
        bool is_new = true;
        for (const LayerSpec* known : places)
            is_new = is_new && !(known->span.place == layer->span.place);
        if (is_new && places.size() < kShown) places.push_back(layer);
    }
    if (layers.size() > 1) text += fmt::format(" (one of {} such layers)", layers.size());
    Diagnostic& warning = say(places.front()->span, std::move(text), std::move(help));
    for (std::size_t i = 1; i < places.size(); ++i)
        warning.notes.push_back({places[i]->span, fmt::format("`{}` is another", places[i]->name)});
}

bool keeps_numbers(const LayerSpec& layer) {
    return op(layer.type).keeps_numbers;
}

bool is_product(const LayerSpec& layer) {
    const auto family = op(layer.type).family;
    return family == Family::convolution || family == Family::dense;
}

bool is_dropout(const LayerSpec& layer) {
    const auto* rate = value_of<double>(layer.fields, "rate");
    return op(layer.type).family == Family::dropout && rate && *rate > 0;
}

namespace {

bool is_probability(const LayerSpec& layer) {
    const plan::Prediction gives = op(layer.type).gives;
    return gives == plan::Prediction::probabilities || gives == plan::Prediction::log_probabilities;
}

}  // namespace

// An elementwise operator knows one number; only others can make them sum to 1.
bool gives_distribution(const LayerSpec& layer) {
    return is_probability(layer) && op(layer.type).expression.empty();
}

bool gives_separate_probabilities(const LayerSpec& layer) {
    return is_probability(layer) && !op(layer.type).expression.empty();
}

bool is_centred(const plan::Dataset& dataset) {
    return std::any_of(dataset.transforms.begin(), dataset.transforms.end(),
                       [](const plan::Component& one) {
                           const ComponentInfo* info = transforms().find(one.type);
                           return info && info->centres;
                       });
}

}  // namespace dtnn::compiler
