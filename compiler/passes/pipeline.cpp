#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <iterator>

#include "compiler/ir/verifier.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// The order, and the reason for it.
constexpr std::string_view kOrder[] = {
    // First, so that nothing is made for what does not train.
    "freeze_parameters",
    // The loss is part of the graph from the start, so that it is rewritten and differentiated like
    // everything else.
    "attach_loss",
    // What it does to predictions that metrics read, for those that are given.
    "restore_targets",
    // One form per computation while operators still mean what users wrote: the parameters' shapes
    // that it decides are then the same in all programs.
    "canonicalize",
    // Removes abstract operators, which have neither gradients nor kernels.
    "specialise_phase",
    // Before every fusion: gradient rules are written for plain operators, and what backward keeps
    // decides what may be fused.
    "differentiate",
    // The gradient of the update is clipped, the updated weights are averaged.
    "accumulate_gradients",
    // Ranks exchange once an update, not once a batch; what is clipped and what moves the weights
    // is the gradient of all ranks.
    "reduce_gradients",
    "clip_gradients",
    "attach_update",
    "average_weights",
    // Smaller graphs for the rest; single readers, which the fusions ask for, are what is left.
    "common_subexpressions",
    "dead_code",
    // A convolution gives its epilogue away once. Batch norm comes first: folded (inference) it
    // vanishes, and its statistics (training) save a whole pass over the image.
    "fold_batch_norm",
    "fuse_batch_statistics",
    // Then what stands behind batch norms, convolutions and dense layers, forward and backward.
    "fuse_epilogues",
    // The general fusion takes the rest; earlier it would hide the patterns above.
    "fuse_elementwise",
    // Chains are one node now, which a convolution may take as a whole.
    "fuse_convolution_activation",
    // Behind the fusions of batch norm, which know it in one piece.
    "synchronise_statistics",
    // Shapes and nodes are final: decide how they are stored.
    "layout",
    // How a parameter is stored follows from how it is read, its average is stored alike.
    "read_averages",
    // Behind all patterns, which know operators and not what rounds their operands; in front of
    // hoisting, so that weights are rounded once where they stay.
    "reduce_precision",
    // Behind all that changes a node with weights, or how they are stored, because the kernel that
    // it will have decides the blocks; in front of hoisting, so that they are packed once.
    "pack_weights",
    // After layout, so that everything that depends on parameters only is there to be hoisted.
    "hoist_invariant",
    // Updates go over flat memory: what lies there, and how, is decided.
    "shard_optimizer",
    // The order of the nodes decides what is alive when.
    "schedule",
    // Its nodes stand where they are needed: the last word.
    "recompute",
};

std::vector<PassInfo> in_order() {
    using enum plan::ProgramKind;
    const PassInfo listed[] = {
#define DTNN_PASS(name, may_be_disabled, programs, doc) \
    {#name, doc, name, ProgramSet programs, may_be_disabled},
#include "compiler/passes/passes.def"
#undef DTNN_PASS
    };
    DTNN_CHECK(std::size(listed) == std::size(kOrder), "passes.def lists {} passes, the order {}",
               std::size(listed), std::size(kOrder));
    std::vector<PassInfo> result;
    for (const std::string_view name : kOrder)
        for (const PassInfo& pass : listed)
            if (pass.name == name) result.push_back(pass);
    DTNN_CHECK(result.size() == std::size(kOrder), "passes.def and the order name other passes");
    return result;
}

void check_sound(const Graph& graph, NodeKinds& kinds) {
    std::vector<std::string> problems = verify(graph);
    if (problems.empty()) problems = check_types(graph, kinds);
    DTNN_CHECK(problems.empty(), "{}", fmt::join(problems, "\n  "));
}

}  // namespace

const std::vector<PassInfo>& all_passes() {
    static const std::vector<PassInfo> passes = in_order();
    return passes;
}

const PassInfo* find_pass(std::string_view name) {
    for (const PassInfo& pass : all_passes())
        if (pass.name == name) return &pass;
    return nullptr;
}

std::string ProgramSet::text() const {
    std::string text;
    for (std::size_t i = 0; i < names_of(plan::ProgramKind()).size(); ++i)
        if (const auto kind = static_cast<plan::ProgramKind>(i); contains(kind))
            text += (text.empty() ? "" : " ") + std::string(name_of(kind));
    return text;
}

Graph run_pipeline(const Graph& forward, PassContext& context, const PipelineOptions& options) {
    NodeKinds kinds;
    return run_pipeline(forward, context, options, kinds);
}

Graph run_pipeline(const Graph& forward, PassContext& context, const PipelineOptions& options,
                   NodeKinds& kinds) {
    using Clock = std::chrono::steady_clock;
    Graph graph = forward;
    std::string_view running = "none; the forward graph";
    try {
        kinds.share_attributes(graph);
        check_sound(graph, kinds);
        for (const PassInfo& pass : all_passes()) {
            if (!pass.programs.contains(context.program)) continue;
            if (pass.optional && options.disabled.contains(std::string(pass.name))) continue;
            running = pass.name;
            const auto begin = Clock::now();
            std::optional<Graph> result = pass.rewrite(graph, context);
            const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
            if (result) {
                graph = std::move(*result);
                kinds.share_attributes(graph);
                check_sound(graph, kinds);
            }
            if (options.observe) options.observe(pass.name, graph, time.count());
        }
    } catch (const InternalError& error) {
        throw InternalError(fmt::format("{}\n  in pass {}, program {}", error.what(), running,
                                        plan::name_of(context.program)));
    }
    return graph;
}

}  // namespace dtnn::compiler
