#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/support/diagnostics.hpp"
#include "plan/devices.hpp"
#include "plan/summary/summary.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/sweep/sweep_commands.hpp"

namespace dtnn::tools {

namespace {

using compiler::CheckedSpec;
using compiler::Diagnostics;
using compiler::SpecKind;

/// A job's plan, for the processor, or for a device where only these do what the job asks for.
std::optional<plan::Plan> plan_of(const std::string& spec, const CommonOptions& options,
                                  Diagnostics& diagnostics) {
    Diagnostics of_plan;
    std::optional<plan::Plan> plan = compile_spec(spec, {}, options, of_plan);
    const auto refuses_fields = [](const compiler::Diagnostic& one) {
        return one.severity != compiler::Severity::error ||
               one.code == compiler::Code::conflicting_fields;
    };
    if (!plan && std::all_of(of_plan.all().begin(), of_plan.all().end(), refuses_fields)) {
        for (const plan::DeviceTraits& device : plan::devices().subspan(1)) {
            CompileCommand on_device;
            on_device.options.device = device.name;
            Diagnostics of_device;
            if (auto other = compile_spec(spec, on_device, options, of_device)) {
                diagnostics.merge(of_device);
                return other;
            }
        }
    }
    diagnostics.merge(of_plan);
    return plan;
}

std::string dataset_words(const plan::Dataset& dataset) {
    return fmt::format("{} training and {} test samples of {}, {}", grouped(dataset.train_samples),
                       grouped(dataset.test_samples), shape_text(dataset.input().dims),
                       dataset.target().kind == plan::LabelKind::values
                           ? count_text(dataset.target().classes, "value")
                           : count_text(dataset.target().classes, "class", "classes"));
}

std::string training_words(const compiler::TrainingSpec& spec) {
    const plan::Training& training = spec.training;
    return fmt::format("{}, learning rate {}, {}, batches of {}", training.optimizer,
                       training.learning_rate, count_text(training.epochs, "epoch"),
                       spec.global_batch_size > 0
                           ? fmt::format("{} of all ranks", spec.global_batch_size)
                           : fmt::format("{}", training.batch_size));
}

std::string machine_words(const plan::Machine& machine) {
    std::string text = count_text(machine.nodes, "node");
    if (machine.cores > 0) text += " of " + count_text(machine.cores, "core");
    if (machine.gpus.count > 0) text += ", " + count_text(machine.gpus.count, "GPU");
    if (machine.memory_bytes > 0)
        text += fmt::format(", {} of memory", bytes_text(double(machine.memory_bytes)));
    return text;
}

/// What was looked at, in a few words.
std::string checked_words(const CheckedSpec& checked, const std::optional<plan::Plan>& plan) {
    if (plan && checked.kind == SpecKind::job) return plan::plan_words(*plan, true);
    std::string text = checked.kind ? fmt::format("{}: ", plan::name_of(*checked.kind)) : ": ";
    if (plan) return text + plan::plan_words(*plan, false);
    if (checked.kind == SpecKind::dataset) return text + dataset_words(checked.dataset.dataset);
    if (checked.kind == SpecKind::training) return text + training_words(checked.training);
    if (checked.kind == SpecKind::machine) return text + machine_words(checked.machine.machine);
    return text + "its formula and the derivative";
}

struct CheckArguments {
    std::vector<std::string> specs, sweeps;
    bool quiet = false;
    CommonOptions common;
};

int check(const CheckArguments& given) {
    const CommonOptions& options = given.common;
    const compiler::LoadOptions load = load_options(options);
    Diagnostics all;
    std::string well;
    for (const std::string& spec : given.specs) {
        // Every spec is judged by itself; what two of them share and break is said once.
        Diagnostics own;
        const CheckedSpec checked = check_spec(spec, load, own);
        settle_warnings(options, own);
        std::optional<plan::Plan> plan;
        if (!own.has_errors() && (checked.kind == SpecKind::job || checked.kind == SpecKind::model))
            plan = plan_of(spec, options, own);
        settle_warnings(options, own);
        all.merge(own);
        if (own.has_errors()) continue;
        const auto warnings = std::int64_t(own.all().size());
        well += fmt::format(
            "{}: ok{}: {}\n", spec,
            warnings > 0 ? fmt::format(", with {}", count_text(warnings, "warning")) : "",
            checked_words(checked, plan));
    }
    const int exit_code = print_diagnostics(all, options);
    if (!given.quiet && options.format != Format::json) write_stdout(well);
    return exit_code;
}

std::function<int()> declare_check(OptionList& list) {
    auto given = std::make_shared<CheckArguments>();
    list.arguments("SPEC", given->specs, "A spec of any kind: a file, or a name on the spec path");
    list.flag("-q,--quiet", given->quiet, "Says nothing of files in which all is well");
    declare_common(list, given->common);
    declare_lints(list, given->common);
    declare_sweep(list, given->sweeps);
    return [given] {
        if (!given->sweeps.empty())
            return check_sweep(given->specs, given->sweeps, given->quiet, given->common);
        return check(*given);
    };
}

const RegisteredCommand kCheckCommand(
    {.name = "check",
     .doc = "Finds every mistake in specs",
     .place = 10,
     .declare = declare_check,
     .purpose = Purpose::prepare,
     .exits = {{ExitCode::failed},
               {ExitCode::invalid_spec},
               {ExitCode::over_budget},
               {ExitCode::mismatch}},
     .examples = {{"dtnnc check job.yaml",
                   "every mistake in the job and in what it names, with file, line and column"},
                  {"dtnnc check --format json - < job.yaml",
                   "as an editor asks for what is not saved yet"}}});

}  // namespace

}  // namespace dtnn::tools
