#include <set>

#include "compiler/ops/define.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

class Specialiser {
  public:
    Specialiser(const Graph& graph, const PassContext& context)
        : graph_(graph), context_(context), r_(graph) {}

    Graph run() {
        const bool training = context_.program == plan::ProgramKind::train;
        for (const Node& node : graph_.nodes) {
            const OpDef& def = op(node.op);
            const auto& form = training ? def.in_training : def.in_inference;
            if (form && form->op.empty())
                r_.replace(node.outputs[0], r_.map(node.inputs[0]));
            else if (form)
                become(node, *form);
            else
                fit(node, def, training);
        }
        Graph result = r_.take();
        result.training = training;
        result.updates.insert(result.updates.end(), updates_.begin(), updates_.end());
        return result;
    }

  private:
    /// Results that the old node had not are named after it.
    ValueList emit_changed(const Node& node, Node changed) {
        auto results = emit(r_, std::move(changed), graph_.value(node.outputs[0]).name);
        r_.replace(node.outputs[0], results[0]);
        return results;
    }

    void become(const Node& node, const PhaseForm& form) {
        Node changed = r_.mapped(node);
        changed.op = form.op;
        Attributes kept;
        for (const char* name : form.attributes)
            if (const auto found = node.attributes.find(name); found != node.attributes.end())
                kept.insert(*found);
        changed.attributes = std::move(kept);
        if (form.random) draw(node, changed);
        const ValueList results = emit_changed(node, std::move(changed));
        for (const auto& [operand, result] : form.updates)
            updates_.push_back({r_.map(node.inputs[operand]), results[result]});
    }

    ValueId position() {
        if (!position_.valid()) {
            position_ = input_of(r_, plan::InputRole::position, {DType::i64, {2}, {}});
        }
        return position_;
    }

    std::int64_t free_stream(const Node& node) {
        std::int64_t stream = node.layer.valid() ? std::int64_t(node.layer.index())
                                                 : std::int64_t(graph_.layers.size());
        if (streams_.contains(stream)) stream = std::int64_t(graph_.layers.size());
        while (!streams_.insert(stream).second)
            ++stream;
        return stream;
    }

    /// What random numbers are drawn by.
    void draw(const Node& node, Node& changed) {
        changed.attributes["seed"] = std::int64_t(context_.training.seed);
        changed.attributes["stream"] = free_stream(node);
        changed.inputs.push_back(position());
    }

    /// In training with the results that backward reads, and with what it drops; else without that.
    void fit(const Node& node, const OpDef& def, bool training) {
        const std::string_view results = def.kept_for_backward;
        const bool keeps = training && !results.empty() && !flag(node.attributes, results.data());
        const auto rate = node.attributes.find(std::string(def.drops_by));
        const bool drops = rate != node.attributes.end() && std::get<double>(rate->second) > 0;
        if (!keeps && !drops) {
            r_.copy(node);
            return;
        }
        Node changed = r_.mapped(node);
        if (keeps) changed.attributes[std::string(results)] = true;
        if (drops && training) {
            changed.attributes[kDrops] = true;
            draw(node, changed);
        } else if (drops) {
            changed.attributes.erase(std::string(def.drops_by));
        }
        emit_changed(node, std::move(changed));
    }

    const Graph& graph_;
    const PassContext& context_;
    Rewriter r_;
    ValueId position_;
    std::set<std::int64_t> streams_;
    std::vector<Update> updates_;
};

}  // namespace

/// Replaces operators that mean one thing in training and another in inference.
///
///     training:   batch_norm   ->  batch_norm_training, with updates of the running statistics
///                 dropout      ->  dropout_apply(%x, %step), seeded by the training's seed and a
///                                  stream that is the layer's index (or, when that is taken, the
///                                  next free number from the count of layers on)
///                 max_pool2d, adaptive_max_pool2d   ->  with indices, which backward reads
///                 layer_norm, group_norm            ->  with statistics, likewise
///                 spatial_dropout2d                 ->  spatial_dropout2d_apply, as dropout
///                 attention that drops              ->  with seed, stream and %step, likewise
///     inference:  batch_norm   ->  batch_norm_inference
///                 dropout, spatial_dropout2d        ->  nothing
///                 attention that drops              ->  without
///
/// After canonicalize; before everything that looks at these operators. Must not fire on operators
/// that mean the same in both phases.
std::optional<Graph> specialise_phase(const Graph& graph, PassContext& context) {
    return Specialiser(graph, context).run();
}

}  // namespace dtnn::compiler
