#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/ops/define.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/batch_norm_operators.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"

namespace dtnn::compiler {
namespace {

bool is_local(const Node& node) {
    return (node.op == kTraining && !flag(node.attributes, "synchronised")) || node.op == kBackward;
}

class Synchroniser {
  public:
    explicit Synchroniser(const Graph& graph) : graph_(graph), uses_(graph), r_(graph) {}

    Graph run() {
        for (const Node& node : graph_.nodes) {
            if (!is_local(node))
                r_.copy(node);
            else if (node.op == kTraining)
                forward(node);
            else
                backward(node);
        }
        return r_.take();
    }

  private:
    ValueId batch_weight(const Node& node) {
        return input_of(r_, plan::InputRole::batch_weight,
                        {graph_.type(node.inputs[0]).dtype, {}, {}});
    }

    static Node beside(const Node& node, const char* op) {
        Node made;
        made.op = op;
        made.phase = node.phase;
        made.layer = node.layer;
        made.place = node.place;
        return made;
    }

    void forward(const Node& node) {
        const bool given = flag(node.attributes, "statistics");
        Node all = r_.mapped(node);
        Node sums = beside(node, "batch_norm_sums");
        sums.inputs = {all.inputs[0], batch_weight(node)};
        if (given) {
            sums.inputs.push_back(all.inputs[5]);
            sums.attributes["statistics"] = true;
        }
        const std::string name = graph_.value(node.outputs[0]).name;
        const ValueId reduced =
            exchanged(node, emit(r_, std::move(sums), name + ".sums")[0], "statistics");
        if (given)
            all.inputs[5] = reduced;
        else
            all.inputs.insert(all.inputs.begin() + 5, reduced);
        all.attributes["statistics"] = true;
        all.attributes["synchronised"] = true;
        const ValueList results = emit(r_, std::move(all), name);
        for (std::size_t i = 0; i < results.size(); ++i)
            r_.replace(node.outputs[i], results[i], true);
    }

    void backward(const Node& node) {
        constexpr std::size_t kGiven = 5;  // operands in front of those of a relu
        const Node whole = r_.mapped(node);
        const std::string name = graph_.value(node.outputs[0]).name;
        const ValueId weight = batch_weight(node);
        const auto with = [&](const char* op, const ValueList& own) {
            Node made = beside(node, op);
            made.inputs = whole.inputs;
            made.inputs.insert(made.inputs.begin() + kGiven, own.begin(), own.end());
            for (const char* kept : {"epilogue", "mask"})
                if (const auto found = whole.attributes.find(kept); found != whole.attributes.end())
                    made.attributes[kept] = found->second;
            return made;
        };
        const ValueList own =
            emit(r_, with("batch_norm_backward_sums", {weight}), name + ".sums", name);
        r_.replace(node.outputs[1], own[1], true);
        r_.replace(node.outputs[2], own[2], true);
        const bool residual = flag(node.attributes, "residual");
        if (uses_.unread(node.outputs[0]) && (!residual || uses_.unread(node.outputs[3]))) return;
        Node apply = with("batch_norm_backward_apply",
                          {exchanged(node, own[0], "gradient_statistics"), weight});
        if (residual) apply.attributes["residual"] = true;
        const ValueList results = emit(r_, std::move(apply), name);
        r_.replace(node.outputs[0], results[0], true);
        if (residual) r_.replace(node.outputs[3], results[1], true);
    }

    /// The sums over all ranks.
    ValueId exchanged(const Node& node, ValueId sums, const char* what) {
        const std::string& of = node.layer.valid() ? graph_.layers[node.layer.index()].name
                                                   : graph_.value(node.outputs[0]).name;
        std::string collective = fmt::format("{}.{}", of, what);
        for (int number = 2; !names_.insert(collective).second; ++number)
            collective = fmt::format("{}.{}_{}", of, what, number);
        return all_reduced(r_, sums, collective, node.place);
    }

    const Graph& graph_;
    const Uses uses_;
    Rewriter r_;
    std::set<std::string> names_;
};

}  // namespace

/// With data parallelism and `batch_statistics: synchronised`, lets batch norm take the statistics
/// of the batches of all ranks, and its gradient with them
/// (kernels/arguments/batch_norm_synchronised.hpp):
///
///     %y, %m, %i, ... = batch_norm_training(%x, @g, @b, @rm, @rv)
/// ->  %y.sums = batch_norm_sums(%x, %batch_weight)
///     %y.sums.sent = all_reduce_start(%y.sums) {collective=bn.statistics, statistics=true}
///     %y.sums.reduced = all_reduce_wait(%y.sums.sent) {collective=bn.statistics, statistics=true}
///     %y, %m, %i, ... = batch_norm_training(%x, @g, @b, @rm, @rv, %y.sums.reduced)
///                                                          {statistics=true, synchronised=true}
///
///     %dx, %dg, %db = batch_norm_backward(%x, %d, @g, %m, %i)  ; backward
/// ->  %dx.sums, %dg, %db = batch_norm_backward_sums(%x, %d, @g, %m, %i, %batch_weight)  ; backward
///     ... exchanged as bn.gradient_statistics ...
///     %dx = batch_norm_backward_apply(%x, %d, @g, %m, %i, %dx.sums.reduced,
///                                                               %batch_weight)  ; backward
///
/// %dg and %db stay the rank's own: they are gradients of parameters, and are added up with the
/// others. Statistics that a convolution has summed are passed on. Where nobody reads %dx there is
/// no exchange for it.
///
/// After every fusion of batch norm, whose relus and sums of branches come along. Must not fire for
/// one rank, nor with local statistics, nor twice.
std::optional<Graph> synchronise_statistics(const Graph& graph, PassContext& context) {
    if (!context.parallel.data ||
        context.parallel.batch_statistics != plan::BatchStatistics::synchronised ||
        std::none_of(graph.nodes.begin(), graph.nodes.end(), is_local))
        return std::nullopt;
    return Synchroniser(graph).run();
}

}  // namespace dtnn::compiler
