#include "runtime/exec/executor.hpp"

#include <fmt/format.h>

#include <utility>

#include "kernels/dispatch.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/exec/step_problem.hpp"

namespace dtnn::runtime {
namespace {

int find_tensor(const std::vector<plan::Output>& list, const std::string& name) {
    for (const plan::Output& item : list) {
        if (item.name == name) return item.tensor;
    }
    return -1;
}

}  // namespace

BoundProgram::BoundProgram(const plan::Plan& plan, const plan::Program& program, std::byte* arena)
    : plan_(&plan), program_(&program), arena_(arena) {
    int number = 0;
    const auto bind_list = [&](const std::vector<plan::Step>& list,
                               std::vector<std::unique_ptr<kernels::BoundKernel>>& bound) {
        bound.reserve(list.size());
        for (const plan::Step& step : list) {
            std::vector<const void*> sources;
            std::vector<void*> destinations;
            for (const int source : step.sources)
                sources.push_back(address(source));
            for (const int destination : step.destinations)
                destinations.push_back(address(destination));
            std::span<std::byte> workspace;
            if (step.workspace >= 0) {
                const plan::Buffer& buffer = plan.buffers[std::size_t(step.workspace)];
                workspace = {arena + buffer.offset, std::size_t(buffer.bytes)};
            }
            const kernels::KernelInfo* kernel = kernels::find_kernel(step.op, step.kernel);
            if (kernel != nullptr) {
                bound.push_back(kernels::bind(*kernel, problem_of(plan, program, step), sources,
                                              destinations, workspace));
            }
            if (kernel == nullptr || bound.back() == nullptr) {
                throw RunError(Exit::mismatch,
                               fmt::format("{}: the kernel `{}` is not built into this program",
                                           describe_step(plan, program, number, step), step.kernel),
                               "compile the job again with the dtnnc of this version");
            }
            ++number;
        }
    };
    bind_list(program.prologue, prologue_);
    bind_list(program.steps, steps_);
}

BoundProgram::~BoundProgram() = default;
BoundProgram::BoundProgram(BoundProgram&&) noexcept = default;
BoundProgram& BoundProgram::operator=(BoundProgram&&) noexcept = default;

std::byte* BoundProgram::address(int index) const {
    const plan::Tensor& tensor = program_->tensors[std::size_t(index)];
    return arena_ + plan_->buffers[std::size_t(tensor.buffer)].offset + tensor.offset;
}

int BoundProgram::input_tensor(const std::string& name) const {
    return find_tensor(program_->inputs, name);
}

void* BoundProgram::input(const std::string& name) const {
    const int tensor = input_tensor(name);
    return tensor < 0 ? nullptr : address(tensor);
}

const void* BoundProgram::output(const std::string& name) const {
    const int tensor = find_tensor(program_->outputs, name);
    return tensor < 0 ? nullptr : address(tensor);
}

void BoundProgram::run_observed(kernels::ThreadTeam& team, const std::vector<plan::Step>& steps,
                                std::span<const std::unique_ptr<kernels::BoundKernel>> bound) {
    for (std::size_t i = 0; i < bound.size(); ++i) {
        observer_->begin(*program_, steps[i]);
        bound[i]->run(team);
        observer_->end(*program_, steps[i]);
    }
}

void BoundProgram::run_prologue(kernels::ThreadTeam& team) {
    if (observer_ != nullptr) return run_observed(team, program_->prologue, prologue_);
    for (const auto& step : prologue_)
        step->run(team);
}

void BoundProgram::run(kernels::ThreadTeam& team) {
    if (observer_ != nullptr) return run_observed(team, program_->steps, steps_);
    for (const auto& step : steps_)
        step->run(team);
}

void BoundProgram::run_timed(kernels::ThreadTeam& team, std::span<double> seconds) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Stopwatch watch;
        steps_[i]->run(team);
        seconds[i] += watch.seconds();
    }
}

Executor::Executor(const plan::Plan& plan, int threads)
    : plan_(&plan),
      arena_(plan.memory.arena, "the plan's arena"),
      team_(threads),
      programs_(plan.programs.size()) {}

BoundProgram* Executor::find(const std::string& kind, std::int64_t batch) {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
        const plan::Program& program = plan_->programs[i];
        if (program.batch != batch) continue;
        if (program.name != kind && !program.name.starts_with(kind + "_")) continue;
        if (!programs_[i]) {
            programs_[i] = std::make_unique<BoundProgram>(*plan_, program, arena_.data());
            programs_[i]->observe(observer_);
        }
        return programs_[i].get();
    }
    return nullptr;
}

void Executor::observe(StepObserver* observer) {
    observer_ = observer;
    for (const auto& program : programs_) {
        if (program) program->observe(observer);
    }
}

std::byte* Executor::parameter(std::size_t index) const {
    return arena_.data() + plan_->buffers[std::size_t(plan_->parameters[index].buffer)].offset;
}

}  // namespace dtnn::runtime
