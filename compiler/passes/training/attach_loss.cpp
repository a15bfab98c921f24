#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ops/axis.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/loss/label_sequences.hpp"
#include "compiler/ops/loss/losses.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "compiler/passes/shared/target_scale.hpp"
#include "compiler/support/check.hpp"
#include "plan/metrics.hpp"
#include "plan/rules/ignored_labels.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kLossOfProbabilities = "categorical_cross_entropy";
constexpr const char* kLossOfLogarithms = "negative_log_likelihood";

/// Appends the loss and the metrics to a graph whose predictions are rows.
class Measures {
  public:
    /// `target`: the samples as rows, where these are their own labels.
    Measures(Rewriter& r, const Graph& graph, const PassContext& context, ValueId predictions,
             plan::Prediction gives, std::int64_t pixels, ValueId target)
        : r_(r),
          graph_(graph),
          context_(context),
          predictions_(predictions),
          pixels_(pixels),
          targeted_(context.soft_labels || !plan::are_integers(context.label_kind)),
          sequences_(context.label_kind == plan::LabelKind::sequence),
          logarithms_(gives == plan::Prediction::log_probabilities) {
        const plan::Training& training = context.training;
        loss_ = find_loss(training.loss, training.loss_attributes);
        DTNN_CHECK(loss_ != nullptr, "no loss is named `{}`", training.loss);
        const Type& rows = type();
        answers_ = target.valid() ? target
                   : targeted_    ? answers("targets", rows)
                                  : answers("labels", {DType::i32, {labels_of(rows)}, {}});
    }

    std::vector<GraphOutput> run() {
        loss_value_ = loss();
        outputs_.push_back({plan::kLossName, loss_value_});
        const std::vector<double> weights = weights_of_labels();
        if (!weights.empty() && !targeted_)
            add(kLossWeight, "label_weights", {answers_}, {{"class_weights", weights}});
        if (context_.ignores_labels)
            add(plan::kCountedLabels, "label_weights", {answers_},
                {{"class_weights", equal_weights()}});
        for (const plan::Metric& metric : context_.training.metrics)
            if (std::none_of(outputs_.begin(), outputs_.end(), [&](const GraphOutput& output) {
                    return output.name == metric.output;
                }))
                measure(metric);
        return std::move(outputs_);
    }

  private:
    const Type& type() const { return r_.graph().type(predictions_); }
    /// How many labels a batch has: one a row, or of a sequence as many as there is room for.
    std::int64_t labels_of(const Type& rows) const {
        if (!sequences_) return rows.dims[0];
        DTNN_CHECK(pixels_ > 0, "sequences of labels, and predictions without steps");
        return rows.dims[0] / pixels_ * context_.most_labels;
    }

    ValueId answers(const char* name, const Type& type) {
        const ValueId known = graph_.find_input(plan::InputRole::target);
        return known.valid() ? r_.map(known) : r_.add_input(name, type);
    }

    ValueId append(const char* op, ValueList inputs, Phase phase, Attributes attributes,
                   const std::string& name) {
        Node node;
        node.op = op;
        node.inputs = std::move(inputs);
        node.attributes = std::move(attributes);
        node.phase = phase;
        return emit(r_, std::move(node), name)[0];
    }

    /// The operator of that name over predictions and answers, with what its definition says that
    /// it knows of the samples: their pixels or steps, and how many steps each has.
    ValueId append_measure(const std::string& name, Phase phase, Attributes attributes,
                           const std::string& output) {
        const Attributes& known = op(name).attributes;
        if (known.contains("pixels")) attributes["pixels"] = pixels_;
        ValueList inputs{predictions_, answers_};
        if (sequences_) {
            attributes[kSteps] = pixels_;
            attributes[kBlank] = loss_field(kBlank, std::int64_t{0});
            if (const ValueId lengths = lengths_of_steps(); lengths.valid()) {
                attributes[kPadded] = true;
                inputs.push_back(lengths);
            }
        }
        return append(name.c_str(), std::move(inputs), phase, std::move(attributes), output);
    }

    AttributeValue loss_field(const char* name, const AttributeValue& absent) const {
        const auto found = context_.training.loss_attributes.find(name);
        return found == context_.training.loss_attributes.end() ? absent : found->second;
    }

