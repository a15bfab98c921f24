#include "tools/dtnnc_runtime/codegen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "kernels/catalogue.hpp"
#include "plan/devices.hpp"
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

}  // namespace

int codegen(const CodegenCommand& command) {
    const plan::Plan plan = load_plan(command.plan);
    if (!plan::traits_of(plan.target.device).instruction_sets)
        throw UsageError(
            fmt::format("{} is for {}, whose kernels interpret expressions: code is generated for "
                        "the cpu alone",
                        command.plan, plan.target.device));
    const std::vector<LoopOfSteps> loops = loops_of(plan, command.step);
    if (loops.empty() && !command.step.empty())
        throw UsageError(fmt::format("{} has no step `{}` that code is generated for", command.plan,
                                     command.step));
    std::string lacking;
    const kernels::Generator* const generator = runtime::open_generator(lacking);
    if (generator == nullptr) {
        write_stderr(
            fmt::format("dtnnc: {}\nhelp: install LLVM (Debian: llvm-19-dev) and build again; "
                        "plans run without it, and interpret their expressions\n",
                        lacking));
        return 1;
    }
    // Each language has its own sign of a comment.
    const std::string_view comment = command.assembly ? "#" : ";";
    std::string text = fmt::format("{} {} loops by {}\n", comment, loops.size(), generator->name());
    for (const LoopOfSteps& one : loops) {
        text += fmt::format("\n{} {}\n", comment, one.expression);
        for (std::size_t i = 0; i < std::min(kMostSteps, one.steps.size()); ++i)
            text += fmt::format("{} {}\n", comment, one.steps[i]);
        if (one.steps.size() > kMostSteps)
            text += fmt::format("{} and {} more\n", comment, one.steps.size() - kMostSteps);
        text += generator->generate(
            one.loop, command.assembly ? kernels::CodeForm::assembly : kernels::CodeForm::source);
    }
    write_stdout(text);
    return 0;
}

}  // namespace dtnn::tools
