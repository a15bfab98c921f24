#include "runtime/exec/step_problem.hpp"

#include <fmt/format.h>

#include "kernels/catalogue.hpp"

namespace dtnn::runtime {

kernels::ProblemTarget problem_target(const plan::Target& target) {
    kernels::Isa isa = kernels::Isa::baseline;
    kernels::parse_name(target.isa, isa);
    return {target.dtype, target.threads, isa, target.numerics == plan::Numerics::strict};
}

kernels::Problem problem_of(const plan::Plan& plan, const plan::Program& program,
                            const plan::Step& step) {
    const auto types = [&](const std::vector<int>& operands) {
        std::vector<TensorType> found;
        found.reserve(operands.size());
        for (const int operand : operands)
            found.push_back(program.tensors[std::size_t(operand)]);
        return found;
    };
    return kernels::problem_of(step.op, step.attributes, types(step.sources),
                               types(step.destinations), problem_target(plan.target));
}

std::string describe_step(const plan::Plan& plan, const plan::Program& program, int number,
                          const plan::Step& step) {
    std::string text =
        fmt::format("program `{}`, step {} `{}` ({}", program.name, number, step.name, step.op);
    if (step.layer >= 0) {
        text += fmt::format(" of layer `{}`", plan.layers[std::size_t(step.layer)].name);
    }
    if (!step.place.file.empty()) text += fmt::format(", {}:{}", step.place.file, step.place.line);
    return text + ")";
}

}  // namespace dtnn::runtime
