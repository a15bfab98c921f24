#include "runtime/exec/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/quantity_text.hpp"
#include "base/saturating.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/dispatch.hpp"
#include "plan/audit/audit.hpp"
#include "plan/initializer.hpp"
#include "plan/json/json.hpp"
#include "plan/metrics.hpp"
#include "plan/rules/ignored_labels.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/resident.hpp"
#include "runtime/base/component_fields.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/pipeline.hpp"
#include "runtime/data/transforms/sample_chain.hpp"
#include "runtime/device/cuda/cuda_device.hpp"
#include "runtime/exec/collectives.hpp"
#include "runtime/exec/plan_text.hpp"
#include "runtime/exec/step_problem.hpp"

namespace dtnn::runtime {
namespace {

/// The most samples that a spec may ask for: an epoch's order is kept in memory.
constexpr std::int64_t kMostSamples = 1'000'000'000;
/// The most memory that a dataset may keep: no sum of such numbers overflows.
constexpr std::int64_t kMostKeptBytes = std::int64_t{1} << 50;

const char* const kRecompile = "compile the job again with the dtnnc of this version";

RunError refused(const std::string& name, const std::string& fact,
                 const std::string& help = kRecompile) {
    return RunError(Exit::mismatch, fmt::format("the plan {} is refused: {}", name, fact), help);
}

void check_machine(const plan::Plan& plan, const std::string& name) {
    if (plan.target.device == "cuda") {
        cuda::need_cuda();
    } else if (plan.target.device != "cpu") {
        throw refused(name,
                      fmt::format("it is for the device `{}`, which this program does not know",
                                  plan.target.device),
                      "compile it with --target cpu or --target cuda");
    }
    if (plan.target.dtype != plan::DType::f32 && plan.target.dtype != plan::DType::f64) {
        throw refused(name, fmt::format("its floating type is {}; f32 and f64 can be run",
                                        plan::name_of(plan.target.dtype)));
    }
    if (plan.target.threads < 1 || plan.target.threads > 65536) {
        throw refused(name, fmt::format("it is for {} threads", plan.target.threads));
    }
    kernels::Isa isa{};
    if (!kernels::parse_isa(plan.target.isa, isa)) {
        throw refused(name, fmt::format("its instruction set `{}` is unknown", plan.target.isa));
    }
    if (isa > kernels::host_isa()) {
        throw refused(name,
                      fmt::format("it needs a processor with {}; this one has {}", plan.target.isa,
                                  kernels::name_of(kernels::host_isa())),
                      fmt::format("compile it with --isa {}, or run it on another machine",
                                  kernels::name_of(kernels::host_isa())));
    }
    if (!kernels::is_built(isa)) {
        std::string remedy = "build the program with cmake -DDTNN_INSTRUCTION_SETS=all";
        for (const auto other : {kernels::Isa::avx512_bf16, kernels::Isa::avx512,
                                 kernels::Isa::avx2, kernels::Isa::baseline}) {
            if (other > kernels::host_isa() || !kernels::is_built(other)) continue;
            remedy += fmt::format(", or compile the job with --isa {}", kernels::name_of(other));
            break;
        }
        throw refused(name,
                      fmt::format("it is for {}, and this program was built without its kernels",
                                  plan.target.isa),
                      remedy);
    }
}

void check_ranks(const plan::Plan& plan, const std::string& name, int ranks) {
    const std::string reason = plan::refuses_ranks(plan, ranks);
    if (!reason.empty()) {
        throw refused(
            name, reason,
            plan.parallel.data
                ? fmt::format("start it with mpiexec -n {}, or compile it with --ranks {}",
                              plan.target.ranks, ranks)
                : "start it alone, or give the job `parallel: {data: auto}` and compile it again");
    }
    if (!(plan.parallel.timeout_seconds >= 0)) {
        throw refused(name, "its ranks wait for " + limit_text(plan.parallel.timeout_seconds));
    }
}

void check_step(const plan::Plan& plan, const plan::Program& program, int number,
                const plan::Step& step, const std::string& name) {
    if (plan::is_collective(step.op)) return;  // the audit has seen it
    const auto where = [&] { return describe_step(plan, program, number, step); };
    const kernels::KernelInfo* kernel =
        kernels::find_kernel(step.op, step.kernel, plan.target.device);
    if (kernel == nullptr) {
        throw refused(name, fmt::format("{}: there is no kernel `{}` for the operator `{}`",
                                        where(), step.kernel, step.op));
    }
    const kernels::Problem problem = problem_of(plan, program, step);
    if (const auto mistake = kernels::operand_mistake(problem)) {
        throw refused(name, fmt::format("{}: {}", where(), *mistake));
    }
    if (const auto reason = kernels::refusal(*kernel, problem)) {
        throw refused(name, fmt::format("{}: the kernel `{}` cannot do it: {}", where(),
                                        step.kernel, *reason));
    }
    const std::int64_t needed = kernels::workspace_bytes(*kernel, problem);
    const std::int64_t booked =
        step.workspace < 0 ? 0 : plan.buffers[std::size_t(step.workspace)].bytes;
    if (booked < needed) {
        throw refused(name,
                      fmt::format("{}: the kernel `{}` needs {} bytes of workspace for {} threads, "
                                  "the plan books {}",
                                  where(), step.kernel, needed, plan.target.threads, booked));
    }
}

const plan::Output* find_output(const plan::Program& program, const std::string& name) {
    const auto found = std::find_if(program.outputs.begin(), program.outputs.end(),
                                    [&](const plan::Output& item) { return item.name == name; });
    return found == program.outputs.end() ? nullptr : &*found;
}

/// The tensor `what` of a program must be of this type and shape; the runtime reads or writes it as
/// such.
template <class End>
void check_tensor(const plan::Program& program, const End* item, const std::string& what,
                  plan::DType dtype, const plan::Dims& dims, const std::string& name) {
    if (item == nullptr) {
        throw refused(name, fmt::format("program `{}` has no `{}`", program.name, what));
    }
    const plan::Tensor& tensor = program.tensors[std::size_t(item->tensor)];
    if (tensor.dtype != dtype || tensor.dims != dims) {
        throw refused(name,
                      fmt::format("program `{}`: `{}` is {} [{}], not {} [{}]", program.name, what,
                                  plan::name_of(tensor.dtype), fmt::join(tensor.dims, ","),
                                  plan::name_of(dtype), fmt::join(dims, ",")));
    }
}

/// The loss, and what the plan's metrics are made of (plan/metrics.hpp).
void check_measures(const plan::Plan& plan, const plan::Program& program, bool training,
                    const std::string& name) {
    const auto check_one = [&](const std::string& output, plan::DType dtype) {
        const plan::Output* item = find_output(program, output);
        const plan::Dims dims =
            item == nullptr ? plan::Dims{} : program.tensors[std::size_t(item->tensor)].dims;
        check_tensor(program, item, output, dtype,
                     plan::element_count(dims) == 1 ? dims : plan::Dims{}, name);
    };
    const std::int64_t classes = plan.dataset.target().classes;
    const std::int64_t rows = program.batch * plan::element_count(plan.dataset.target().dims);
    check_one("loss", plan.target.dtype);
    if (find_output(program, "loss_weight") != nullptr) check_one("loss_weight", plan::DType::f64);
    if (plan::ignored_value(plan.dataset)) check_one(plan::kCountedLabels, plan::DType::f64);
    for (const plan::Metric& metric : plan.training.metrics) {
        const plan::MetricInfo* info = plan::find_metric(metric.type);
        if (info == nullptr)
            throw refused(name, fmt::format("its metric `{}` is unknown", metric.type));
        if (info->join == plan::MetricJoin::sum) {
            check_one(metric.output, plan::DType::f64);
        } else if (info->join == plan::MetricJoin::scores) {
            // Not measured in training. Scores of pixels have the classes as an axis of their own.
            if (training) continue;
            const plan::Output* item = find_output(program, metric.output);
            const plan::Dims dims =
                item == nullptr ? plan::Dims{} : program.tensors[std::size_t(item->tensor)].dims;
            check_tensor(
                program, item, metric.output, plan.target.dtype,
                plan::element_count(dims) == rows * classes ? dims : plan::Dims{rows, classes},
                name);
        } else if (plan.dataset.target().kind == plan::LabelKind::multiple) {
            check_tensor(program, find_output(program, metric.output), metric.output,
                         plan::DType::i64, {classes, 4}, name);
        } else {
            check_tensor(program, find_output(program, metric.output), metric.output,
                         plan::DType::i32, {rows, 2}, name);
        }
    }
}

/// What a sample's prediction is read as: numbers of the plan's type, samples first, a number for
/// each class or, where pixels have labels, for each class and pixel.
void check_predictions(const plan::Plan& plan, const plan::Program& program,
                       const std::string& name) {
    const plan::Output* item = find_output(program, "predictions");
    if (item == nullptr)
        throw refused(name, fmt::format("program `{}` has no `predictions`", program.name));
    const plan::Dims& dims = program.tensors[std::size_t(item->tensor)].dims;
    const std::int64_t numbers =
        saturating_product({program.batch, plan.dataset.target().classes,
                            plan::element_count(plan.dataset.target().dims)});
    const bool sound =
        dims.size() >= 2 && dims[0] == program.batch && plan::element_count(dims) == numbers;
    check_tensor(program, item, "predictions", plan.target.dtype,
                 sound ? dims : plan::Dims{program.batch, plan.dataset.target().classes}, name);
}

void check_steps(const plan::Plan& plan, const plan::Program& program, const std::string& name) {
    int number = 0;
    for (const auto* list : {&program.prologue, &program.steps}) {
        for (const plan::Step& step : *list)
            check_step(plan, program, number++, step, name);
    }
}

/// What the runtime writes to an input must fit its tensor.
void check_input(const plan::Plan& plan, const plan::Program& program, const plan::Input& input,
                 const std::string& name) {
    using plan::InputRole;
    const plan::Tensor& tensor = program.tensors[std::size_t(input.tensor)];
    const auto check = [&](plan::DType dtype, const plan::Dims& dims) {
        check_tensor(program, &input, tensor.name, dtype, dims, name);
    };
    const plan::DType dtype = plan.target.dtype;
    if (input.index != 0) {
        throw refused(name, fmt::format("program `{}` wants {} {}, which is unknown", program.name,
                                        plan::name_of(input.role), input.index));
    }
    switch (input.role) {
        case InputRole::feature: {
            plan::Dims dims = {program.batch};
            dims.insert(dims.end(), plan.dataset.input().dims.begin(),
                        plan.dataset.input().dims.end());
            return check(dtype, dims);
        }
        case InputRole::target:
            if (tensor.dtype == plan::DType::i32)
                return check(plan::DType::i32,
                             {program.batch * plan::element_count(plan.dataset.target().dims)});
            return check(dtype, {program.batch, plan.dataset.target().classes});
        case InputRole::position:
            return check(plan::DType::i64, {2});
        case InputRole::update:
        case InputRole::learning_rate:
        case InputRole::batch_weight:
        case InputRole::share:
            return check(input.role == InputRole::update ? plan::DType::i64 : dtype,
                         plan::element_count(tensor.dims) == 1 ? tensor.dims : plan::Dims{});
    }
}

void check_program(const plan::Plan& plan, const plan::Program& program, const std::string& name) {
    using plan::ProgramKind;
    const bool training =
        program.kind == ProgramKind::train || program.kind == ProgramKind::accumulate;
    if (program.batch < 1) {
        throw refused(
            name, fmt::format("program `{}` is for a batch of {}", program.name, program.batch));
    }
    for (const plan::Input& input : program.inputs)
        check_input(plan, program, input, name);
    const auto need = [&](plan::InputRole role) {
        if (plan::find_input(program, role) != nullptr) return;
        throw refused(name,
                      fmt::format("program `{}` has no `{}`", program.name, plan::name_of(role)));
    };
    if (program.kind == ProgramKind::synchronise) {
        need(plan::InputRole::share);
        return check_steps(plan, program, name);
    }
    need(plan::InputRole::feature);
    if (training || program.kind == ProgramKind::evaluate)
        check_measures(plan, program, training, name);
    if (program.kind == ProgramKind::predict) check_predictions(plan, program, name);
    if (training && plan.parallel.data && !plan::moves_locally(plan.parallel) &&
        plan::find_input(program, plan::InputRole::batch_weight) == nullptr) {
        throw refused(name, fmt::format("program `{}` has no `batch_weight`, by which ranks weight "
                                        "their batches",
                                        program.name));
    }
    check_steps(plan, program, name);
}

/// The fields of metrics, which are read at the end of every pass, and those of the dataset that
/// memory is booked by.
void check_attributes(const plan::Plan& plan, const std::string& name) {
    for (const plan::Metric& metric : plan.training.metrics) {
        const plan::Component component{metric.type, metric.attributes};
        const ComponentFields fields(component);
        if (fields.has("average")) {
            const std::string average = fields.word("average");
            if (average != "macro" && average != "micro" && average != "per_class") {
                throw refused(name, fmt::format("its metric `{}` has the average `{}`, which is "
                                                "unknown",
                                                metric.type, average));
            }
        }
        if (fields.has("threshold")) fields.real("threshold");
        for (const char* word : {"over", "better"})
            if (fields.has(word)) fields.word(word);
        if (fields.has("k")) fields.whole("k", 1, std::numeric_limits<std::int64_t>::max());
    }
    const plan::Dataset& dataset = plan.dataset;
    // Plans made by hand may have no stored shape: their source has the network's.
    if (!dataset.input().stored_dims.empty() && dataset.input().stored_dims.size() != 3) {
        throw refused(name, fmt::format("its dataset has samples of the shape [{}]; it must be "
                                        "channels, height and width",
                                        fmt::join(dataset.input().stored_dims, ",")));
    }
    const plan::Component source{dataset.type, dataset.attributes};
    const ComponentFields fields(source);
    for (const char* count : {"cache", "most_pixels"})
        if (fields.has(count)) fields.whole(count, 0, kMostKeptBytes);
    static_cast<void>(SampleChain(plan));  // which checks the fields of transforms
}

/// A parameter's average takes its values over, and stands in for it where a model is evaluated.
void check_averages(const plan::Plan& plan, const std::string& name) {
    constexpr std::string_view kSuffix = ".average";
    std::unordered_map<std::string_view, const plan::Parameter*> parameters;
    for (const plan::Parameter& parameter : plan.parameters)
        parameters.emplace(parameter.name, &parameter);
    for (const plan::Parameter& parameter : plan.parameters) {
        std::string_view of = parameter.name;
        if (parameter.kind != plan::ParameterKind::average || !of.ends_with(kSuffix)) continue;
        of.remove_suffix(kSuffix.size());
        const auto found = parameters.find(of);
        if (found == parameters.end()) continue;
        const plan::Parameter& averaged = *found->second;
        if (parameter.dtype == averaged.dtype && parameter.dims == averaged.dims) continue;
        throw refused(
            name, fmt::format("the parameter `{}` is {} [{}], and `{}` is {} [{}]", parameter.name,
                              plan::name_of(parameter.dtype), fmt::join(parameter.dims, ","),
                              averaged.name, plan::name_of(averaged.dtype),
                              fmt::join(averaged.dims, ",")));
    }
}

/// Every batch that the loop will meet has a program for its size.
void check_batches(const plan::Plan& plan, const std::string& name, int ranks) {
    using plan::ProgramKind;
    const auto need = [&](const char* pass, ProgramKind kind, std::int64_t samples,
                          bool whole = true) {
        const std::int64_t batch = plan.training.batch_size;
        const auto has = [&](std::int64_t size) {
            if (std::any_of(plan.programs.begin(), plan.programs.end(),
                            [&](const plan::Program& program) {
                                return program.kind == kind && program.batch == size;
                            })) {
                return;
            }
            throw refused(name, fmt::format("{} needs a program for batches of {}, there is none",
                                            pass, size));
        };
        if (plan.parallel.private_data) {
            // However many samples a rank has, it trains on whole batches, and evaluates what is
            // left over one by one.
            has(batch);
            if (kind == ProgramKind::evaluate) has(1);
            return;
        }
        if (samples >= batch) has(batch);
        if (samples % batch != 0 && whole) has(samples % batch);
    };
    if (plan.training.batch_size < 1) throw refused(name, "its batch size is not positive");
    if (plan.training.epochs < 0) throw refused(name, "its number of epochs is negative");
    const plan::Dataset& dataset = plan.dataset;
    if (dataset.input().dims.size() != 3 || plan::element_count(dataset.input().dims) < 1 ||
        dataset.target().classes < 1 || dataset.train_samples < 1) {
        throw refused(name, fmt::format("its dataset has the shape [{}], {} classes and {} "
                                        "training samples; all must be positive",
                                        fmt::join(dataset.input().dims, ","),
                                        dataset.target().classes, dataset.train_samples));
    }
    for (const std::int64_t samples :
         {dataset.train_samples, dataset.validation_samples, dataset.test_samples}) {
        if (samples > kMostSamples) {
            throw refused(name, fmt::format("its dataset has {} samples; {} are the most", samples,
                                            kMostSamples));
        }
    }
    if (!plan.training.whole_epochs && plan.training.steps_per_epoch < 1)
        throw refused(name, "its epochs have no step");
    need("training", ProgramKind::train, dataset.train_samples,
         plan::steps_per_epoch(plan, ranks) ==
             plan::steps_of_pass(dataset.train_samples, plan.training.batch_size, ranks));
    if (plan.training.accumulation < 1)
        throw refused(name, "its updates add up the gradients of less than one batch");
    if (plan.training.accumulation > 1 && dataset.train_samples > plan.training.batch_size)
        need("accumulation", ProgramKind::accumulate, plan.training.batch_size);
    need("validation", ProgramKind::evaluate, dataset.validation_samples);
    need("the test split", ProgramKind::evaluate, dataset.test_samples);
}

/// Samples are stored one after another, alike in all programs, and the batches prepared ahead fit
/// into what is booked.
void check_staging(const plan::Plan& plan, const std::string& name) {
    const plan::Order* first = nullptr;
    for (const plan::Program& program : plan.programs) {
        const plan::Input* source = plan::find_input(program, plan::InputRole::feature);
        if (source == nullptr) continue;  // check_program says so
        const plan::Order& order = program.tensors[std::size_t(source->tensor)].order;
        if (!order.empty() && order.front() != 0) {
            throw refused(name, fmt::format("program `{}`: the batch is not the outermost axis of "
                                            "`source`",
                                            program.name));
        }
        if (first == nullptr) first = &order;
        if (order != *first) {
            throw refused(name, fmt::format("program `{}` stores `source` in another order than "
                                            "program `{}`",
                                            program.name, plan.programs.front().name));
        }
    }
    const std::int64_t needed = Pipeline::staging_bytes(plan);
    if (plan.memory.staging < needed) {
        throw refused(name, fmt::format("batches prepared ahead take {} bytes, the plan books {}",
                                        needed, plan.memory.staging));
    }
    const std::int64_t samples = plan::sample_bytes(plan);
    if (plan.memory.samples < samples) {
        throw refused(name,
                      fmt::format("the dataset keeps up to {} bytes in memory, the plan books "
                                  "{}",
                                  samples, plan.memory.samples));
    }
}

}  // namespace

LoadedPlan load_plan(const std::string& path, int ranks) {
    return load_plan_text(plan_text(path), path, ranks);
}

namespace {

LoadedPlan audited(std::string text, const std::string& name) {
    plan::ReadResult result = plan::read_plan(text);
    if (!result.plan) {
        throw refused(name, result.error,
                      plan::looks_like_plan(text)
                          ? std::string(kRecompile)
                          : "name a plan, the output of dtnnc compile SPEC -o PLAN");
    }
    LoadedPlan loaded{std::move(*result.plan), std::move(text), ""};
    loaded.checksum = plan::checksum_of(loaded.text);
    const std::vector<std::string> findings = plan::audit(loaded.plan);
    if (!findings.empty()) {
        throw refused(name, findings.size() == 1
                                ? findings.front()
                                : fmt::format("{} ({} more findings)", findings.front(),
                                              findings.size() - 1));
    }
    return loaded;
}

}  // namespace

LoadedPlan read_plan_file(const std::string& path) {
    return audited(plan_text(path), path);
}

LoadedPlan load_plan_text(std::string text, const std::string& name, int ranks) {
    LoadedPlan loaded = audited(std::move(text), name);
    check_runnable(loaded.plan, name, ranks);
    return loaded;
}

void check_runnable(const plan::Plan& plan, const std::string& name, int ranks) {
    check_machine(plan, name);
    check_ranks(plan, name, ranks);
    for (const plan::Parameter& parameter : plan.parameters) {
        if (parameter.dtype != plan::DType::f32 && parameter.dtype != plan::DType::f64) {
            throw refused(name, fmt::format("the parameter `{}` is {}; f32 and f64 can be run",
                                            parameter.name, plan::name_of(parameter.dtype)));
        }
        if (const auto mistake = plan::mistake_of(parameter.initializer)) {
            throw refused(name, fmt::format("the initializer of parameter `{}`: {}", parameter.name,
                                            *mistake));
        }
        if (plan::element_count(parameter.physical_dims) != plan::element_count(parameter.dims)) {
            throw refused(name,
                          fmt::format("the parameter `{}` has {} elements but is stored as {}",
                                      parameter.name, plan::element_count(parameter.dims),
                                      plan::element_count(parameter.physical_dims)));
        }
    }
    check_averages(plan, name);
    check_batches(plan, name, ranks);
    check_attributes(plan, name);
    check_staging(plan, name);
    for (const plan::Program& program : plan.programs)
        check_program(plan, program, name);
    if (const auto mistake = collectives_mistake(plan)) throw refused(name, *mistake);
}

}  // namespace dtnn::runtime
