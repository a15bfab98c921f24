#include "plan/plan.hpp"

#include <limits>

namespace dtnn::plan {

Plan::Plan() = default;
Plan::Plan(const Plan&) = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(const Plan&) = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

std::string numbers_of(const Target& target) {
    std::string dtype = name_of(target.dtype);
    switch (target.compute) {
        case Compute::full:
            return dtype;
        case Compute::tf32:
            return dtype + ", products in tf32";
        case Compute::bf16_products:
            return dtype + ", products in bf16";
        case Compute::bf16:
        case Compute::fp16:
            break;
    }
    return dtype + ", values in " + name_of(target.compute);
}

std::string processor_of(const Target& target) {
    return target.device == "cpu" ? "cpu " + target.isa : target.device;
}

bool has_own_memory(const Target& target) {
    return target.device != "cpu";
}

// Saturates instead of overflowing, so that a hostile plan's extents cannot wrap round to something
// small.
std::int64_t element_count(const Dims& dims) {
    std::int64_t count = 1;
    for (std::int64_t extent : dims)
        if (__builtin_mul_overflow(count, extent, &count))
            return std::numeric_limits<std::int64_t>::max();
    return count;
}

std::int64_t size_of(DType dtype) {
    switch (dtype) {
        case DType::f32:
        case DType::i32:
            return 4;
        case DType::f64:
        case DType::i64:
            return 8;
        case DType::bf16:
        case DType::fp16:
            return 2;
        case DType::u8:
            return 1;
    }
    return 0;
}

const Input* find_input(const Program& program, InputRole role, int index) {
    for (const Input& input : program.inputs)
        if (input.role == role && input.index == index) return &input;
    return nullptr;
}

const Program* find_program(const Plan& plan, ProgramKind kind) {
    for (const Program& program : plan.programs)
        if (program.kind == kind) return &program;
    return nullptr;
}

const Program* find_program(const Plan& plan, const std::string& name) {
    for (const Program& program : plan.programs)
        if (program.name == name) return &program;
    return nullptr;
}

}  // namespace dtnn::plan