    /// The input that says how many steps each sample has, where the predictions have those of the
    /// samples: as many.
    ValueId lengths_of_steps() const {
        ValueId lengths;
        bool same = false;
        for (const ValueId input : graph_.inputs) {
            const Type& type = graph_.type(input);
            if (!context_.lengths.empty() && graph_.value(input).name.str() == context_.lengths)
                lengths = r_.map(input);
            same = same || (type.axes.size() > 1 && type.axes[1] == AxisKind::step &&
                            type.dims[1] == pixels_);
        }
        return same ? lengths : ValueId();
    }

    void add(const std::string& output, const char* op, ValueList inputs, Attributes attributes) {
        outputs_.push_back(
            {output, append(op, std::move(inputs), Phase::metric, std::move(attributes), output)});
    }

    /// The numbers that predictions should be, as rows.
    ValueId targets() {
        if (targeted_) return answers_;
        if (!one_hot_.valid())
            one_hot_ = append(
                "one_hot", {answers_}, Phase::forward,
                {{"classes", type().dims[1]}, {"dtype", std::string(plan::name_of(type().dtype))}},
                "targets");
        return one_hot_;
    }

    /// Those that the loss takes: brought to a mean of 0 and a deviation of 1 where these are said.
    ValueId scaled_targets() {
        const std::vector<double>& deviation = context_.target_deviation;
        if (deviation.empty()) return targets();
        std::vector<double> factors, offsets;
        for (std::size_t i = 0; i < deviation.size(); ++i) {
            factors.push_back(1 / deviation[i]);
            offsets.push_back(-context_.target_mean[i] / deviation[i]);
        }
        return append("scale_classes", {targets()}, Phase::forward,
                      {{"class_weights", std::move(factors)}, {"offsets", std::move(offsets)}},
                      "scaled_targets");
    }

    /// The predictions in the units of the targets.
    ValueId predictions() {
        if (context_.target_deviation.empty()) return predictions_;
        if (!restored_.valid())
            restored_ = append("scale_classes", {predictions_}, Phase::metric,
                               target_scale(context_), "restored_predictions");
        return restored_;
    }

    /// The predictions where the loss takes them as they are, their sigmoid where it takes logits.
    ValueId probabilities() {
        if (loss_->takes != plan::Prediction::logits) return predictions();
        if (!sigmoid_.valid())
            sigmoid_ = append("sigmoid", {predictions_}, Phase::metric, {}, "probabilities");
        return sigmoid_;
    }

    ValueId loss() {
        const Attributes& fields = context_.training.loss_attributes;
        if (loss_->is_pointwise()) {
            ValueList operands{predictions_, scaled_targets()};
            std::vector<double> weights = positive_weights(fields);
            const bool weighted = !weights.empty();
            if (weighted)
                operands.push_back(append("scale_classes", {targets()}, Phase::forward,
                                          {{"class_weights", std::move(weights)}},
                                          "weighted_targets"));
            return append("elementwise_mean", std::move(operands), Phase::forward,
                          pointwise_attributes(*loss_, fields, weighted), "loss");
        }
        Attributes attributes = pick(fields, {"smoothing", "margin", "form", "smooth", "per"});
        if (attributes.contains("smoothing") && std::get<double>(attributes.at("smoothing")) == 0)
            attributes.erase("smoothing");
        if (auto weights = weights_of_labels(); !weights.empty())
            attributes["class_weights"] = std::move(weights);
        loss_attributes_ = attributes;
        return append_measure(std::string(loss_->name), Phase::forward, std::move(attributes),
                              "loss");
    }

    /// The mean over the rows that count of -log of the label's probability: the loss, where that
    /// is no more.
    ValueId cross_entropy() {
        Attributes attributes;
        if (context_.ignores_labels) attributes["class_weights"] = equal_weights();
        const char* const name = logarithms_ ? kLossOfLogarithms : kLossOfProbabilities;
        if (loss_->name == name && loss_attributes_ == attributes) return loss_value_;
        // As good as no bound: what no number of 32 bits is less than.
        if (!logarithms_) attributes["epsilon"] = double(std::numeric_limits<float>::min());
        return append(name, {predictions_, answers_}, Phase::metric, std::move(attributes),
                      "cross_entropy");
    }

