#include "compiler/driver/compile_job.hpp"

#include <fmt/format.h>

#include "base/processor.hpp"
#include "compiler/driver/target.hpp"
#include "compiler/lower/compile.hpp"
#include "compiler/passes/pass.hpp"
#include "kernels/catalogue.hpp"
#include "plan/devices.hpp"
#include "plan/rules/local_steps.hpp"

namespace dtnn::compiler {

namespace {

std::string offer(const std::string& word, const std::vector<std::string>& candidates) {
    if (auto near = did_you_mean(word, candidates)) return fmt::format("did you mean `{}`?", *near);
    return fmt::format("there are {}", fmt::join(candidates, ", "));
}

std::optional<OptionMistake> find_wrong_pass(const std::vector<std::string>& names) {
    std::vector<std::string> optional = {"in_place"};
    for (const PassInfo& pass : all_passes())
        if (pass.optional) optional.emplace_back(pass.name);
    std::sort(optional.begin(), optional.end());
    for (const std::string& name : names) {
        if (std::find(optional.begin(), optional.end(), name) != optional.end()) continue;
        if (find_pass(name))
            return OptionMistake{fmt::format("the pass `{}` is not optional", name), ""};
        return OptionMistake{fmt::format("no optional pass is named `{}`", name),
                             offer(name, optional)};
    }
    return std::nullopt;
}

/// The place of the budget, for the diagnostic about it; nowhere when it is an option.
Span budget_span(const JobSpec& job, const CompileOptions& options) {
    Span span;
    if (options.memory_budget > 0) return span;
    for (const plan::ResolvedValue& value : job.values)
        if (value.path == "memory_budget" && value.origin == plan::OriginKind::file)
            span.place = value.place;
    return span;
}

/// "`compute: bf16_products` or `compute: full`".
std::string what_it_does(const plan::DeviceTraits& device) {
    std::string text;
    for (const plan::Compute compute : device.computes)
        text += fmt::format("`compute: {}` or ", plan::name_of(compute));
    return text + fmt::format("`compute: {}`", plan::name_of(plan::Compute::full));
}

/// Reports what a job asks for that its device or its dtype cannot do.
void check_compute(const JobSpec& job, const CompileOptions& options, Diagnostics& diagnostics) {
    const plan::Compute compute = job.training.compute;
    if (job.training.training.loss_scale > 0 && compute != plan::Compute::fp16) {
        const auto place = job.training.spans.find("loss_scale");
        diagnostics.error(Code::conflicting_fields,
                          place == job.training.spans.end() ? job.training.span : place->second,
                          fmt::format("`loss_scale` is of `compute: fp16`, and `compute` is `{}`",
                                      plan::name_of(compute)),
                          "leave it out, or write `compute: fp16`");
    }
    if (compute == plan::Compute::full) return;
    const auto written = job.training.spans.find("compute");
    const Span& span = written == job.training.spans.end() ? job.training.span : written->second;
    const plan::DeviceTraits& device = plan::traits_of(options.device);
    const plan::DeviceTraits* other = plan::device_that_does(compute);
    if (!device.does(compute) && other != nullptr)
        diagnostics.error(Code::conflicting_fields, span,
                          fmt::format("`compute` is `{}`, which {}; {}", plan::name_of(compute),
                                      other->who, device.how),
                          fmt::format("compile with --target {}, or write {}", other->name,
                                      what_it_does(device)));
    else if (job.training.dtype != DType::f32)
        diagnostics.error(Code::conflicting_fields, span,
                          fmt::format("`compute` is `{}`, and the dtype {}", plan::name_of(compute),
                                      plan::name_of(job.training.dtype)),
                          "write `dtype: f32`, or `compute: full`");
    else if (compute == plan::Compute::fp16 && plan::moves_locally(job.parallel.parallel))
        diagnostics.error(Code::conflicting_fields, span,
                          "`compute` is `fp16`, and the weights move on each rank alone: ranks "
                          "would scale their losses differently",
                          "write `compute: bf16`");
}

/// Whether kernels that the job prefers can be had.
void check_preference(const JobSpec& job, const CompileOptions& options, Diagnostics& diagnostics) {
    if (job.prefer == plan::KernelPreference::none || options.reference_kernels) return;
    const Span& span = job.spans.at("kernels.prefer");
    if (!plan::traits_of(options.device).instruction_sets) {
        diagnostics.error(Code::conflicting_fields, span,
                          fmt::format("`prefer` of kernels is `{}`, which is of the cpu",
                                      plan::name_of(job.prefer)),
                          "write `prefer: none`, or compile with --target cpu");
        return;
    }
    const plan::Target target = decide_target(job, options);
    if (target.isa != kernels::name_of(kernels::Isa::baseline)) return;
    diagnostics.error(
        Code::conflicting_fields, span,
        fmt::format("`prefer` of kernels is `{}`, whose kernels need avx2, and the plan is for {}",
                    plan::name_of(job.prefer), target.isa),
        "write `prefer: none`, or compile with --isa avx2");
}

/// Reports what a job asks for that the device cannot do.
void check_device(const JobSpec& job, const CompileOptions& options, Diagnostics& diagnostics) {
    check_compute(job, options, diagnostics);
    check_preference(job, options, diagnostics);
    const plan::Compression wire = job.parallel.parallel.compression;
    if (plan::traits_of(options.device).compressed_exchanges || wire == plan::Compression::full)
        return;
    const auto written = job.parallel.spans.find("wire");
    diagnostics.error(
        Code::conflicting_fields,
        written == job.parallel.spans.end() ? job.parallel.span : written->second,
        fmt::format("`wire` of parallel is `{}`, and devices exchange gradients as they are",
                    plan::name_of(wire)),
        "write `wire: full`, or compile with --target cpu");
}

/// "cpu and cuda, which is for GPUs".
std::string list_of_devices() {
    std::string text;
    for (const plan::DeviceTraits& device : plan::devices())
        text += fmt::format("{}{}{}{}", text.empty() ? "" : " and ", device.name,
                            device.doc.empty() ? "" : ", ", device.doc);
    return text;
}

}  // namespace

CompileOptions options_beside(const plan::Plan& other) {
    CompileOptions options;
    options.device = other.target.device;
    if (plan::traits_of(options.device).instruction_sets) options.usual_isa = other.target.isa;
    options.usual_threads = other.target.threads;
    return options;
}

std::optional<OptionMistake> find_mistake(const CompileOptions& options) {
    if (auto mistake = find_wrong_pass(options.disabled_passes)) return mistake;
    if (options.threads < 0) return OptionMistake{"--threads takes a number of at least 1", ""};
    const plan::DeviceTraits* device = plan::find_device(options.device);
    if (device == nullptr)
        return OptionMistake{fmt::format("--target {}: no such device", options.device),
                             "there are " + list_of_devices()};
    if (!device->instruction_sets && options.reference_kernels)
        return OptionMistake{"--reference-kernels: only the cpu has them", ""};
    if (!device->instruction_sets && !options.isa.empty())
        return OptionMistake{"--isa: instruction sets are the cpu's", ""};
    if (!device->threads && options.threads > 0)
        return OptionMistake{"--threads: a run's threads are the cpu's", ""};
    if (!options.isa.empty() && !is_isa(options.isa))
        return OptionMistake{fmt::format("--isa {}: no such instruction set", options.isa),
                             offer(options.isa, isa_names())};
    return std::nullopt;
}

std::optional<plan::Plan> compile_job(const JobSpec& job, const CompileOptions& options,
                                      Diagnostics& diagnostics) {
    if (auto mistake = find_mistake(options))
        diagnostics.error(Code::bad_setting, {}, mistake->text, mistake->help);
    if (options.threads > 0 && !diagnostics.has_errors())
        check_cores(job, options.threads, {}, diagnostics);
    check_device(job, options, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;

    CompileRequest request;
    request.job_name = job.name;
    request.model_name = job.model.name;
    request.build = [&](std::int64_t batch) { return build_graph(job, batch, diagnostics); };
    request.training = planned_training(job.training);
    request.dataset = job.dataset.dataset;
    request.target = decide_target(job, options);
    request.parallel = job.parallel.parallel;
    request.machine = job.machine.machine;
    request.memory_budget = options.memory_budget > 0 ? options.memory_budget : job.memory_budget;
    request.prompts = job.prompts;
    request.values = job.values;
    request.resolved_spec = job.resolved_text;
    request.job_span = budget_span(job, options);
    request.disabled_passes = {options.disabled_passes.begin(), options.disabled_passes.end()};
    request.kernels = {options.reference_kernels, job.prefer == plan::KernelPreference::blis,
                       options.tuning,
                       job.machine.processor.empty() ? processor_name() : job.machine.processor};
    request.emit = options.observe;
    request.tell = options.tell;
    plan::Plan plan = compile(request, diagnostics);
    if (!diagnostics.has_errors()) check_machine(job, plan, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    return plan;
}

std::optional<plan::Plan> compile_file(const std::string& path, const LoadOptions& load,
                                       const CompileOptions& options, Diagnostics& diagnostics) {
    const JobSpec job = load_job(path, load, diagnostics);
    return compile_job(job, options, diagnostics);
}

}  // namespace dtnn::compiler
