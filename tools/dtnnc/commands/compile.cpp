#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "compiler/driver/target.hpp"
#include "compiler/passes/pass.hpp"
#include "plan/devices.hpp"
#include "plan/json/json.hpp"
#include "plan/rules/recomputed.hpp"
#include "plan/summary/summary.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/sweep/sweep_commands.hpp"

namespace dtnn::tools {

namespace {

/// Steps of a training step whose kernels were chosen by what they had been measured to take.
int measured_steps(const plan::Plan& plan) {
    const plan::Program* train = plan::find_program(plan, plan::ProgramKind::train);
    if (!train) return 0;
    return int(std::count_if(train->steps.begin(), train->steps.end(), [&](const auto& step) {
        return step.refusals >= 0 && plan.refusals[std::size_t(step.refusals)].seconds > 0;
    }));
}

int compile(const std::string& spec, const std::string& output, const CompileCommand& command,
            const CommonOptions& options) {
    if (output == "-" && !command.emit.empty())
        throw UsageError("--emit and -o - both want standard output; give the plan a file");
    compiler::Diagnostics diagnostics;
    std::optional<plan::Plan> plan = compile_spec(spec, command, options, diagnostics);
    int exit_code = print_diagnostics(diagnostics, options);
    if (!plan) return exit_code;
    if (output == "-") {
        write_stdout(plan::to_json(*plan));
        return 0;
    }
    std::string path = output.empty() ? plan->name + ".plan.json" : output;
    if (output.empty()) refuse_link(path);
    write_file(path, [&](const std::function<void(std::string_view)>& sink) {
        plan::JsonChecksum checksum = plan::write_json(*plan, sink);
        return FilePatch{checksum.offset, std::move(checksum.digits)};
    });
    std::int64_t parameters = 0;
    for (const plan::Layer& layer : plan->layers)
        parameters += layer.parameters;
    const int measured = measured_steps(*plan);
    tell_written(
        path,
        fmt::format("{} parameters, arena {}, {} kernels per training step{}", grouped(parameters),
                    bytes_text(plan->memory.arena), plan::work_of(*plan).train_steps,
                    measured == 0 ? "" : fmt::format(", {} by measured times", measured)));
    if (const plan::Recomputed again = plan::recomputed(*plan); again.steps > 0)
        write_stderr(fmt::format("fits the memory budget by recomputing {} in backward\n",
                                 plan::recomputed_text(again)));
    return 0;
}

/// The names of the passes that may be left out, or of all.
std::vector<std::string> pass_names(bool optional) {
    std::vector<std::string> names;
    if (!optional) names.emplace_back("forward");
    for (const compiler::PassInfo& pass : compiler::all_passes())
        if (pass.optional || !optional) names.emplace_back(pass.name);
    return names;
}

struct CompileArguments {
    std::string spec, output;
    std::vector<std::string> sweeps;
    CompileCommand command;
    CommonOptions common;
};

int compile_as_given(const CompileArguments& given) {
    if (!given.sweeps.empty())
        return compile_sweep(given.spec, given.output, given.sweeps, given.command, given.common);
    return compile(given.spec, given.output, given.command, given.common);
}

std::function<int()> declare_compile(OptionList& list) {
    auto given = std::make_shared<CompileArguments>();
    list.argument("SPEC", given->spec, "The job, or a model alone");
    declare_common(list, given->common);
    declare_lints(list, given->common);
    given->command.every_fold = true;
    compiler::CompileOptions& options = given->command.options;
    list.text("-o,--output", given->output,
              "File of the plan, - for standard output; default NAME.plan.json; with --sweep, or "
              "k_folds in the training, the folder of the plans, default NAME-sweep",
              {.value = "FILE"});
    list.text("--target", options.device,
              fmt::format("Device: {}", fmt::join(plan::device_names(), " or ")),
              {.shows_default = true, .value = "DEVICE", .offers = plan::device_names()});
    list.text("--isa", options.isa,
              fmt::format("Instruction set: {}; default this machine's best",
                          fmt::join(compiler::isa_names(), ", ")),
              {.value = "ISA", .offers = compiler::isa_names()});
    list.number("--threads", options.threads,
                "Most threads of a run; default the job's, else this machine's cores",
                {.lowest = 1, .highest = 4096});
    list.text("--memory-budget", given->command.memory_budget,
              "Most memory per rank, as in 4GiB: backward recomputes what has no room; exit code 4 "
              "when the plan needs more even so",
              {.value = "SIZE"});
    list.list("--disable", options.disabled_passes, "Leaves an optional pass out",
              {.value = "PASS", .offers = pass_names(true)});
    list.flag("--reference-kernels", options.reference_kernels,
              "Chooses the reference kernels only");
    declare_tuning(list, given->command);
    list.list("--emit", given->command.emit,
              "Prints the graph after a phase, or of one program: PHASE:PROGRAM",
              {.value = "PHASE", .offers = pass_names(false)});
    declare_sweep(list, given->sweeps);
    return [given, &list] {
        if (list.has("--memory-budget") && given->command.memory_budget.empty())
            throw UsageError(
                "--memory-budget is empty\nhelp: leave it out, or write a size, as in 4GiB");
        try {
            return compile_as_given(*given);
        } catch (const FoldsWanted& wanted) {
            // A plan for each fold; of other settings that are swept, of each combination.
            std::string folds;
            for (std::int64_t fold = 1; fold <= wanted.folds; ++fold)
                folds += fmt::format("{}{}", fold == 1 ? "training.fold=" : ",", fold);
            given->sweeps.push_back(folds);
            return compile_as_given(*given);
        }
    };
}

const RegisteredCommand kCompileCommand(
    {.name = "compile",
     .doc = "Writes the plan of a job",
     .place = 20,
     .declare = declare_compile,
     .purpose = Purpose::prepare,
     .exits = {{ExitCode::failed},
               {ExitCode::invalid_spec},
               {ExitCode::over_budget},
               {ExitCode::mismatch}},
     .examples = {{"dtnnc compile job.yaml -o plan.json", "the plan, for `dtnn-run plan.json`"},
                  {"dtnnc compile job.yaml --set training.epochs=1 -o - | dtnnc summary -",
                   "a plan that is only looked at"},
                  {"dtnnc compile job.yaml --sweep training.batch_size=32,64 -o wide",
                   "a folder with a plan for each value"}}});

}  // namespace

}  // namespace dtnn::tools
