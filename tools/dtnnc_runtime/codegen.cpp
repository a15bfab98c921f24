#include "tools/dtnnc_runtime/codegen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "kernels/catalogue.hpp"
#include "plan/enums.hpp"
#include "runtime/device/generated_code.hpp"
#include "runtime/exec/step_problem.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {

namespace {

constexpr std::size_t kMostSteps = 4;  // named for a loop

/// A loop of the plan and the steps that run it, in the plan's order.
struct LoopOfSteps {
    kernels::Loop loop;
    std::string expression;
    std::vector<std::string> steps;
};

std::vector<LoopOfSteps> loops_of(const plan::Plan& plan, const std::string& wanted) {
    std::vector<LoopOfSteps> loops;
    std::map<std::string, std::size_t> known;
    for (const plan::Program& program : plan.programs) {
        int number = 0;
        for (const auto* list : {&program.prologue, &program.steps})
            for (const plan::Step& step : *list) {
                const kernels::KernelInfo* kernel =
                    kernels::find_kernel(step.op, step.kernel, plan.target.device);
                const int own = number++;
                if (kernel == nullptr || (!wanted.empty() && step.name != wanted)) continue;
                const kernels::Problem problem = runtime::problem_of(plan, program, step);
                if (!kernels::reads_terms(*kernel, problem)) continue;
                const auto loop = runtime::loop_of(problem);
                if (!loop) continue;
                const auto [place, added] = known.emplace(
                    kernels::text_of(*loop) + problem.text("expression"), loops.size());
                if (added) loops.push_back({*loop, problem.text("expression"), {}});
                loops[place->second].steps.push_back(
                    runtime::describe_step(plan, program, own, step));
            }
    }
    return loops;
}

/// What can be printed of a loop, and who makes it.
struct Emission {
    std::string_view name, device, comment;
    kernels::CodeForm form;
    const kernels::Generator* (*open)(std::string& lacking);
    std::string_view help;  ///< where there is no generator
};

constexpr std::string_view kInstallLlvm =
    "install LLVM (Debian: llvm-19-dev) and build again; plans run without it, and interpret their "
    "expressions";
constexpr std::string_view kInstallCuda = "install NVIDIA's CUDA toolkit, which has NVRTC";

constexpr Emission kEmissions[] = {
    {"llvm", "cpu", ";", kernels::CodeForm::source, runtime::open_generator, kInstallLlvm},
    {"asm", "cpu", "#", kernels::CodeForm::assembly, runtime::open_generator, kInstallLlvm},
    {"c", "cpu", "//", kernels::CodeForm::source,
     [](std::string&) { return &runtime::c_generator(); }, ""},
    {"ptx", "cuda", "//", kernels::CodeForm::assembly, runtime::cuda_generator, kInstallCuda},
    {"cuda", "cuda", "//", kernels::CodeForm::source, runtime::cuda_generator, kInstallCuda},
};

}  // namespace

int codegen(const CodegenCommand& command) {
    const plan::Plan plan = load_plan(command.plan);
    // The first of a device is what suits it.
    const Emission& emission =
        *std::find_if(std::begin(kEmissions), std::end(kEmissions), [&](const Emission& one) {
            return command.emit.empty() ? one.device == plan.target.device
                                        : one.name == command.emit;
        });
    if (plan.target.device != emission.device)
        throw UsageError(fmt::format("{} is for {}, and --emit {} is for {}", command.plan,
                                     plan.target.device, emission.name, emission.device));
    const std::vector<LoopOfSteps> loops = loops_of(plan, command.step);
    if (loops.empty() && !command.step.empty())
        throw UsageError(fmt::format("{} has no step `{}` that code is generated for", command.plan,
                                     command.step));
    std::string lacking;
    const kernels::Generator* const generator = emission.open(lacking);
    if (generator == nullptr) {
        write_stderr(fmt::format("dtnnc: {}\nhelp: {}\n", lacking, emission.help));
        return 1;
    }
    const std::string_view comment = emission.comment;
    std::string text = fmt::format("{} {} loops by {}\n", comment, loops.size(), generator->name());
    for (const LoopOfSteps& one : loops) {
        text += fmt::format("\n{} {}\n", comment, one.expression);
        for (std::size_t i = 0; i < std::min(kMostSteps, one.steps.size()); ++i)
            text += fmt::format("{} {}\n", comment, one.steps[i]);
        if (one.steps.size() > kMostSteps)
            text += fmt::format("{} and {} more\n", comment, one.steps.size() - kMostSteps);
        text += generator->generate(one.loop, emission.form);
    }
    write_stdout(text);
    return 0;
}

}  // namespace dtnn::tools
