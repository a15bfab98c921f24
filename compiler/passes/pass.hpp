#pragma once
/// Passes, and the pipeline that runs them. passes.def lists them all; pipeline.cpp holds their
/// order.

#include <concepts>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "compiler/ops/node_kinds.hpp"

namespace dtnn::compiler {

/// Why a network cannot be what is asked of it: the layer, and what it needs.
struct LayerRefusal {
    LayerId layer;
    Origin place;
    std::string fact, help;
};

/// The facts that passes may know besides the graph. They may not change them but for what they
/// find: `needs_all_steps`, `mixes_steps`, `notes`.
struct PassContext {
    plan::Training training;     ///< loss, metrics, optimizer, seed
    plan::Parallel parallel;     ///< with bucket_bytes as chosen: plan/rules/exchange_model.hpp
    int ranks = 1;               ///< that the plan is for
    std::string device = "cpu";  ///< that the plan is for
    plan::Compute compute = plan::Compute::full;
    /// Whether the device has a kernel of the node's operator for values of 16 bits. Asked where
    /// `compute` wants such values.
    std::function<bool(const Node&)> reduces;
    /// The filters or units of a block in which the kernel that runs the node would read its
    /// weights if they were packed ahead; 0: it reads them as they are. Null: nobody asks.
    std::function<std::int64_t(const Graph&, const Node&)> wanted_block;
    plan::LabelKind label_kind = plan::LabelKind::classes;  ///< of the dataset
    bool ignores_labels = false;  ///< some pixels or steps do not count: their label is -1
    bool soft_labels = false;     ///< labels have become shares of the classes (mixup): "targets"
    /// A training program adds a batch's gradients up for the update of a later one.
    bool accumulate = false;
    /// The program that the graph is specialised for: train, evaluate, predict or generate.
    plan::ProgramKind program = plan::ProgramKind::train;
    std::int64_t most_labels = 0;  ///< of a sample, where its labels are a sequence
    /// The input that says how many steps each sample has, of the inputs that have steps; empty:
    /// all samples have all steps.
    std::string lengths;
    /// Of targets that the loss takes scaled: of each number; else none (plan::Feature).
    std::vector<double> target_mean, target_deviation;
    /// Of a program that generates: steps of a text that it takes at once.
    std::int64_t steps = 1;
    /// The most bytes that values of the graph may take at once, by `recompute`'s count; 0: any.
    std::int64_t live_bytes = 0;
    /// Work that takes as long as moving a byte does.
    double flops_per_byte = 10;
    /// The layer that needs steps which have not come, where text is written step by step.
    std::optional<LayerRefusal> needs_all_steps;
    /// The layer that cannot do without the steps that a sample does not have.
    std::optional<LayerRefusal> mixes_steps;
    std::vector<std::string> notes;  ///< what a pass wants to say under --emit
};

/// Kinds of programs.
class ProgramSet {
  public:
    template <std::same_as<plan::ProgramKind>... Kinds>
    constexpr explicit ProgramSet(Kinds... kinds) : bits_((0U | ... | bit(kinds))) {}

    constexpr bool contains(plan::ProgramKind kind) const { return (bits_ & bit(kind)) != 0; }
    /// "train evaluate".
    std::string text() const;

  private:
    static constexpr unsigned bit(plan::ProgramKind kind) { return 1U << unsigned(kind); }

    unsigned bits_;
};

struct PassInfo {
    std::string_view name;
    std::string_view doc;  ///< one sentence, for `dtnnc explain`
    /// The graph after the pass; nothing when the pass has nothing to do, so that a graph is
    /// neither copied nor verified again for it.
    std::optional<Graph> (*rewrite)(const Graph&, PassContext&);
    ProgramSet programs;  ///< those it applies to, of train, evaluate, predict and generate
    bool optional;  ///< may be disabled by name; the result then differs in speed and memory only

    /// The graph after the pass, a copy of `graph` when the pass has nothing to do.
    Graph run(const Graph& graph, PassContext& context) const {
        std::optional<Graph> result = rewrite(graph, context);
        if (result) return std::move(*result);
        return graph;
    }
};

/// The passes themselves. What each does, what must have run before and where it must not fire
/// stands at its definition.
#define DTNN_PASS(name, ...) std::optional<Graph> name(const Graph& graph, PassContext& context);
#include "compiler/passes/passes.def"
#undef DTNN_PASS

const std::vector<PassInfo>& all_passes();  ///< in pipeline order
const PassInfo* find_pass(std::string_view name);

struct PipelineOptions {
    std::set<std::string> disabled;
    /// Called after every pass with its name and result; may be empty.
    std::function<void(std::string_view pass, const Graph&, double milliseconds)> observe;
};

/// Runs every pass that applies to `context.program` over the forward graph, verifying after each.
/// `kinds` serves the checks of types; several runs may share it.
Graph run_pipeline(const Graph& forward, PassContext& context, const PipelineOptions& options,
                   NodeKinds& kinds);
Graph run_pipeline(const Graph& forward, PassContext& context, const PipelineOptions& options);

}  // namespace dtnn::compiler
