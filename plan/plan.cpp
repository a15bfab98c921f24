#include "plan/plan.hpp"

#include "plan/devices.hpp"

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
    return traits_of(target.device).instruction_sets ? target.device + " " + target.isa
                                                     : target.device;
}

bool has_own_memory(const Target& target) {
    return traits_of(target.device).own_memory;
}

void label_places(const Feature& input, Feature& target) {
    target.dims = input.dims;
    target.axes = input.axes;
    const int features = feature_axis(input.axes);
    if (features < 0) return;
    target.dims.erase(target.dims.begin() + features);
    target.axes.erase(target.axes.begin() + features);
}

bool has_image(const Dataset& dataset) {
    return dataset.input().kind == LabelKind::values && dataset.input().axes == image_axes();
}

const Feature& input_of(const Dataset& dataset, std::string_view name) {
    for (const Feature& input : dataset.inputs)
        if (!name.empty() && input.name == name) return input;
    return dataset.input();
}

const Input* find_input(const Program& program, InputRole role, int index) {
    for (const Input& input : program.inputs)
        if (input.role == role && input.index == index) return &input;
    return nullptr;
}

std::int64_t steps_at_once(const Program& program) {
    const Input* input = find_input(program, InputRole::feature);
    if (input == nullptr) return 0;
    const Dims& dims = program.tensors[std::size_t(input->tensor)].dims;
    return dims.size() < 2 ? 0 : dims[1];
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
