#pragma once
/// The first stage of lowering: which nodes become steps, and which kernel runs each.

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "compiler/ops/node_kinds.hpp"
#include "compiler/tuning/kernel_choice.hpp"
#include "kernels/catalogue.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

struct LoweredStep {
    NodeId node;
    std::string op;  ///< the kernel-level operator: relu, add and their like become elementwise
    Attributes attributes;  ///< for the kernel
    const kernels::KernelInfo* kernel = nullptr;
    /// As the plan has them; null: none. Steps of one kind share the list.
    std::shared_ptr<const plan::Refusals> refusals;
    plan::KernelClass kernel_class = plan::KernelClass::memory;
    std::int64_t workspace = 0;  ///< bytes
    Cost cost;
};

/// Whether the node's result is its operand's bytes under another shape or order, so that no step
/// runs: flatten and its backward where the axes longer than one are stored row-major on both
/// sides, a reorder that moves none of them, and the part of parameters that a rank updates.
bool is_view(const Graph& graph, const Node& node);

/// Whether the device can run a node of that operator over values of 16 bits.
bool takes_reduced(const Node& node, const std::string& device);

/// The filters or units of a block in which the kernel that the node would have reads weights that
/// were packed ahead; 0: it reads them as they are.
std::int64_t wanted_block(const Graph& graph, const Node& node, const plan::Target& target,
                          const KernelWishes& wishes);

/// The name that stands in place of a kernel at the ends of an exchange between ranks.
inline constexpr const char* kCommunicator = "communicator";

/// A step for every node that is no view, in the graph's order. An end of an exchange has no
/// kernel: the run's communicator does it, and its name is kCommunicator. For each the first kernel
/// of the catalogue that neither refuses the problem nor is expected to be slower at it, or another
/// that was measured to be faster; as the wishes say, the one named "reference". No kernel at all
/// is our bug.
std::vector<LoweredStep> select_kernels(const Graph& graph, const plan::Target& target,
                                        const KernelWishes& wishes);
/// The same with kinds of nodes that earlier graphs have left: see ops/node_kinds.hpp. Nodes of one
/// kind with results of the same types have the same kernel, so it is looked for once.
std::vector<LoweredStep> select_kernels(const Graph& graph, const plan::Target& target,
                                        const KernelWishes& wishes, NodeKinds& kinds);

}  // namespace dtnn::compiler
