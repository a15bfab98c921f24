#include "compiler/lower/select_kernels.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {

namespace {

kernels::ProblemTarget problem_target(const plan::Target& target) {
    kernels::Isa isa = kernels::Isa::baseline;
    DTNN_CHECK(kernels::parse_name(target.isa, isa), "`{}`", target.isa);
    return {target.dtype, target.threads, isa, target.numerics == plan::Numerics::strict};
}

kernels::Problem problem_of(const Graph& graph, const Node& node, const LoweredStep& step,
                            const kernels::ProblemTarget& target) {
    const auto types = [&](const ValueList& values) {
        std::vector<TensorType> found;
        found.reserve(values.size());
        for (const ValueId value : values) {
            found.push_back(graph.type(value));
            found.back().axes.clear();  // kernels go by numbers of axes, as a plan's steps do
        }
        return found;
    };
    return kernels::problem_of(step.op, step.attributes, types(node.inputs), types(node.outputs),
                               target);
}

// The kernels before the chosen one with the reasons, and what was measured of those behind it.
std::shared_ptr<const plan::Refusals> refusals_of(
    std::span<const kernels::KernelInfo> kernels, const kernels::KernelInfo* chosen,
    const std::map<std::string_view, std::string>& reasons, const TuningEntry* measured) {
    plan::Refusals refusals;
    const KernelTime* own = chosen && measured ? measured->find(chosen->name) : nullptr;
    if (own) refusals.seconds = own->median;
    bool behind = false;
    for (const kernels::KernelInfo& kernel : kernels) {
        if (&kernel == chosen) {
            behind = true;
            continue;
        }
        const KernelTime* time = measured ? measured->find(kernel.name) : nullptr;
        const auto reason = reasons.find(kernel.name);
        if (reason != reasons.end() && !behind)
            refusals.kernels.push_back({std::string(kernel.name), reason->second});
        else if (time && own)
            refusals.kernels.push_back({std::string(kernel.name),
                                        time->median < own->median
                                            ? "it was measured faster by no more than noise"
                                            : "it was measured slower",
                                        time->median});
    }
    if (refusals.kernels.empty() && refusals.seconds == 0) return nullptr;
    return std::make_shared<const plan::Refusals>(std::move(refusals));
}

void choose(LoweredStep& step, const kernels::Problem& problem, const plan::Target& target,
            const KernelWishes& wishes) {
    const auto kernels = kernels::kernels_of(step.op, target.device);
    const TuningEntry* measured = wishes.measured_of(problem);
    std::map<std::string_view, std::string> reasons;
    const kernels::KernelInfo* usual = nullptr;
    std::vector<const kernels::KernelInfo*> able;
    for (const kernels::KernelInfo& kernel : kernels) {
        std::optional<std::string> reason;
        if (wishes.reference_only && kernel.name != kernels::kReference)
            reason = "only reference kernels were asked for";
        else
            reason = kernels::refusal(kernel, problem);
        if (!reason) {
            if (kernel.name != kernels::kReference) able.push_back(&kernel);
            const bool timed = measured && measured->find(kernel.name);
            if (auto slower = kernels::expected_slower(kernel, problem); !slower)
                usual = usual ? usual : &kernel;
            else if (!timed)
                reason = std::move(slower);
        }
        if (reason) reasons.emplace(kernel.name, std::move(*reason));
    }
    // The operator's one of BLIS comes before all others, whatever was measured.
    const auto blis =
        std::find_if(able.begin(), able.end(), [](const auto* kernel) { return kernel->blis; });
    if (wishes.blis && blis != able.end()) {
        step.kernel = *blis;
        measured = nullptr;
    } else {
        step.kernel = measured ? choose_measured(*measured, able, usual) : usual;
    }
    if (step.kernel) step.workspace = kernels::workspace_bytes(*step.kernel, problem);
    step.refusals = refusals_of(kernels, step.kernel, reasons, measured);
}

std::string refusals_text(const LoweredStep& step) {
    std::string text;
    if (!step.refusals) return "; the catalogue has none";
    for (const plan::Refusal& refusal : step.refusals->kernels)
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
    if (view == View::channels_last_source) return lies_features_last(source);
    if (view == View::channels_last_result) return lies_features_last(result);
    if (view == View::same_order) return stored_axes(source) == stored_axes(result);
    return is_row_major(source) && is_row_major(result);
}

namespace {

// No line of the catalogue: nothing is linked for it, and no problem is refused.
const kernels::KernelInfo& communicator(plan::ExchangeEnd end) {
    static const std::vector<kernels::KernelInfo> ends = [] {
        std::vector<kernels::KernelInfo> all;
        for (const plan::ExchangeOperator& one : plan::kExchangeOperators)
            all.push_back({one.op, kCommunicator, "", true, true});
        return all;
    }();
    return *std::find_if(ends.begin(), ends.end(), [&](const kernels::KernelInfo& one) {
        return one.op == plan::operator_of(end);
    });
}

// The step of the node; without a kernel for a view.
LoweredStep lower(const Graph& graph, const Node& node, const plan::Target& target,
                  const kernels::ProblemTarget& of_problems, const KernelWishes& wishes) {
    LoweredStep step;
    if (is_view(graph, node)) return step;
    if (std::string expression = expression_of(node); !expression.empty()) {
        step.op = "elementwise";
        step.attributes = pick(node.attributes, {"axis"});
        step.attributes["expression"] = std::move(expression);
    } else {
        step.op = node.op;
        step.attributes = complete_attributes(node);
    }
    if (const auto& end = op(node.op).exchange)
        step.kernel = &communicator(*end);
    else
        choose(step, problem_of(graph, node, step, of_problems), target, wishes);
    DTNN_CHECK(step.kernel != nullptr, "no kernel for `{}` of operator {}{}", node.op, step.op,
               refusals_text(step));
    step.kernel_class = kernel_class_of(graph, node, step.kernel->name);
    step.cost = cost_of(graph, node);
    return step;
}

}  // namespace

std::int64_t wanted_block(const Graph& graph, const Node& node, const plan::Target& target,
                          const KernelWishes& wishes) {
    LoweredStep step;
    step.op = node.op;
    step.attributes = complete_attributes(node);
    const kernels::Problem problem = problem_of(graph, node, step, problem_target(target));
    const auto block_by = [&](const KernelWishes& some) {
        choose(step, problem, target, some);
        return step.kernel == nullptr ? 0 : kernels::wanted_block(*step.kernel, problem);
    };
    // Times are of weights that are packed at every call. A kernel that they speak for is as good
    // without that; one that they speak against may be the best.
    const std::int64_t block = block_by(wishes);
    return block > 0 || !wishes.tuning || wishes.blis ? block : block_by({wishes.reference_only});
}

std::vector<LoweredStep> select_kernels(const Graph& graph, const plan::Target& target,
                                        const KernelWishes& wishes, NodeKinds& kinds) {
    const kernels::ProblemTarget of_problems = problem_target(target);
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
        if (added) found->second = lower(graph, node, target, of_problems, wishes);
        if (!found->second.kernel) continue;
        steps.push_back(found->second);
        steps.back().node = NodeId(i);
    }
    return steps;
}

std::vector<LoweredStep> select_kernels(const Graph& graph, const plan::Target& target,
                                        const KernelWishes& wishes) {
    NodeKinds kinds;
    return select_kernels(graph, target, wishes, kinds);
}

}  // namespace dtnn::compiler
