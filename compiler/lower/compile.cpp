#include "compiler/lower/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/quantity_text.hpp"
#include "base/saturating.hpp"
#include "compiler/lower/emit_plan.hpp"
#include "compiler/lower/memory_budget.hpp"
#include "compiler/lower/synchronise_program.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/loss/losses.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/support/check.hpp"
#include "plan/audit/audit.hpp"
#include "plan/metrics.hpp"
#include "plan/rules/exchange_model.hpp"
#include "plan/rules/ignored_labels.hpp"
#include "plan/rules/label_sequences.hpp"
#include "plan/rules/lengths.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/memory_need.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/parameter_groups.hpp"
#include "plan/rules/resident.hpp"
#include "plan/rules/staging.hpp"

namespace dtnn::compiler {

namespace {

using plan::ProgramKind;

struct ProgramRequest {
    std::string name;
    ProgramKind kind;
    std::int64_t batch;
    std::int64_t steps = 1;  ///< of a program that generates: read at once
};

/// Steps of prompts that are read at once, where texts are longer: the weights are read once for
/// them all.
constexpr std::int64_t kPromptSteps = 32;

void add_inference(std::vector<ProgramRequest>& programs, const plan::Plan& plan,
                   std::int64_t prompts) {
    programs.push_back({"predict", ProgramKind::predict, plan.training.batch_size});
    if (prompts == 0) return;
    programs.push_back({"generate", ProgramKind::generate, prompts});
    if (plan.dataset.input().dims[0] > kPromptSteps)
        programs.push_back({"generate_prompt", ProgramKind::generate, prompts, kPromptSteps});
}

std::vector<ProgramRequest> wanted_programs(plan::Plan& plan, std::int64_t pool,
                                            std::int64_t prompts) {
    plan::Training& training = plan.training;
    const plan::Dataset& dataset = plan.dataset;
    std::int64_t batch = training.batch_size;
    // Whether the job's limit cuts epochs short is a matter of one rank, so that all plans of a job
    // say the same; on more ranks an epoch may end before the limit.
    training.whole_epochs =
        training.steps_per_epoch <= 0 ||
        training.steps_per_epoch >= plan::steps_of_pass(dataset.train_samples, batch, 1);
    if (training.whole_epochs)
        training.steps_per_epoch = plan::steps_per_epoch(plan, plan.target.ranks);
    std::vector<ProgramRequest> programs = {{"train", ProgramKind::train, batch}};
    // The epoch's last batch always ends its group, so no tail is accumulated.
    if (training.accumulation > 1)
        programs.push_back({"accumulate", ProgramKind::accumulate, batch});
    // On enough ranks an epoch comes to its end, whatever the job's limit. How many samples a rank
    // has of its own is known when it runs: it takes whole batches, and what is left over of an
    // evaluation one by one.
    if (plan.parallel.private_data) {
        programs.push_back({"evaluate", ProgramKind::evaluate, batch});
        if (batch > 1) programs.push_back({"evaluate_one", ProgramKind::evaluate, 1});
        add_inference(programs, plan, prompts);
        return programs;
    }
    if (std::int64_t tail = dataset.train_samples % batch;
        tail > 0 && (training.whole_epochs || plan.parallel.data))
        programs.push_back({"train_tail", ProgramKind::train, tail});
    programs.push_back({"evaluate", ProgramKind::evaluate, batch});
    // Any split can be evaluated, of the training samples each once.
    std::vector<std::int64_t> tails;
    for (std::int64_t samples : {dataset.validation_samples, dataset.test_samples, pool}) {
        std::int64_t tail = samples % batch;
        if (tail == 0 || std::find(tails.begin(), tails.end(), tail) != tails.end()) continue;
        tails.push_back(tail);
        std::string name = "evaluate_tail";
        if (tails.size() > 1) name += "_" + std::to_string(tails.size());
        programs.push_back({std::move(name), ProgramKind::evaluate, tail});
    }
    add_inference(programs, plan, prompts);
    return programs;
}

/// How much work takes as long as moving a byte, on the machine, or where it does not say, on those
/// of today.
double flops_per_byte(const plan::Machine& machine) {
    const double rate = std::max(machine.product_rate, machine.convolution_rate);
    return rate > 0 && machine.memory_bandwidth > 0 ? rate / machine.memory_bandwidth : 10;
}

/// `asked` is what cannot be, before the layer's name and behind it.
void refuse_layer(Code code, const LayerRefusal& why, const Graph& forward,
                  std::pair<const char*, const char*> asked, Diagnostics& diagnostics) {
    const std::string layer = why.layer.valid() ? forward.layers[why.layer.index()].name : "";
    diagnostics.error(code, {why.place, 1},
                      fmt::format("{} `{}` {}: {}", asked.first, layer, asked.second, why.fact),
                      why.help);
}

/// Nothing where the network cannot be asked so: of one step that is a diagnostic, several are
/// left out.
std::optional<LoweredProgram> lower(const CompileRequest& request, const plan::Parallel& parallel,
                                    const ProgramRequest& wanted, const Graph& forward,
                                    std::int64_t live_bytes, NodeKinds& kinds,
                                    Diagnostics& diagnostics) {
    PassContext context;
    context.training = request.training;
    context.parallel = parallel;
    // Their gradients are each rank's own: passes see a training of one.
    if (plan::moves_locally(parallel)) context.parallel.data = false;
    context.ranks = request.target.ranks;
    context.device = request.target.device;
    context.compute = request.target.compute;
    context.reduces = [&](const Node& node) { return takes_reduced(node, request.target.device); };
    context.wanted_block = [&](const Graph& graph, const Node& node) {
        return wanted_block(graph, node, request.target, request.kernels);
    };
    context.label_kind = request.dataset.target().kind;
    if (plan::has_sequences(request.dataset))
        context.most_labels = element_count(request.dataset.target().dims);
    context.target_mean = request.dataset.target().mean;
    context.target_deviation = request.dataset.target().deviation;
    context.ignores_labels = plan::ignores_labels(request.dataset);
    context.lengths = plan::lengths_array(request.dataset);
    context.live_bytes = live_bytes;
    context.flops_per_byte = flops_per_byte(request.machine);
    context.accumulate = wanted.kind == ProgramKind::accumulate;
    context.program = context.accumulate ? ProgramKind::train : wanted.kind;
    context.steps = wanted.steps;
    context.soft_labels =
        context.program == ProgramKind::train && plan::mixes_samples(request.dataset);
    PipelineOptions options;
    options.disabled = request.disabled_passes;
    if (request.emit) {
        request.emit("forward", wanted.name, forward);
        options.observe = [&](std::string_view pass, const Graph& graph, double) {
            request.emit(std::string(pass), wanted.name, graph);
        };
    }
    LoweredProgram program;
    program.name = wanted.name;
    program.kind = wanted.kind;
    program.batch = wanted.batch;
    program.graph = run_pipeline(forward, context, options, kinds);
    if (context.needs_all_steps) {
        if (wanted.steps == 1)
            refuse_layer(Code::needs_all_steps, *context.needs_all_steps, forward,
                         {"`generation` asks for text step by step, and",
                          "cannot give its steps one by one"},
                         diagnostics);
        return std::nullopt;
    }
    if (context.mixes_steps) {
        refuse_layer(Code::mixes_steps, *context.mixes_steps, forward,
                     {"`lengths` of the dataset says how many steps a sample has, and",
                      "cannot leave others out"},
                     diagnostics);
        return std::nullopt;
    }
    program.steps = select_kernels(program.graph, request.target, request.kernels, kinds);
    program.storage =
        assign_storage(program.graph, program.steps, !request.disabled_passes.contains("in_place"));
    return program;
}

/// By which ranks that move weights of their own, trained by the graph `train`, become one again.
LoweredProgram synchronising(const CompileRequest& request, const plan::Plan& plan,
                             const Graph& train, NodeKinds& kinds) {
    LoweredProgram program;
    program.name = "synchronise";
    program.kind = ProgramKind::synchronise;
    program.batch = plan.training.batch_size;
    PassContext context;
    context.program = program.kind;
    const Graph graph = synchronise_graph(train, plan.parallel.bucket_bytes,
                                          plan.parallel.reduction == plan::ReductionMode::blocking);
    if (request.emit) request.emit("forward", program.name, graph);
    // No pass is for it; what they would leave intact is checked.
    program.graph = run_pipeline(graph, context, {}, kinds);
    program.steps = select_kernels(program.graph, request.target, request.kernels, kinds);
    program.storage =
        assign_storage(program.graph, program.steps, !request.disabled_passes.contains("in_place"));
    return program;
}

/// The optimizer of a rank that moves weights of its own has a state of its own.
void own_optimizer_states(plan::Plan& plan) {
    for (plan::Parameter& parameter : plan.parameters)
        if (parameter.optimizer_state && parameter.kind != plan::ParameterKind::average)
            parameter.by_rank = true;
}

std::vector<std::string> pass_list(const std::set<std::string>& disabled) {
    std::vector<std::string> names;
    auto add = [&](std::string name) {
        names.push_back(disabled.contains(name) ? "-" + name : std::move(name));
    };
    for (const PassInfo& pass : all_passes())
        add(std::string(pass.name));
    add("in_place");
    return names;
}

// Work of a layer's forward nodes, before any pass has moved or fused it, per sample.
void count_forward_work(const Graph& forward, std::int64_t batch, std::vector<plan::Layer>& layers,
                        NodeKinds& kinds) {
    for (plan::Layer& layer : layers)
        layer.forward_flops = 0;
    kinds.begin(forward);
    std::unordered_map<std::uint32_t, std::int64_t> flops_of;  // by kind of node
    for (const Node& node : forward.nodes) {
        if (!node.layer.valid()) continue;
        const auto [flops, added] = flops_of.try_emplace(kinds.of(node).number, 0);
        if (added) flops->second = cost_of(forward, node).flops;
        layers[node.layer.index()].forward_flops += flops->second;
    }
    for (plan::Layer& layer : layers)
        layer.forward_flops /= batch;
}

// A frozen parameter does not train, though its layer's table says that it could.
void count_frozen(const Graph& forward, const plan::Training& training,
                  std::vector<plan::Layer>& layers) {
    for (const Parameter& parameter : forward.parameters)
        if (parameter.trainable && parameter.layer.valid() &&
            group_freezes(training, parameter.name))
            layers[parameter.layer.index()].trainable -= element_count(parameter.dims);
}

std::int64_t gradient_bytes(const Graph& forward, const plan::Training& training) {
    std::int64_t bytes = 0;
    for (const Parameter& parameter : forward.parameters)
        if (parameter.trainable && !group_freezes(training, parameter.name))
            bytes += forward.type(parameter.value).bytes();
    return bytes;
}

plan::Prediction prediction_of(const Graph& forward, const plan::Training& training,
                               const plan::Dataset& dataset) {
    return prediction_of(given_by(forward, forward.outputs.front().value),
                         find_loss(training.loss, training.loss_attributes), dataset.target().kind);
}

/// With `live_bytes`, backward recomputes what values would take beyond them, as far as it can.
plan::Plan assemble(const CompileRequest& request, std::int64_t live_bytes,
                    Diagnostics& diagnostics) {
    plan::Plan plan;
    plan.name = request.job_name;
    plan.model = request.model_name;
    plan.target = request.target;
    plan.training = request.training;
    plan.dataset = request.dataset;
    for (auto* features : {&plan.dataset.inputs, &plan.dataset.targets})
        for (plan::Feature& feature : *features)
            feature.dtype = plan::are_integers(feature.kind) ? DType::i32 : plan.target.dtype;
    plan.parallel = request.parallel;
    plan.machine = request.machine;
    plan.passes = pass_list(request.disabled_passes);
    plan.values = request.values;
    plan.resolved_spec = request.resolved_spec;
    const std::int64_t pool = plan::split_dataset(plan.training, plan.dataset);

    // Programs of the same batch size begin with the same graph; a graph stays until the last of
    // them has been lowered, a lowered program until it has been emitted.
    std::map<std::int64_t, Graph> forward;
    std::map<std::int64_t, int> programs_to_come;
    const std::vector<ProgramRequest> wanted_list = wanted_programs(plan, pool, request.prompts);
    for (const ProgramRequest& wanted : wanted_list)
        ++programs_to_come[wanted.batch];
    PlanEmitter emitter(plan);
    NodeKinds kinds;
    std::optional<LoweredProgram> synchronise;
    for (const ProgramRequest& wanted : wanted_list) {
        auto [graph, added] = forward.try_emplace(wanted.batch);
        if (added) graph->second = request.build(wanted.batch);
        if (diagnostics.has_errors()) return {};
        if (added && wanted.batch == plan.training.batch_size) {
            plan.layers = graph->second.layers;
            count_forward_work(graph->second, wanted.batch, plan.layers, kinds);
            count_frozen(graph->second, plan.training, plan.layers);
            plan.prediction = prediction_of(graph->second, plan.training, plan.dataset);
            if (plan.parallel.data && plan.parallel.bucket_bytes == 0)
                plan.parallel.bucket_bytes = plan::bucket_bytes(
                    plan::link_of(plan.machine), gradient_bytes(graph->second, plan.training));
        }
        std::optional<LoweredProgram> program =
            lower(request, plan.parallel, wanted, graph->second, live_bytes, kinds, diagnostics);
        if (diagnostics.has_errors()) return {};
        if (program && wanted.kind == ProgramKind::train &&
            wanted.batch == plan.training.batch_size && plan::moves_locally(plan.parallel))
            synchronise = synchronising(request, plan, program->graph, kinds);
        if (program) emitter.add(std::move(*program));
        if (--programs_to_come[wanted.batch] == 0) forward.erase(graph);
    }
    if (synchronise) emitter.add(std::move(*synchronise));
    emitter.finish();
    if (plan::moves_locally(plan.parallel)) own_optimizer_states(plan);
    // The memory of what metrics keep of a pass, and checkpoints of several ranks, is outside the
    // arena, as prepared batches are.
    plan.memory.staging =
        saturating_sum({plan::staging_bytes(plan),
                        plan::metric_bytes(plan.training, plan.dataset, plan.target.dtype),
                        plan::gathered_bytes(plan)});
    plan.memory.samples = plan::sample_bytes(plan);

    std::vector<std::string> findings = plan::audit(plan);
    DTNN_CHECK(findings.empty(), "the plan does not pass its audit: {} ({} findings)",
               findings.front(), findings.size());
    return plan;
}

}  // namespace

plan::Plan compile(const CompileRequest& request, Diagnostics& diagnostics) {
    if (request.memory_budget <= 0) return assemble(request, 0, diagnostics);
    CompileRequest quiet = request;
    quiet.emit = {};
    const bool recomputes = !request.disabled_passes.contains("recompute");
    int tries = 0;
    const auto tell = [&](const char* work) {
        if (request.tell)
            request.tell(fmt::format("{} {}, try {}", work,
                                     bytes_text(double(request.memory_budget)), ++tries));
    };
    const auto fit = [&] {
        return fit_budget(request.memory_budget, recomputes, [&](std::int64_t live_bytes) {
            tell("looking for what fits");
            return assemble(quiet, live_bytes, diagnostics);
        });
    };
    const auto need = [](const FittedPlan& fitted) {
        return plan::memory_need(fitted.plan).bounded();
    };
    FittedPlan fitted = fit();
    // Kernels that were measured to be faster may want workspaces that there is no room for.
    if (quiet.kernels.tuning && need(fitted) > request.memory_budget && !diagnostics.has_errors()) {
        quiet.kernels.tuning = nullptr;
        FittedPlan usual = fit();
        if (need(usual) < need(fitted))
            fitted = std::move(usual);
        else
            quiet.kernels.tuning = request.kernels.tuning;
    }
    if (diagnostics.has_errors()) return std::move(fitted.plan);
    auto need_of = [&](std::int64_t batch) {
        tell("looking for the batch that fits");
        CompileRequest smaller = quiet;
        smaller.training.batch_size = batch;
        return plan::memory_need(assemble(smaller, recomputes ? kLeastLiveBytes : 0, diagnostics))
            .bounded();
    };
    check_budget(fitted.plan, request.memory_budget, request.job_span, need_of, diagnostics);
    if (request.emit && !diagnostics.has_errors()) {
        quiet.emit = request.emit;
        return assemble(quiet, fitted.live_bytes, diagnostics);
    }
    return std::move(fitted.plan);
}

}  // namespace dtnn::compiler