    std::vector<double> equal_weights() const {
        return std::vector<double>(std::size_t(type().dims[1]), 1.0);
    }
    /// The weights of labels. Equal ones make the mean one over the labels that count, where some
    /// do not.
    std::vector<double> weights_of_labels() const {
        std::vector<double> weights = class_weights(context_.training.loss_attributes);
        // A mean over samples, whatever labels these have.
        if (sequences_) return weights;
        if (weights.empty() && context_.ignores_labels) weights = equal_weights();
        return weights;
    }

    /// One number stands for all classes.
    std::vector<double> positive_weights(const Attributes& fields) const {
        const auto found = fields.find("positive_weights");
        if (found == fields.end()) return {};
        const auto* weights = std::get_if<std::vector<double>>(&found->second);
        if (!weights || weights->empty()) return {};
        if (weights->size() > 1) return *weights;
        return std::vector<double>(std::size_t(type().dims[1]), weights->front());
    }

    void measure(const plan::Metric& metric) {
        const plan::MetricInfo* info = plan::find_metric(metric.type);
        DTNN_CHECK(info != nullptr, "no metric is named `{}`", metric.type);
        const auto threshold = metric.attributes.find("threshold");
        const double limit =
            threshold == metric.attributes.end() ? 0.5 : std::get<double>(threshold->second);
        if (info->join == plan::MetricJoin::scores) {
            if (context_.program == plan::ProgramKind::evaluate)
                outputs_.push_back({metric.output, predictions()});
        } else if (info->join == plan::MetricJoin::mean) {
            outputs_.push_back({metric.output, cross_entropy()});
        } else if (info->join == plan::MetricJoin::counts) {
            if (context_.label_kind == plan::LabelKind::classes)
                add(metric.output, "class_pairs", {predictions_, answers_}, {});
            else
                add(metric.output, "label_counts", {probabilities(), answers_},
                    {{"threshold", limit}});
        } else if (const LossInfo* same = find_loss(metric.type); same && same->is_pointwise()) {
            Attributes attributes = pointwise_attributes(*same, metric.attributes, false);
            attributes.erase("derivative");
            attributes.erase("rows");
            attributes["sum"] = true;
            add(metric.output, "elementwise_mean", {predictions(), targets()},
                std::move(attributes));
        } else if (info->over_elements) {  // The one that is no loss: the share that is right.
            add(metric.output, "elementwise_mean", {probabilities(), targets()},
                {{"expression", fmt::format("x0 {} gt x1 0.5 gt eq", limit)}, {"sum", true}});
        } else {
            Attributes attributes = pick(metric.attributes, {"k", "margin", "form"});
            if (same) attributes["sum"] = true;  // A loss is a mean.
            outputs_.push_back(
                {metric.output,
                 append_measure(metric.type, Phase::metric, std::move(attributes), metric.output)});
        }
    }

    Rewriter& r_;
    const Graph& graph_;
    const PassContext& context_;
    const LossInfo* loss_ = nullptr;
    ValueId predictions_, answers_, one_hot_, sigmoid_, restored_, loss_value_;
    Attributes loss_attributes_;  ///< of a loss over rows
    std::int64_t pixels_;         ///< or steps, of a sample; 0: predictions are rows
    bool targeted_;               ///< the answers are rows of numbers, not labels
    bool sequences_;              ///< the answers are labels of samples, not of rows
    bool logarithms_;             ///< the predictions are logarithms of probabilities
    std::vector<GraphOutput> outputs_;
};

}  // namespace

