#include "runtime/exec/step_problem.hpp"

#include <fmt/format.h>

#include "kernels/catalogue.hpp"

namespace dtnn::runtime {
namespace {

kernels::DType convert(plan::DType dtype) {
    switch (dtype) {
        case plan::DType::f32:
            return kernels::DType::f32;
        case plan::DType::f64:
            return kernels::DType::f64;
        case plan::DType::i32:
            return kernels::DType::i32;
        case plan::DType::i64:
            return kernels::DType::i64;
        case plan::DType::bf16:
            return kernels::DType::bf16;
        case plan::DType::fp16:
            return kernels::DType::fp16;
        case plan::DType::u8:
            break;
    }
    return kernels::DType::u8;
}

kernels::TensorDesc describe(const plan::Tensor& tensor) {
    return {convert(tensor.dtype), tensor.dims, tensor.order};
}

}  // namespace

kernels::Problem problem_of(const plan::Plan& plan, const plan::Program& program,
                            const plan::Step& step) {
    kernels::Problem problem;
    problem.op = step.op;
    problem.attributes = step.attributes;
    problem.threads = plan.target.threads;
    kernels::parse_isa(plan.target.isa, problem.isa);
    problem.strict = plan.target.numerics == plan::Numerics::strict;
    for (const int source : step.sources)
        problem.sources.push_back(describe(program.tensors[std::size_t(source)]));
    for (const int destination : step.destinations)
        problem.destinations.push_back(describe(program.tensors[std::size_t(destination)]));
    problem.set_dtype(convert(plan.target.dtype));
    return problem;
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
