#include "compiler/driver/target.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "kernels/catalogue.hpp"
#include "plan/devices.hpp"

namespace dtnn::compiler {

namespace {

int usable_cores() {
    cpu_set_t cores;
    if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
    return std::max(1, int(std::thread::hardware_concurrency()));
}

int decide_threads(const JobSpec& job, const CompileOptions& options) {
    const plan::Machine& machine = job.machine.machine;
    if (options.threads > 0) return options.threads;
    if (job.threads > 0) return job.threads;
    if (machine.cores > 0) return std::max(1, machine.cores / ranks_per_node(machine, job.ranks));
    return options.usual_threads > 0 ? options.usual_threads : usable_cores();
}

}  // namespace

bool is_isa(const std::string& name) {
    kernels::Isa isa{};
    return kernels::parse_name(name, isa);
}

std::vector<std::string> isa_names() {
    std::vector<std::string> names;
    for (int isa = 0; isa <= int(kernels::Isa::amx); ++isa)
        names.emplace_back(kernels::name_of(kernels::Isa(isa)));
    return names;
}

plan::Target decide_target(const JobSpec& job, const CompileOptions& options) {
    plan::Target target;
    target.device = options.device;
    target.dtype = job.training.dtype;
    target.compute = job.training.compute;
    target.numerics = job.training.numerics;
    if (!plan::traits_of(target.device).instruction_sets) {
        // The work on the host, data and exchanges, has no instruction set of its own.
        target.isa = kernels::name_of(kernels::Isa::baseline);
        target.threads = 1;
        target.data_workers = job.data_workers;
        target.pin_threads = job.pin_threads;
        target.ranks = job.ranks;
        return target;
    }
    target.isa = !options.isa.empty()               ? options.isa
                 : !job.machine.machine.isa.empty() ? job.machine.machine.isa
                 : !options.usual_isa.empty()       ? options.usual_isa
                                              : std::string(kernels::name_of(kernels::host_isa()));
    // A plan asks for no more than it uses. Instructions for bfloat16 take subnormal numbers for 0.
    const bool of_bf16 =
        target.compute == plan::Compute::bf16_products && target.numerics == plan::Numerics::fast;
    kernels::Isa isa{};
    if (!of_bf16 && kernels::parse_name(target.isa, isa))
        target.isa = kernels::name_of(kernels::vectors_of(isa));
    target.threads = decide_threads(job, options);
    target.data_workers = job.data_workers;
    target.pin_threads = job.pin_threads;
    target.ranks = job.ranks;
    return target;
}

}  // namespace dtnn::compiler
