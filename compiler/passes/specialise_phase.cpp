#include "compiler/passes/specialise_phase.hpp"

#include <set>

#include "compiler/ops/define.hpp"
#include "compiler/passes/rewriting.hpp"

namespace dtnn::compiler {
namespace {

bool is_max_pool(const Node& node) {
    return node.op == "max_pool2d" || node.op == "adaptive_max_pool2d";
}

bool is_dropout(const Node& node) {
    return node.op == "dropout" || node.op == "spatial_dropout2d";
}

bool normalises_samples(const Node& node) {
    return node.op == "layer_norm" || node.op == "group_norm";
}

class Specialiser {
  public:
    Specialiser(const Graph& graph, const PassContext& context)
        : graph_(graph), context_(context), r_(graph) {}

    Graph run() {
        const bool training = context_.program == plan::ProgramKind::train;
        for (const Node& node : graph_.nodes) {
            if (is_dropout(node) && !training)
                r_.replace(node.outputs[0], r_.map(node.inputs[0]));
            else if (is_dropout(node))
                apply_dropout(node);
            else if (node.op == "batch_norm" && training)
                train_batch_norm(node);
            else if (node.op == "batch_norm")
                become(node, "batch_norm_inference", pick(node.attributes, {"epsilon"}));
            else if (is_max_pool(node) && training && !flag(node.attributes, "indices"))
                keep(node, "indices");
            else if (normalises_samples(node) && training && !flag(node.attributes, "statistics"))
                keep(node, "statistics");
            else
                r_.copy(node);
        }
        Graph result = r_.take();
        result.training = training;
        result.updates.insert(result.updates.end(), updates_.begin(), updates_.end());
        return result;
    }

  private:
    /// Results that the old node had not are named after it.
    ValueList become(const Node& node, const char* op, Attributes attributes, ValueId extra = {}) {
        Node changed = r_.mapped(node);
        changed.op = op;
        changed.attributes = std::move(attributes);
        if (extra.valid()) changed.inputs.push_back(extra);
        auto results = emit(r_, std::move(changed), graph_.value(node.outputs[0]).name);
        r_.replace(node.outputs[0], results[0]);
        return results;
    }

    void train_batch_norm(const Node& node) {
        Attributes attributes = pick(node.attributes, {"epsilon", "momentum"});
        const auto results = become(node, "batch_norm_training", std::move(attributes));
        updates_.push_back({r_.map(node.inputs[3]), results[3]});
        updates_.push_back({r_.map(node.inputs[4]), results[4]});
    }

    void apply_dropout(const Node& node) {
        if (!step_.valid()) {
            const ValueId known = find_input(graph_, "step");
            step_ = known.valid() ? r_.map(known) : r_.add_input("step", {DType::i64, {}, {}});
        }
        Attributes attributes = pick(node.attributes, {"rate"});
        attributes["seed"] = static_cast<std::int64_t>(context_.training.seed);
        attributes["stream"] = free_stream(node);
        become(node, (node.op + "_apply").c_str(), std::move(attributes), step_);
    }

    std::int64_t free_stream(const Node& node) {
        std::int64_t stream = node.layer.valid() ? static_cast<std::int64_t>(node.layer.index())
                                                 : static_cast<std::int64_t>(graph_.layers.size());
        if (streams_.contains(stream)) stream = static_cast<std::int64_t>(graph_.layers.size());
        while (!streams_.insert(stream).second)
            ++stream;
        return stream;
    }

    /// Adds the results that backward reads.
    void keep(const Node& node, const char* results) {
        Attributes attributes = node.attributes;
        attributes[results] = true;
        become(node, node.op.c_str(), std::move(attributes));
    }

    const Graph& graph_;
    const PassContext& context_;
    Rewriter r_;
    ValueId step_;
    std::set<std::int64_t> streams_;
    std::vector<Update> updates_;
};

}  // namespace

Graph specialise_phase(const Graph& graph, PassContext& context) {
    return Specialiser(graph, context).run();
}

}  // namespace dtnn::compiler
