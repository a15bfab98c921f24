#include "compiler/passes/attach_loss.hpp"

#include "compiler/passes/rewriting.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

Node node_of(const char* op, ValueList inputs, Phase phase, Attributes attributes = {}) {
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    node.phase = phase;
    return node;
}

ValueId loss_of(Rewriter& r, const PassContext& context, ValueId predictions, ValueId labels) {
    const std::string& loss = context.training.loss;
    if (loss == "mean_squared_error") {
        const Type type = r.graph().type(predictions);
        Attributes attributes{{"classes", context.classes},
                              {"dtype", std::string(plan::name_of(type.dtype))}};
        const ValueId targets = emit(
            r, node_of("one_hot", {labels}, Phase::forward, std::move(attributes)), "targets")[0];
        return emit(r, node_of("mean_squared_error", {predictions, targets}, Phase::forward),
                    "loss")[0];
    }
    if (loss == "negative_log_likelihood")
        return emit(r, node_of("negative_log_likelihood", {predictions, labels}, Phase::forward),
                    "loss")[0];
    DTNN_CHECK(loss == "categorical_cross_entropy", "no loss is named `{}`", loss);
    return emit(r,
                node_of("categorical_cross_entropy", {predictions, labels}, Phase::forward,
                        {{"epsilon", 1e-8}}),
                "loss")[0];
}

}  // namespace

std::optional<Graph> attach_loss(const Graph& graph, PassContext& context) {
    const ValueId old_predictions = find_output(graph, "predictions");
    if (context.program == "predict" || find_output(graph, "loss").valid() ||
        !old_predictions.valid())
        return std::nullopt;

    // A loss per pixel is a loss per row of channels. The softmax goes behind the rows, where
    // canonicalize joins it with its cross-entropy.
    const bool image = graph.type(old_predictions).dims.size() == 4;
    const Node* last = producer(graph, old_predictions);
    const bool softmax = image && last && (last->op == "softmax" || last->op == "log_softmax") &&
                         Uses(graph).readers(old_predictions).empty();
    Rewriter r(graph);
    for (const Node& node : graph.nodes)
        if (!softmax || &node != last) r.copy(node);
    ValueId predictions = r.map(softmax ? last->inputs[0] : old_predictions);
    if (image)
        predictions =
            emit(r, node_of("pixels_to_rows", {predictions}, Phase::forward), "pixels")[0];
    if (softmax) {
        Node rows = *last;
        rows.inputs = {predictions};
        predictions = emit(r, std::move(rows), graph.value(old_predictions).name)[0];
        r.replace(old_predictions, predictions);
    }
    const ValueId known = find_input(graph, "labels");
    const std::int64_t rows = r.graph().type(predictions).dims[0];
    const ValueId labels =
        known.valid() ? r.map(known) : r.add_input("labels", {DType::i32, {rows}, {}});

    std::vector<GraphOutput> outputs{{"loss", loss_of(r, context, predictions, labels)}};
    for (const plan::Metric& metric : context.training.metrics)
        outputs.push_back({metric.output, emit(r,
                                               node_of(metric.type.c_str(), {predictions, labels},
                                                       Phase::metric, metric.attributes),
                                               metric.output)[0]});
    Graph result = r.take();
    result.outputs = std::move(outputs);
    return result;
}

}  // namespace dtnn::compiler
