// Layers: what follows what.

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "compiler/frontend/lint/lint_rule.hpp"
#include "compiler/frontend/read/validation.hpp"

namespace dtnn::compiler {
namespace {

using LayerList = std::vector<const LayerSpec*>;

bool is_activation(const LayerSpec& layer) {
    return op(layer.type).family == Family::activation;
}

/// The layer whose numbers a layer reads, whatever their shape.
const LayerSpec* numbers_before(const LintSubject& subject, const LayerSpec& layer) {
    return subject.before(layer, keeps_numbers);
}

void channels_last(const LintSubject& subject, LintVoice& voice) {
    const InputSpec& input = subject.job().model.input();
    const Dims& shape = input.shape;
    constexpr std::int64_t kMostColours = 4, kColours = 3, kSmallPicture = 16;
    if (!input.is_image() || shape.empty() || shape[0] <= kMostColours || shape[2] > kMostColours ||
        shape[2] == 2)
        return;
    // Extents that are no square are a picture only in colours: [32, 1000, 1] are signals.
    const bool picture =
        shape[2] == kColours && shape[0] >= kSmallPicture && shape[1] >= kSmallPicture;
    if (shape[0] != shape[1] && !picture) return;
    voice.say(input.span,
              fmt::format("the input has {} channels of {}x{} pixels; a shape is channels, height, "
                          "width",
                          shape[0], shape[1], shape[2]),
              fmt::format("write `shape: [{}, {}, {}]` for images of {}x{}", shape[2], shape[0],
                          shape[1], shape[0], shape[1]));
}

void softmax_twice(const LintSubject& subject, LintVoice& voice) {
    for (const LayerSpec& layer : subject.layers()) {
        if (!gives_distribution(layer)) continue;
        const LayerSpec* read = numbers_before(subject, layer);
        if (!read || !(gives_distribution(*read) || gives_separate_probabilities(*read))) continue;
        Diagnostic& warning = voice.say(
            layer.span,
            fmt::format("`{}` reads `{}`, which gives probabilities already; probabilities of "
                        "probabilities are nearly alike, and gradients small",
                        layer.name, read->name),
            read->type == layer.type
                ? std::string("leave one of them out")
                : fmt::format("leave out the {} or the {}", read->type, layer.type));
        warning.notes.push_back({read->span, fmt::format("`{}` is here", read->name)});
    }
}

/// For each layer the first that takes channels' means away behind it, past layers that `passes`
/// holds of; null: there is none, or, with `all`, something else reads the layer as well.
LayerList centred_behind(const LintSubject& subject, bool all,
                         const std::function<bool(const LayerSpec&)>& passes) {
    const std::vector<LayerSpec>& layers = subject.layers();
    LayerList behind(layers.size(), nullptr);
    // Layers stand behind those that they read.
    for (std::size_t i = layers.size(); i-- > 0;) {
        bool others = false;
        for (const LayerSpec* reader : subject.readers(layers[i])) {
            const LayerSpec* next = op(reader->type).centres_channels ? reader
                                    : passes(*reader) ? behind[std::size_t(reader - layers.data())]
                                                      : nullptr;
            if (next && !behind[i]) behind[i] = next;
            others = others || !next;
        }
        if (all && others) behind[i] = nullptr;
    }
    return behind;
}

bool keeps_shifts(const LayerSpec& layer) {
    const OpDef& def = op(layer.type);
    return def.keeps_shifts && def.keeps_shifts(layer.fields);
}

void bias_before_norm(const LintSubject& subject, LintVoice& voice) {
    LayerList found;
    std::string reader;
    const LayerList behind = centred_behind(subject, true, keeps_shifts);
    for (std::size_t i = 0; i < behind.size(); ++i) {
        const LayerSpec& layer = subject.layers()[i];
        const bool* bias = value_of<bool>(layer.fields, "bias");
        if (!is_product(layer) || !bias || !*bias || !behind[i]) continue;
        if (found.empty()) reader = behind[i]->name;
        found.push_back(&layer);
    }
    if (found.empty()) return;
    voice.say(
        found,
        fmt::format("the bias of `{}` changes nothing: `{}` behind it takes each channel's "
                    "mean away",
                    found[0]->name, reader),
        fmt::format("write `bias: false`, or `defaults: {{{}: {{bias: false}}}}` in the model",
                    found[0]->type));
}

void dropout_before_norm(const LintSubject& subject, LintVoice& voice) {
    LayerList found;
    std::string reader;
    const LayerList behind = centred_behind(subject, false, [](const LayerSpec& one) {
        return keeps_numbers(one) || op(one.type).family == Family::pooling || keeps_shifts(one) ||
               (is_activation(one) && !gives_distribution(one));
    });
    for (std::size_t i = 0; i < behind.size(); ++i) {
        const LayerSpec& layer = subject.layers()[i];
        if (!is_dropout(layer) || !behind[i]) continue;
        if (found.empty()) reader = behind[i]->name;
        found.push_back(&layer);
    }
    if (found.empty()) return;
    voice.say(found,
              fmt::format("`{}` stands before `{}`, whose moving variance is then that of numbers "
                          "with dropout, and not what inference sees (Li et al., 2018)",
                          found[0]->name, reader),
              "put dropout behind the last normalisation");
}

/// Kernels of one row and of one column: a larger one in two factors.
bool are_factors(const LayerSpec& a, const LayerSpec& b) {
    using Pair = std::vector<std::int64_t>;
    const auto *first = value_of<Pair>(a.fields, "kernel"),
               *second = value_of<Pair>(b.fields, "kernel");
    if (!first || !second || first->size() != 2 || second->size() != 2) return false;
    return ((*first)[0] == 1 && (*second)[1] == 1) || ((*first)[1] == 1 && (*second)[0] == 1);
}

/// A depthwise convolution, or one in groups: the one behind it mixes the channels.
bool keeps_channels_apart(const LayerSpec& layer) {
    const auto* groups = value_of<std::int64_t>(layer.fields, "groups");
    return op(layer.type).keeps_channels_apart || (groups && *groups > 1);
}

void no_activation(const LintSubject& subject, LintVoice& voice) {
    LayerList found;
    std::string first;
    for (const LayerSpec& layer : subject.layers()) {
        if (!is_product(layer)) continue;
        const LayerSpec* read = subject.before(layer, [](const LayerSpec& one) {
            return keeps_numbers(one) || op(one.type).family == Family::dropout;
        });
        if (!read || !is_product(*read)) continue;
        if (keeps_channels_apart(*read) || keeps_channels_apart(layer)) continue;
        const bool convolutions = op(layer.type).family == op(read->type).family &&
                                  op(layer.type).family == Family::convolution;
        if (convolutions && are_factors(*read, layer)) continue;
        if (found.empty()) first = read->name;
        found.push_back(&layer);
    }
    if (found.empty()) return;
    voice.say(found,
              fmt::format("no activation stands between `{}` and `{}`: two linear layers in a row "
                          "can do no more than one",
                          first, found[0]->name),
              "put an activation between them, such as `- relu`");
}

void softmax_of_one(const LintSubject& subject, LintVoice& voice) {
    for (const LayerSpec& layer : subject.layers()) {
        if (!gives_distribution(layer) || layer.shape.empty() || layer.shape[0] != 1) continue;
        voice.say(layer.span,
                  fmt::format("`{}` divides one number by itself: the probability of one class is "
                              "always 1, and nothing is learnt",
                              layer.name),
                  "give the layer before it as many units as there are classes, or end in "
                  "`sigmoid` with `loss: binary_cross_entropy`");
    }
}

void activation_twice(const LintSubject& subject, LintVoice& voice) {
    for (const LayerSpec& layer : subject.layers()) {
        if (!is_activation(layer) || gives_distribution(layer) || keeps_numbers(layer)) continue;
        const LayerSpec* read = numbers_before(subject, layer);
        if (!read || read->type != layer.type || read->fields != layer.fields) continue;
        Diagnostic& warning = voice.say(
            layer.span, fmt::format("`{}` reads `{}`, the same activation", layer.name, read->name),
            "leave one of them out");
        warning.notes.push_back({read->span, fmt::format("`{}` is here", read->name)});
    }
}

void activation_before_softmax(const LintSubject& subject, LintVoice& voice) {
    for (const LayerSpec& layer : subject.layers()) {
        if (!gives_distribution(layer)) continue;
        const LayerSpec* read = numbers_before(subject, layer);
        if (!read || !op(read->type).range || gives_separate_probabilities(*read) ||
            gives_distribution(*read))
            continue;
        const LayerSpec* product = subject.before(*read, keeps_numbers);
        if (!product || !is_product(*product)) continue;
        voice.say(read->span,
                  fmt::format("`{}` keeps the scores that `{}` reads {}; scores may be any numbers",
                              read->name, layer.name, range_text(*op(read->type).range)),
                  fmt::format("leave out the {}", read->type));
    }
}

void dropout_of_predictions(const LintSubject& subject, LintVoice& voice) {
    const LayerSpec* last = &subject.end();
    if (gives_distribution(*last) || gives_separate_probabilities(*last))
        last = numbers_before(subject, *last);
    if (!last || !is_dropout(*last)) return;
    voice.say(last->span,
              fmt::format("`{}` drops predictions themselves: of a class that is dropped the score "
                          "is 0, whatever the sample",
                          last->name),
              "put it before the last layer with weights");
}

/// A list takes the place of the whole list.
void layers_replaced(const LintSubject& subject, LintVoice& voice) {
    constexpr std::size_t kMany = 4, kFew = 2;
    const ModelSpec& model = subject.job().model;
    if (model.replaced_layers < kMany || model.layers.size() > kFew) return;
    voice.say(
        span_or(model.spans, "layers", model.span),
        fmt::format(
            "`layers` makes {}, in place of all {} entries of the model that this one extends",
            count_text(std::int64_t(model.layers.size()), "layer"), model.replaced_layers),
        "a list replaces a list: to change a part, give the block that it stands in, or write "
        "all entries, which `dtnnc resolve` shows of the other model");
}

constexpr std::array kRules = {
    LintRule{Code::layers_replaced, LintScope::model, layers_replaced},
    LintRule{Code::channels_last, LintScope::model, channels_last},
    LintRule{Code::softmax_twice, LintScope::model, softmax_twice},
    LintRule{Code::softmax_of_one, LintScope::model, softmax_of_one},
    LintRule{Code::activation_before_softmax, LintScope::model, activation_before_softmax},
    LintRule{Code::activation_twice, LintScope::model, activation_twice},
    LintRule{Code::no_activation, LintScope::model, no_activation},
    LintRule{Code::bias_before_norm, LintScope::model, bias_before_norm},
    LintRule{Code::dropout_before_norm, LintScope::model, dropout_before_norm},
    LintRule{Code::dropout_of_predictions, LintScope::model, dropout_of_predictions},
};

}  // namespace

std::span<const LintRule> model_lints() {
    return kRules;
}

}  // namespace dtnn::compiler
