#include "compiler/tuning/kernel_choice.hpp"

namespace dtnn::compiler {

const TuningEntry* KernelWishes::measured_of(const kernels::Problem& problem) const {
    if (!tuning || reference_only) return nullptr;
    return tuning->find(problem_key(problem), processor, std::string(kernels::revision()));
}

const kernels::KernelInfo* usual_kernel(const kernels::Problem& problem, std::string_view device) {
    for (const kernels::KernelInfo& kernel : kernels::kernels_of(problem.op, device))
        if (!kernels::refusal(kernel, problem) && !kernels::expected_slower(kernel, problem))
            return &kernel;
    return nullptr;
}

std::vector<const kernels::KernelInfo*> measurable_kernels(const kernels::Problem& problem) {
    std::vector<const kernels::KernelInfo*> able;
    for (const kernels::KernelInfo& kernel : kernels::kernels_of(problem.op)) {
        if (kernels::refusal(kernel, problem)) continue;
        if (kernels::reads_terms(kernel, problem)) return {};
        if (kernel.name != kernels::kReference) able.push_back(&kernel);
    }
    return able;
}

const kernels::KernelInfo* choose_measured(const TuningEntry& measured,
                                           std::span<const kernels::KernelInfo* const> able,
                                           const kernels::KernelInfo* usual) {
    const KernelTime* own = usual ? measured.find(usual->name) : nullptr;
    if (!own) return usual;
    const kernels::KernelInfo* best = usual;
    const KernelTime* least = own;
    for (const kernels::KernelInfo* kernel : able) {
        const KernelTime* time = measured.find(kernel->name);
        if (!time || time->median >= least->median) continue;
        best = kernel;
        least = time;
    }
    const bool gains = least->median * (1 + kLeastGain) <= own->median && least->high < own->low;
    return gains ? best : usual;
}

}  // namespace dtnn::compiler