/// Adds what a model is trained and measured by: the losses of losses.def, the metrics of
/// plan/metrics.def.
///
///     return predictions=%p   ->   %loss = categorical_cross_entropy(%p, %labels)
///                                  %categorical_accuracy = categorical_accuracy(%p, %labels)
///                                  return %loss, %categorical_accuracy
///
///     a pointwise loss        ->   %targets = one_hot(%labels)
///                                  %loss = elementwise_mean(%p, %targets) {expression=...}
///
/// `labels` is a new input, i32 [N]; or `targets` is one, T [N,C], where samples have any number of
/// classes, or values, or (context.soft_labels) shares of classes. Predictions that are an image
/// [N,C,H,W] are taken as a row for each pixel, labels as i32 [N*H*W], targets as [N*H*W,C].
/// Where labels are sequences (LabelKind::sequence), `labels` is i32 [N * context.most_labels], and
/// the loss and its metrics read the input `context.lengths` besides, where the predictions have
/// the steps that it speaks of:
///
///     return predictions=%p: T[N,S,C]  ->  %r = pixels_to_rows(%p)
///                                          %loss = ctc(%r, %labels, %lengths) {steps=S,
///                                          padded=true}
///
/// Where samples are their own labels (LabelKind::input) the targets are the input `source` as such
/// rows, or flattened.
/// The layer that the loss joins (a column of losses.def) goes behind the rows:
///
///     %p = softmax(%x: T[N,C,H,W])                    ->  %r = pixels_to_rows(%x)
///     return predictions=%p                               %p = softmax(%r)
///
/// Where targets are scaled (context.target_deviation), the loss takes the predictions as they are
/// and (targets - mean) / deviation; metrics take the targets, and predictions brought to them:
///
///     %scaled_targets = scale_classes(%targets) {class_weights=1/deviation,
///     offsets=-mean/deviation} %restored_predictions = scale_classes(%p) {class_weights=deviation,
///     offsets=mean}
///
/// Where some labels do not count (context.ignores_labels) and classes have no weights, these are
/// all 1, so that means are over the labels that count.
/// Outputs are the loss, `loss_weight` where labels have weights (the sum of the batch's),
/// `counted_labels` where some do not count (how many do), and what plan::metric_output names for
/// each metric; predictions only where a metric reads all of them, in evaluation. Metrics with a
/// threshold see probabilities: of a loss that takes logits, the sigmoid of the predictions. First
/// in the pipeline. Must not fire for programs that predict, nor when there is a loss.
std::optional<Graph> attach_loss(const Graph& graph, PassContext& context) {
    const ValueId old_predictions = find_output(graph, "predictions");
    if (context.program == plan::ProgramKind::predict || find_output(graph, "loss").valid() ||
        !old_predictions.valid())
        return std::nullopt;

    // A loss per pixel or per step is a loss per row of its features. A last layer that
    // canonicalize joins with the loss goes behind the rows.
    const Type predicted = graph.type(old_predictions);
    const bool cells = !is_rows(predicted);
    const Node* last = producer(graph, old_predictions);
    const LossInfo* loss = find_loss(context.training.loss, context.training.loss_attributes);
    const bool joined = last && loss && joins(*loss, last->op) &&
                        int(written_axis(last->attributes)) == feature_axis(predicted.axes);
    const bool moved = cells && joined && Uses(graph).readers(old_predictions).empty();
    Rewriter r(graph);
    for (const Node& node : graph.nodes)
        if (!moved || &node != last) r.copy(node);
    ValueId predictions = r.map(moved ? last->inputs[0] : old_predictions);
    if (cells) {
        Node rows;
        rows.op = "pixels_to_rows";
        rows.inputs = {predictions};
        predictions = emit(r, std::move(rows), "pixels")[0];
    }
    if (moved) {
        Node rows = *last;
        write_axis(rows.attributes, 1);
        rows.inputs = {predictions};
        predictions = emit(r, std::move(rows), std::string(graph.value(old_predictions).name))[0];
        r.replace(old_predictions, predictions);
    }
    const std::int64_t pixels =
        cells ? predicted.elements() / (predicted.dims[0] * features_of(predicted)) : 0;
    ValueId target;
    if (context.label_kind == plan::LabelKind::input) {
        Node rows;
        rows.op = cells ? "pixels_to_rows" : "flatten";
        rows.inputs = {r.map(graph.find_input(plan::InputRole::feature))};
        target = emit(r, std::move(rows), "target")[0];
    }
    std::vector<GraphOutput> outputs =
        Measures(r, graph, context, predictions, given_by(graph, old_predictions), pixels, target)
            .run();
    Graph result = r.take();
    result.outputs = std::move(outputs);
    return result;
}

}  // namespace dtnn::compiler
