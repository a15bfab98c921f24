#include "runtime/exec/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/quantity_text.hpp"
#include "base/tensor/choices.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/dispatch.hpp"
#include "plan/audit/audit.hpp"
#include "plan/devices.hpp"
#include "plan/initializer.hpp"
#include "plan/json/json.hpp"
#include "plan/metrics.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/resident.hpp"
#include "runtime/base/component_fields.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/pipeline.hpp"
#include "runtime/data/transforms/sample_chain.hpp"
#include "runtime/device/device.hpp"
#include "runtime/exec/collectives.hpp"
#include "runtime/exec/plan_text.hpp"
#include "runtime/exec/program_check.hpp"

namespace dtnn::runtime {
namespace {

/// The most samples that a spec may ask for: an epoch's order is kept in memory.
constexpr std::int64_t kMostSamples = 1'000'000'000;
/// The most memory that a dataset may keep: no sum of such numbers overflows.
constexpr std::int64_t kMostKeptBytes = std::int64_t{1} << 50;

void check_machine(const plan::Plan& plan, const std::string& name) {
    if (!need_device(plan.target.device)) {
        throw refused_plan(
            name,
            fmt::format("it is for the device `{}`, which this program does not know",
                        plan.target.device),
            fmt::format("compile it with --target {}", fmt::join(plan::device_names(), " or ")));
    }
    if (plan.target.dtype != DType::f32 && plan.target.dtype != DType::f64) {
        throw refused_plan(name, fmt::format("its floating type is {}; f32 and f64 can be run",
                                             plan::name_of(plan.target.dtype)));
    }
    if (plan.target.threads < 1 || plan.target.threads > 65536) {
        throw refused_plan(name, fmt::format("it is for {} threads", plan.target.threads));
    }
    kernels::Isa isa{};
    if (!kernels::parse_name(plan.target.isa, isa)) {
        throw refused_plan(name,
                           fmt::format("its instruction set `{}` is unknown", plan.target.isa));
    }
    if (isa > kernels::host_isa()) {
        throw refused_plan(name,
                           fmt::format("it needs a processor with {}; this one has {}",
                                       plan.target.isa, kernels::name_of(kernels::host_isa())),
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
        throw refused_plan(
            name,
            fmt::format("it is for {}, and this program was built without its kernels",
                        plan.target.isa),
            remedy);
    }
}

void check_ranks(const plan::Plan& plan, const std::string& name, int ranks) {
    const std::string reason = plan::refuses_ranks(plan, ranks);
    if (!reason.empty()) {
        throw refused_plan(
            name, reason,
            plan.parallel.data
                ? fmt::format("start it with mpiexec -n {}, or compile it with --ranks {}",
                              plan.target.ranks, ranks)
                : "start it alone, or give the job `parallel: {data: auto}` and compile it again");
    }
    if (!(plan.parallel.timeout_seconds >= 0)) {
        throw refused_plan(name, "its ranks wait for " + limit_text(plan.parallel.timeout_seconds));
    }
}

/// The fields of metrics, which are read at the end of every pass, and those of the dataset that
/// memory is booked by.
void check_attributes(const plan::Plan& plan, const std::string& name) {
    for (const plan::Metric& metric : plan.training.metrics) {
        const plan::Component component{metric.type, metric.attributes};
        const ComponentFields fields(component);
        if (fields.has("average")) {
            const std::string average = fields.word("average");
            if (plan::Averaging known{}; !plan::parse_name(average, known)) {
                throw refused_plan(name,
                                   fmt::format("its metric `{}` has the average `{}`, which is "
                                               "unknown",
                                               metric.type, average));
            }
        }
        if (fields.has("threshold")) fields.real("threshold");
        if (fields.has("over")) fields.chosen<MeanOver>("over");
        if (fields.has("better")) fields.chosen<plan::MetricBetter>("better");
        if (fields.has("k")) fields.whole("k", 1, std::numeric_limits<std::int64_t>::max());
    }
    const plan::Dataset& dataset = plan.dataset;
    // Plans made by hand may have no stored shape: their source has the network's.
    const Dims& stored = dataset.input().stored_dims;
    const bool changed = !dataset.transforms.empty() || !dataset.augmentations.empty();
    if (plan::has_image(dataset) ? !stored.empty() && stored.size() != image_axes().size()
                                 : changed || (!stored.empty() && stored != dataset.input().dims)) {
        throw refused_plan(name,
                           fmt::format("its dataset has samples of the shape [{}]; it must be "
                                       "channels, height and width",
                                       fmt::join(stored, ",")));
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
        throw refused_plan(
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
            throw refused_plan(
                name,
                fmt::format("{} needs a program for batches of {}, there is none", pass, size));
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
    if (plan.training.batch_size < 1) throw refused_plan(name, "its batch size is not positive");
    if (plan.training.epochs < 0) throw refused_plan(name, "its number of epochs is negative");
    const plan::Dataset& dataset = plan.dataset;
    if (dataset.input().dims.empty() || element_count(dataset.input().dims) < 1 ||
        dataset.target().classes < 1 || dataset.train_samples < 1) {
        throw refused_plan(name, fmt::format("its dataset has the shape [{}], {} classes and {} "
                                             "training samples; all must be positive",
                                             fmt::join(dataset.input().dims, ","),
                                             dataset.target().classes, dataset.train_samples));
    }
    for (const std::int64_t samples :
         {dataset.train_samples, dataset.validation_samples, dataset.test_samples}) {
        if (samples > kMostSamples) {
            throw refused_plan(name, fmt::format("its dataset has {} samples; {} are the most",
                                                 samples, kMostSamples));
        }
    }
    if (!plan.training.whole_epochs && plan.training.steps_per_epoch < 1)
        throw refused_plan(name, "its epochs have no step");
    need("training", ProgramKind::train, dataset.train_samples,
         plan::steps_per_epoch(plan, ranks) ==
             plan::steps_of_pass(dataset.train_samples, plan.training.batch_size, ranks));
    if (plan.training.accumulation < 1)
        throw refused_plan(name, "its updates add up the gradients of less than one batch");
    if (plan.training.accumulation > 1 && dataset.train_samples > plan.training.batch_size)
        need("accumulation", ProgramKind::accumulate, plan.training.batch_size);
    need("validation", ProgramKind::evaluate, dataset.validation_samples);
    need("the test split", ProgramKind::evaluate, dataset.test_samples);
}

/// Samples are stored one after another, alike in all programs, and the batches prepared ahead fit
/// into what is booked.
void check_staging(const plan::Plan& plan, const std::string& name) {
    for (std::size_t i = 0; i < plan.dataset.inputs.size(); ++i) {
        const Order* first = nullptr;
        for (const plan::Program& program : plan.programs) {
            const plan::Input* source = plan::find_input(program, plan::InputRole::feature, int(i));
            if (source == nullptr) continue;  // check_program says so
            const plan::Tensor& tensor = program.tensors[std::size_t(source->tensor)];
            if (!tensor.order.empty() && tensor.order.front() != 0) {
                throw refused_plan(name, fmt::format("program `{}`: the batch is not the outermost "
                                                     "axis of `{}`",
                                                     program.name, tensor.name));
            }
            if (first == nullptr) first = &tensor.order;
            if (tensor.order != *first) {
                throw refused_plan(
                    name, fmt::format("program `{}` stores `{}` in another order "
                                      "than program `{}`",
                                      program.name, tensor.name, plan.programs.front().name));
            }
        }
    }
    const std::int64_t needed = Pipeline::staging_bytes(plan);
    if (plan.memory.staging < needed) {
        throw refused_plan(
            name, fmt::format("batches prepared ahead take {} bytes, the plan books {}", needed,
                              plan.memory.staging));
    }
    const std::int64_t samples = plan::sample_bytes(plan);
    if (plan.memory.samples < samples) {
        throw refused_plan(name,
                           fmt::format("the dataset keeps up to {} bytes in memory, the plan books "
                                       "{}",
                                       samples, plan.memory.samples));
    }
}

}  // namespace

LoadedPlan load_plan(const std::string& path, int ranks) {
    return load_plan_text(plan_text(path), path, ranks);
}

LoadedPlan read_plan_text(std::string text, const std::string& name) {
    plan::ReadResult result = plan::read_plan(text);
    if (!result.plan) {
        throw refused_plan(name, result.error,
                           plan::looks_like_plan(text)
                               ? std::string(kRecompile)
                               : "name a plan, the output of dtnnc compile SPEC -o PLAN");
    }
    LoadedPlan loaded{std::move(*result.plan), std::move(text), ""};
    loaded.checksum = plan::checksum_of(loaded.text);
    const std::vector<std::string> findings = plan::audit(loaded.plan);
    if (!findings.empty()) {
        throw refused_plan(name, findings.size() == 1
                                     ? findings.front()
                                     : fmt::format("{} ({} more findings)", findings.front(),
                                                   findings.size() - 1));
    }
    return loaded;
}

LoadedPlan read_plan_file(const std::string& path) {
    return read_plan_text(plan_text(path), path);
}

LoadedPlan load_plan_text(std::string text, const std::string& name, int ranks) {
    LoadedPlan loaded = read_plan_text(std::move(text), name);
    check_runnable(loaded.plan, name, ranks);
    return loaded;
}

void check_runnable(const plan::Plan& plan, const std::string& name, int ranks) {
    check_machine(plan, name);
    check_ranks(plan, name, ranks);
    for (const plan::Parameter& parameter : plan.parameters) {
        if (parameter.dtype != DType::f32 && parameter.dtype != DType::f64) {
            throw refused_plan(name, fmt::format("the parameter `{}` is {}; f32 and f64 can be run",
                                                 parameter.name, plan::name_of(parameter.dtype)));
        }
        if (const auto mistake = plan::mistake_of(parameter.initializer)) {
            throw refused_plan(name, fmt::format("the initializer of parameter `{}`: {}",
                                                 parameter.name, *mistake));
        }
        if (element_count(parameter.physical_dims) != element_count(parameter.dims)) {
            throw refused_plan(name,
                               fmt::format("the parameter `{}` has {} elements but is stored as {}",
                                           parameter.name, element_count(parameter.dims),
                                           element_count(parameter.physical_dims)));
        }
    }
    check_averages(plan, name);
    check_batches(plan, name, ranks);
    check_attributes(plan, name);
    check_staging(plan, name);
    for (const plan::Program& program : plan.programs)
        check_program(plan, program, name);
    if (const auto mistake = collectives_mistake(plan)) throw refused_plan(name, *mistake);
}

}  // namespace dtnn::runtime
