#include "compiler/lower/select_kernels.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "compiler/ops/emit.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {

namespace {

// The axes longer than one, in the order they are stored: what decides where an element lies.
std::vector<int> stored_axes(const Type& type) {
    std::vector<int> order = type.order;
    if (order.empty()) {
        order.resize(type.dims.size());
        std::iota(order.begin(), order.end(), 0);
    }
    std::erase_if(order, [&](int axis) { return type.dims[std::size_t(axis)] == 1; });
    return order;
}

bool is_channels_last(const Type& type) {
    const std::vector<int> stored = stored_axes(type);
    std::vector<int> wanted = {0, 2, 3, 1};
    std::erase_if(wanted, [&](int axis) { return type.dims[std::size_t(axis)] == 1; });
    return stored == wanted;
}

kernels::TensorDesc describe(const Type& type) {
    // The two enumerations are one list; a static check of every member would only repeat it.
    return {static_cast<kernels::DType>(type.dtype), type.dims, type.order};
}

kernels::Problem problem_of(const Graph& graph, const Node& node, const LoweredStep& step,
                            const plan::Target& target, kernels::Isa isa) {
    kernels::Problem problem;
    problem.op = step.op;
    for (ValueId value : node.inputs)
        problem.sources.push_back(describe(graph.type(value)));
    for (ValueId value : node.outputs)
        problem.destinations.push_back(describe(graph.type(value)));
    problem.set_dtype(static_cast<kernels::DType>(target.dtype));
    problem.attributes = step.attributes;
    problem.threads = target.threads;
    problem.isa = isa;
    problem.strict = target.numerics == plan::Numerics::strict;
    return problem;
}

void choose(LoweredStep& step, const kernels::Problem& problem, const plan::Target& target,
            bool reference_only) {
    std::vector<plan::Refusal> refusals;
    for (const kernels::KernelInfo& kernel : kernels::kernels_of(step.op, target.device)) {
        std::optional<std::string> reason;
        if (reference_only && kernel.name != "reference")
            reason = "only reference kernels were asked for";
        else
            reason = kernels::refusal(kernel, problem);
        if (!reason) {
            step.kernel = &kernel;
            step.workspace = kernels::workspace_bytes(kernel, problem);
            break;
        }
        refusals.push_back({std::string(kernel.name), std::move(*reason)});
    }
    if (!refusals.empty())
        step.refusals = std::make_shared<const std::vector<plan::Refusal>>(std::move(refusals));
}

std::string refusals_text(const LoweredStep& step) {
    std::string text;
    if (!step.refusals) return "; the catalogue has none";
    for (const plan::Refusal& refusal : *step.refusals)
        text += fmt::format("; {}: {}", refusal.kernel, refusal.reason);
    return text;
}

}  // namespace

bool takes_reduced(const Node& node, const std::string& device) {
    if (op(node.op).view == View::always) return true;
    const std::string name =
        expression_of(node).empty() ? std::string(node.op) : std::string("elementwise");
    for (const kernels::KernelInfo& kernel : kernels::kernels_of(name, device))
        if (kernel.reduced) return true;
    return false;
}

bool is_view(const Graph& graph, const Node& node) {
    const View view = op(node.op).view;
    if (view == View::none || view == View::always) return view == View::always;
    const Type& source = graph.type(node.inputs[0]);
    const Type& result = graph.type(node.outputs[0]);
    if (view == View::channels_last_source) return is_channels_last(source);
    if (view == View::channels_last_result) return is_channels_last(result);
    const std::vector<int> from = stored_axes(source), to = stored_axes(result);
    if (view == View::same_order) return from == to;
    return std::is_sorted(from.begin(), from.end()) && std::is_sorted(to.begin(), to.end());
}

namespace {

// No line of the catalogue: nothing is linked for it, and no problem is refused.
const kernels::KernelInfo& communicator(std::string_view op) {
    static const kernels::KernelInfo ends[] = {
        {"all_reduce_start", kCommunicator, "", true, true},
        {"all_reduce_wait", kCommunicator, "", true, true},
        {"reduce_scatter_start", kCommunicator, "", true, true},
        {"reduce_scatter_wait", kCommunicator, "", true, true},
        {"all_gather_start", kCommunicator, "", true, true},
        {"all_gather_wait", kCommunicator, "", true, true},
    };
    const auto* found = std::find_if(std::begin(ends), std::end(ends),
                                     [&](const kernels::KernelInfo& end) { return end.op == op; });
    DTNN_CHECK(found != std::end(ends), "`{}` is no end of an exchange", op);
    return *found;
}

// The step of the node; without a kernel for a view.
LoweredStep lower(const Graph& graph, const Node& node, const plan::Target& target,
                  kernels::Isa isa, bool reference_only) {
    LoweredStep step;
    if (is_view(graph, node)) return step;
    if (std::string expression = expression_of(node); !expression.empty()) {
        step.op = "elementwise";
        step.attributes["expression"] = std::move(expression);
    } else {
        step.op = node.op;
        step.attributes = complete_attributes(node);
    }
    if (op(node.op).exchange)
        step.kernel = &communicator(step.op);
    else
        choose(step, problem_of(graph, node, step, target, isa), target, reference_only);
    DTNN_CHECK(step.kernel != nullptr, "no kernel for `{}` of operator {}{}", node.op, step.op,
               refusals_text(step));
    step.kernel_class = kernel_class_of(graph, node, step.kernel->name);
    step.cost = cost_of(graph, node);
    return step;
}

}  // namespace

std::int64_t wanted_block(const Graph& graph, const Node& node, const plan::Target& target,
                          bool reference_only) {
    kernels::Isa isa = kernels::Isa::baseline;
    DTNN_CHECK(kernels::parse_isa(target.isa, isa), "`{}`", target.isa);
    LoweredStep step;
    step.op = node.op;
    step.attributes = complete_attributes(node);
    const kernels::Problem problem = problem_of(graph, node, step, target, isa);
    choose(step, problem, target, reference_only);
    return step.kernel == nullptr ? 0 : kernels::wanted_block(*step.kernel, problem);
}

std::vector<LoweredStep> select_kernels(const Graph& graph, const plan::Target& target,
                                        bool reference_only, NodeKinds& kinds) {
    kernels::Isa isa = kernels::Isa::baseline;
    DTNN_CHECK(kernels::parse_isa(target.isa, isa), "`{}`", target.isa);
    std::vector<LoweredStep> steps;
    steps.reserve(graph.nodes.size());
    kinds.begin(graph);
    // By the number of the node's kind and those of its results' types.
    std::map<std::vector<std::uint32_t>, LoweredStep> known;
    std::vector<std::uint32_t> key;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        key.assign(1, kinds.of(node).number);
        for (const ValueId output : node.outputs)
            key.push_back(kinds.type_number(output));
        auto [found, added] = known.try_emplace(key);
        if (added) found->second = lower(graph, node, target, isa, reference_only);
        if (!found->second.kernel) continue;
        steps.push_back(found->second);
        steps.back().node = NodeId(i);
    }
    return steps;
}

std::vector<LoweredStep> select_kernels(const Graph& graph, const plan::Target& target,
                                        bool reference_only) {
    NodeKinds kinds;
    return select_kernels(graph, target, reference_only, kinds);
}

}  // namespace dtnn::compiler
