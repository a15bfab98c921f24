// Model, loss, data and training together.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/expression/expression.hpp"
#include "compiler/frontend/lint/lint_rule.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/ops/expression/parse_infix.hpp"
#include "compiler/ops/loss/losses.hpp"
#include "plan/rules/parallel.hpp"

namespace dtnn::compiler {
namespace {

const LossInfo* loss_of(const LintSubject& subject) {
    return find_loss(subject.training().loss, subject.training().loss_attributes);
}

/// A loss of whole rows of probabilities, which sum to 1.
bool is_of_distributions(const LossInfo& loss) {
    return !loss.is_pointwise() && loss.takes == plan::Prediction::probabilities;
}

void note_loss(const LintSubject& subject, Diagnostic& warning) {
    if (subject.job().training.spans.contains("loss"))
        warning.notes.push_back({subject.of_training("loss"), "the loss is chosen here"});
}

void sigmoid_for_classes(const LintSubject& subject, LintVoice& voice) {
    const LossInfo* loss = loss_of(subject);
    const LayerSpec& end = subject.end();
    if (!loss || !is_of_distributions(*loss) || !gives_separate_probabilities(end) ||
        subject.dataset().target().kind != plan::LabelKind::classes)
        return;
    Diagnostic& warning =
        voice.say(end.span,
                  fmt::format("the model ends in `{}`, which gives each class a probability of its "
                              "own, but `{}` takes probabilities that sum to 1",
                              end.type, subject.training().loss),
                  "end the model with `- softmax`, or choose `loss: binary_cross_entropy`");
    note_loss(subject, warning);
}

void softmax_for_many(const LintSubject& subject, LintVoice& voice) {
    const LossInfo* loss = loss_of(subject);
    const LayerSpec& end = subject.end();
    if (!loss || !gives_distribution(end)) return;
    const bool many = subject.dataset().target().kind == plan::LabelKind::multiple;
    const bool each = loss->is_pointwise() && loss->takes == plan::Prediction::probabilities;
    if (!many && !each) return;
    Diagnostic& warning = voice.say(
        end.span,
        fmt::format("the model ends in `{}`, whose probabilities sum to 1, but {}", end.type,
                    many ? "a sample may have any number of classes"
                         : fmt::format("`{}` takes each class by itself", subject.training().loss)),
        many ? "end the model with `- sigmoid`, and choose `loss: binary_cross_entropy`"
             : "end the model with `- sigmoid`, or choose `loss: categorical_cross_entropy`");
    note_loss(subject, warning);
}

/// A number that keeps a probability away from 0, and is none that the probability is meant to
/// reach.
bool is_bound(const Expression& e) {
    constexpr double kLargest = 1e-2;
    return e.term == Term::number && e.number > 0 && e.number <= kLargest;
}

/// What stands in place of the prediction, input 0, or of 1 less it, kept away from 0; null:
/// nothing does.
const Expression* clipped(const Expression& e) {
    const bool clips = (e.term == Term::max || e.term == Term::add) &&
                       (is_bound(e.operands[0]) || is_bound(e.operands[1]));
    return clips && reads(e, 0) ? &e : nullptr;
}

/// The first logarithm of such an operand, or quotient by one that has no slope; null: there is
/// none.
const Expression* of_clipped(const Expression& e) {
    if (e.term == Term::log && clipped(e.operands[0])) return &e;
    if (e.term == Term::div && e.operands[1].term == Term::max && clipped(e.operands[1])) return &e;
    for (const Expression& operand : e.operands)
        if (const Expression* found = of_clipped(operand)) return found;
    return nullptr;
}

void clipped_probability(const LintSubject& subject, LintVoice& voice) {
    const LossInfo* loss = loss_of(subject);
    const LayerSpec& end = subject.end();
    if (!loss || !loss->written || op(end.type).gives != plan::Prediction::probabilities) return;
    const auto* text = value_of<std::string>(subject.training().loss_attributes, "expression");
    if (!text) return;
    const std::vector<std::string> names = {"p", "t"};
    const Expression formula = parse_infix(*text, names);
    const Expression* found = of_clipped(formula);
    if (!found) return;
    const bool logarithm = found->term == Term::log;
    const Expression& bounded = found->operands[logarithm ? 0 : 1];
    voice.say(subject.of_training("loss"),
              fmt::format("the loss has `{}`, and `{}` has no slope, or hardly any, where a "
                          "probability is nearly 0: the worst answers teach nothing",
                          to_infix(*found, names), to_infix(bounded, names)),
              logarithm
                  ? fmt::format("write `log(p)` without a bound: behind `{}` it is finite and "
                                "exact",
                                end.type)
                  : "take the logarithm of `p`, or a difference, in place of the quotient");
}

void bounded_regression(const LintSubject& subject, LintVoice& voice) {
    const LossInfo* loss = loss_of(subject);
    const LayerSpec& end = subject.end();
    const plan::Dataset& dataset = subject.dataset();
    if (!loss || !op(end.type).range) return;
    // Samples of mean 0 have numbers of either sign.
    if (dataset.target().kind == plan::LabelKind::input && is_centred(dataset)) {
        Diagnostic& warning = voice.say(
            end.span,
            fmt::format("the model ends in `{}`, whose numbers are {}, and is to give samples of "
                        "mean 0 and deviation 1; what lies beyond is never reached",
                        end.type, range_text(*op(end.type).range)),
            fmt::format("leave out the transform `normalize`, or the {}", end.type));
        if (subject.job().dataset.spans.contains("transforms"))
            warning.notes.push_back(
                {subject.of_dataset("transforms"), "the samples are normalised here"});
        return;
    }
    if (loss->takes != plan::Prediction::scores || dataset.target().kind != plan::LabelKind::values)
        return;
    Diagnostic& warning = voice.say(
        end.span,
        fmt::format(
            "the model ends in `{}`, whose numbers are {}; targets beyond that are never reached",
            end.type, range_text(*op(end.type).range)),
        fmt::format("leave out the {}, unless all targets are {}", end.type,
                    range_text(*op(end.type).range)));
    note_loss(subject, warning);
}

/// Samples that a batch norm sees at once, in the smallest batch of an epoch.
void batch_norm_of_one(const LintSubject& subject, LintVoice& voice) {
    const std::int64_t batch = subject.training().batch_size;
    const std::int64_t left = samples_of_epoch(subject.job()) % batch;
    const std::int64_t least = left > 0 ? left : batch;
    if (least > 1) return;
    for (const LayerSpec& layer : subject.layers()) {
        if (!op(layer.type).centres_channels) continue;
        std::int64_t pixels = 1;
        for (std::size_t i = 1; i < layer.shape.size(); ++i)
            pixels *= layer.shape[i];
        if (pixels > 1) continue;
        const Span span = subject.of_training("batch_size");
        Diagnostic& warning = voice.say(
            span,
            batch == 1 ? fmt::format("a batch has one sample, and `{}` one number for each "
                                     "channel: its deviation is 0, and so is what comes out",
                                     layer.name)
                       : fmt::format("the last batch of an epoch has one sample ({} samples in "
                                     "batches of {}), and `{}` one number for each channel: its "
                                     "deviation is 0, and so is what comes out",
                                     samples_of_epoch(subject.job()), batch, layer.name),
            batch == 1 ? "make the batches larger, or normalise with `layer_norm`"
                       : "choose another batch size");
        warning.notes.push_back({layer.span, fmt::format("`{}` is here", layer.name)});
        return;
    }
}

std::int64_t steps_of_epoch(const LintSubject& subject) {
    const plan::Training& training = subject.training();
    const std::int64_t all = plan::steps_of_pass(samples_of_epoch(subject.job()),
                                                 training.batch_size, subject.job().ranks);
    return training.steps_per_epoch > 0 ? std::min(training.steps_per_epoch, all) : all;
}

void accumulation_over_epoch(const LintSubject& subject, LintVoice& voice) {
    const std::int64_t accumulation = subject.training().accumulation;
    const std::int64_t steps = steps_of_epoch(subject);
    if (accumulation <= 1 || accumulation <= steps) return;
    voice.say(subject.of_training("accumulation"),
              fmt::format("an update adds up {} batches, but an epoch has {}", accumulation, steps),
              "accumulate fewer batches, or make them smaller");
}

void slow_average(const LintSubject& subject, LintVoice& voice) {
    const double decay = subject.training().average_decay;
    if (!(decay > 0)) return;
    const std::int64_t updates =
        subject.training().epochs *
        std::max<std::int64_t>(1, steps_of_epoch(subject) / subject.training().accumulation);
    // The part of the first weights that is left after t updates is the decay to the power of t.
    const double left = std::pow(decay, double(updates));
    if (left < 0.05) return;
    voice.say(subject.of_training("average.decay"),
              fmt::format("after all {} updates of the training the average still holds {:.0f} % "
                          "of the first, untrained weights",
                          updates, left * 100),
              fmt::format("make `decay` smaller: {:.3g} leaves 1 %",
                          std::pow(0.01, 1 / double(updates))));
}

constexpr std::array kJobRules = {
    LintRule{Code::sigmoid_for_classes, LintScope::job, sigmoid_for_classes},
    LintRule{Code::softmax_for_many, LintScope::job, softmax_for_many},
    LintRule{Code::clipped_probability, LintScope::job, clipped_probability},
    LintRule{Code::bounded_regression, LintScope::job, bounded_regression},
    LintRule{Code::batch_norm_of_one, LintScope::job, batch_norm_of_one},
    LintRule{Code::accumulation_over_epoch, LintScope::job, accumulation_over_epoch},
    LintRule{Code::slow_average, LintScope::job, slow_average},
};

}  // namespace

std::span<const LintRule> job_lints() {
    return kJobRules;
}

}  // namespace dtnn::compiler
