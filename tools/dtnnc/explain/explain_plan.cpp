#include "tools/dtnnc/explain/explain_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/json_text.hpp"
#include "base/quantity_text.hpp"
#include "compiler/ops/emit.hpp"
#include "plan/devices.hpp"
#include "plan/forecast/rates.hpp"

namespace dtnn::tools {
namespace {

constexpr int kVersion = 1;

/// Steps of one operator that have the same kernel for the same reasons.
struct Choice {
    const plan::Step* first = nullptr;
    std::string program;
    int steps = 0;
};

bool holds(const plan::Plan& plan, const plan::Step& step, const std::string& word) {
    const auto in = [&](const std::string& name) { return name.find(word) != std::string::npos; };
    return in(step.name) || in(step.op) || in(step.kernel) ||
           (step.layer >= 0 && in(plan.layers[std::size_t(step.layer)].name));
}

std::vector<Choice> choices_of(const plan::Plan& plan, const std::string& word) {
    std::vector<Choice> choices;
    std::map<std::tuple<std::string, std::string, int>, std::size_t> known;
    for (const plan::Program& program : plan.programs)
        for (const auto* list : {&program.prologue, &program.steps})
            for (const plan::Step& step : *list) {
                if (!holds(plan, step, word)) continue;
                const auto [found, fresh] =
                    known.try_emplace({step.op, step.kernel, step.refusals}, choices.size());
                if (fresh) choices.push_back({&step, program.name, 0});
                ++choices[found->second].steps;
            }
    return choices;
}

const plan::Refusals* refusals_of(const plan::Plan& plan, const Choice& choice) {
    const int index = choice.first->refusals;
    return index < 0 ? nullptr : &plan.refusals[std::size_t(index)];
}

std::string time_text(double seconds) {
    return seconds > 0 ? seconds_text(seconds, TimeForm::fine) : "";
}

}  // namespace

std::string precision_advice(const plan::Plan& plan) {
    constexpr double kWorthwhile = 0.95;
    const plan::Machine& machine = plan.machine;
    const auto program =
        std::find_if(plan.programs.begin(), plan.programs.end(),
                     [](const plan::Program& one) { return one.kind == plan::ProgramKind::train; });
    if (!plan::traits_of(plan.target.device).does(plan::Compute::bf16_products) ||
        plan.target.dtype != DType::f32 || plan.target.compute != plan::Compute::full ||
        program == plan.programs.end() ||
        !machine.kernels.contains(plan::name_of(plan::KernelClass::bf16_products)) ||
        plan::missing_rates(machine, plan.target))
        return {};
    const plan::RankRates rates(machine, plan.target.threads, 1, plan.target.dtype);
    double as_it_is = 0, rounded = 0;
    for (const plan::Step& step : program->steps) {
        const double seconds = rates.step_seconds(*program, step, 1);
        as_it_is += seconds;
        rounded += seconds;
        const compiler::OpDef* def = compiler::find_op(step.op);
        if (def == nullptr || !def->multiplies) continue;
        const std::vector<int>& tensors = def->weights->result ? step.destinations : step.sources;
        const auto weights = std::size_t(tensors[def->weights->index]);
        if (!compiler::has_wide_factors(*def, program->tensors[weights].dims, step.attributes))
            continue;
        plan::Step other = step;
        other.kernel_class = plan::KernelClass::bf16_products;
        rounded += rates.step_seconds(*program, other, 1) - seconds;
    }
    if (rounded > kWorthwhile * as_it_is) return {};
    return fmt::format(
        "With `compute: bf16_products` a training step would take {:.2f} of its time, by the rates "
        "measured on `{}`. It is other mathematics: `dtnnc explain training.compute`\n",
        rounded / as_it_is, machine.name);
}

std::string explain_plan_text(const plan::Plan& plan, const std::string& word) {
    std::string text;
    for (const Choice& choice : choices_of(plan, word)) {
        const plan::Refusals* refusals = refusals_of(plan, choice);
        text += fmt::format("{}{}: `{}` of {}", text.empty() ? "" : "\n", choice.program,
                            choice.first->kernel, choice.first->name);
        if (choice.steps > 1) text += fmt::format(" and {} alike", choice.steps - 1);
        if (refusals && refusals->seconds > 0)
            text += fmt::format("; measured: {}", time_text(refusals->seconds));
        text += "\n";
        if (!refusals) continue;
        std::size_t widest = 0;
        for (const plan::Refusal& other : refusals->kernels)
            widest = std::max(widest, other.kernel.size());
        for (const plan::Refusal& other : refusals->kernels)
            text += fmt::format("    {:<{}}  {:>12}  {}\n", other.kernel, widest,
                                time_text(other.seconds), other.reason);
    }
    return text;
}

std::string explain_plan_json(const plan::Plan& plan, const std::string& word) {
    std::string text = fmt::format("{{\"version\":{},\"choices\":[", kVersion);
    const char* separator = "";
    const auto seconds = [](double value) { return value > 0 ? json_text(value) : "null"; };
    for (const Choice& choice : choices_of(plan, word)) {
        const plan::Refusals* refusals = refusals_of(plan, choice);
        text += fmt::format(
            "{}{{\"program\":{},\"step\":{},\"steps\":{},\"operator\":{},\"kernel\":{},"
            "\"seconds\":{},\"others\":[",
            separator, json_text(choice.program), json_text(choice.first->name), choice.steps,
            json_text(choice.first->op), json_text(choice.first->kernel),
            seconds(refusals ? refusals->seconds : 0));
        separator = ",";
        const char* comma = "";
        for (const plan::Refusal& other :
             refusals ? refusals->kernels : std::vector<plan::Refusal>()) {
            text += fmt::format("{}{{\"kernel\":{},\"seconds\":{},\"reason\":{}}}", comma,
                                json_text(other.kernel), seconds(other.seconds),
                                json_text(other.reason));
            comma = ",";
        }
        text += "]}";
    }
    return text + "]}\n";
}

}  // namespace dtnn::tools
