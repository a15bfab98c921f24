#include "compiler/passes/shared/optimizer_graph.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace dtnn::compiler {

std::vector<Gradient> gradients_of(Rewriter& r, std::vector<GraphOutput>& others) {
    std::unordered_map<std::string, ValueId> by_name;
    const std::string prefix = gradient_output("");
    for (const GraphOutput& output : r.old().outputs) {
        if (output.name.starts_with(prefix))
            by_name.emplace(output.name.substr(prefix.size()), r.map(output.value));
        else
            others.push_back({output.name, r.map(output.value)});
    }
    std::vector<Gradient> gradients;
    gradients.reserve(by_name.size());
    for (const Parameter& parameter : r.graph().parameters)
        if (const auto found = by_name.find(parameter.name); found != by_name.end())
            gradients.push_back({parameter, found->second});
    return gradients;
}

bool shares_update(const PassContext& context) {
    return context.program == plan::ProgramKind::train &&
           (context.parallel.data || context.training.accumulation > 1);
}

Parameter state_beside(const Parameter& parameter, const char* role, plan::ParameterKind kind) {
    Parameter state;
    state.name = parameter.name + "." + role;
    state.role = role;
    state.kind = kind;
    state.optimizer_state = true;
    state.dims = parameter.dims;
    state.layer = parameter.layer;
    state.place = parameter.place;
    return state;
}

namespace {

/// One number beside the optimizer's states, of no layer.
ValueId lone_state(Rewriter& r, const char* name, double first) {
    for (const Parameter& parameter : r.graph().parameters)
        if (parameter.name == name) return parameter.value;
    Parameter parameter;
    parameter.name = name;
    parameter.role = name;
    parameter.kind = plan::ParameterKind::optimizer_state;
    parameter.optimizer_state = true;
    parameter.single = true;
    parameter.dims = {1};
    parameter.initializer.kind = "constant";
    parameter.initializer.numbers = {{"value", first}};
    return r.add_parameter(std::move(parameter), {DType::f32, {1}, {}});
}

}  // namespace

bool scales_loss(const PassContext& context) {
    return context.compute == plan::Compute::fp16;
}

ValueId loss_scale(Rewriter& r, const PassContext& context) {
    constexpr double kFirst = 65536;  // as torch.cuda.amp.GradScaler begins
    const double fixed = context.training.loss_scale;
    return lone_state(r, "loss_scale", fixed > 0 ? fixed : kFirst);
}

ValueId loss_scale_updates(Rewriter& r) {
    return lone_state(r, "loss_scale_updates", 0);
}

bool has_parameter(const Graph& graph, const std::string& name) {
    return std::any_of(graph.parameters.begin(), graph.parameters.end(),
                       [&](const Parameter& parameter) { return parameter.name == name; });
}

ValueId all_reduced(Rewriter& r, ValueId value, const std::string& collective, Origin place) {
    const std::string name = r.graph().value(value).name;
    Node start, wait;
    start.op = plan::operator_of(plan::kAllReduceStart);
    wait.op = plan::operator_of(plan::kAllReduceWait);
    start.phase = wait.phase = Phase::communication;
    start.place = wait.place = place;
    start.attributes = wait.attributes = {{"collective", collective}, {"statistics", true}};
    start.inputs = {value};
    wait.inputs = emit(r, std::move(start), name + ".sent");
    return emit(r, std::move(wait), name + ".reduced")[0];
}

ValueId input_of(Rewriter& r, plan::InputRole role, const Type& type) {
    const ValueId known = r.graph().find_input(role);
    return known.valid() ? known : r.add_input(plan::name_of(role), type);
}

std::string gradient_output(const std::string& parameter) {
    return "gradient of " + parameter;
}

std::vector<std::size_t> bucket_ends(std::span<const std::int64_t> bytes,
                                     std::int64_t bucket_bytes) {
    if (bytes.empty()) return {};
    const std::int64_t all = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
    if (all <= bucket_bytes) return {bytes.size()};
    std::size_t last = bytes.size() - 1;  // where the last bucket begins
    std::int64_t in_last = bytes[last];
    while (last > 0 && in_last + bytes[last - 1] <= bucket_bytes / 4)
        in_last += bytes[--last];
    std::vector<std::size_t> ends;
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < last; ++i) {
        if (filled > 0 && filled + bytes[i] > bucket_bytes) {
            ends.push_back(i);
            filled = 0;
        }
        filled += bytes[i];
    }
    if (last > 0) ends.push_back(last);
    ends.push_back(bytes.size());
    return ends;
}

Parameter average_of(const Parameter& parameter) {
    Parameter average = state_beside(parameter, "average", plan::ParameterKind::average);
    average.initializer = parameter.initializer;
    return average;
}

}  // namespace dtnn::compiler
