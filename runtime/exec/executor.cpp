#include "runtime/exec/executor.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <variant>

#include "kernels/catalogue.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/exec/collectives.hpp"
#include "runtime/exec/step_problem.hpp"

namespace dtnn::runtime {
namespace {

int find_tensor(const std::vector<plan::Output>& list, const std::string& name) {
    for (const plan::Output& item : list) {
        if (item.name == name) return item.tensor;
    }
    return -1;
}

/// Where a tensor begins; this rank's part of a tensor by rank.
std::byte* address_of(std::byte* arena, const plan::Buffer& buffer, const plan::Tensor& tensor,
                      const Communicator* communicator) {
    std::byte* const first = arena + buffer.offset + tensor.offset;
    if (!tensor.by_rank || communicator == nullptr) return first;
    return first + std::int64_t{communicator->rank()} * plan::element_count(tensor.dims) *
                       plan::size_of(tensor.dtype);
}

}  // namespace

BoundProgram::BoundProgram(const plan::Plan& plan, const plan::Program& program, Device& device,
                           std::byte* arena, Communicator* communicator)
    : plan_(&plan),
      program_(&program),
      device_(&device),
      arena_(arena),
      communicator_(communicator) {
    bind_exchanges();
    int number = 0;
    const auto bind_list = [&](const std::vector<plan::Step>& list, std::vector<BoundStep>& bound) {
        bound.reserve(list.size());
        for (const plan::Step& step : list) {
            BoundStep& made = bound.emplace_back();
            if (!plan::is_collective(step.op)) {
                made.kernel = bind_kernel(number, step);
            } else {
                const auto which = std::get<std::int64_t>(step.attributes.at("collective"));
                if (!exchanges_.empty()) made.exchange = exchanges_[std::size_t(which)].get();
                const plan::Collective& collective = program.collectives[std::size_t(which)];
                made.starts = collective.start == int(&step - &list[0]);
                std::byte* const stretch = stretch_of(collective);
                for (const Gap& gap : gaps_of(program, collective))
                    made.cleared.emplace_back(stretch + gap.offset, std::size_t(gap.bytes));
            }
            ++number;
        }
    };
    bind_list(program.prologue, prologue_);
    bind_list(program.steps, steps_);
    inputs_ = mirrors_of(program.inputs);
    outputs_ = mirrors_of(program.outputs);
}

std::vector<BoundProgram::Mirror> BoundProgram::mirrors_of(
    const std::vector<plan::Output>& list) const {
    std::vector<Mirror> mirrors;
    if (device_->is_host()) return mirrors;
    for (const plan::Output& item : list) {
        const plan::Tensor& tensor = program_->tensors[std::size_t(item.tensor)];
        const auto bytes =
            std::size_t(plan::element_count(tensor.dims) * plan::size_of(tensor.dtype));
        mirrors.push_back(
            {item.tensor, {address(item.tensor), bytes}, std::make_unique<std::byte[]>(bytes)});
    }
    return mirrors;
}

std::byte* BoundProgram::host_address(const std::vector<Mirror>& mirrors, int tensor) const {
    for (const Mirror& mirror : mirrors)
        if (mirror.tensor == tensor) return mirror.host.get();
    return address(tensor);
}

void BoundProgram::write_inputs() {
    for (const Mirror& input : inputs_)
        device_->write(input.memory.data(), {input.host.get(), input.memory.size()});
}

void BoundProgram::read_outputs() {
    for (const Mirror& output : outputs_)
        device_->read({output.host.get(), output.memory.size()}, output.memory.data());
}

/// Named as in the plan: in one step ranks may run programs for batches of several sizes, whose
/// exchanges are the same.
void BoundProgram::bind_exchanges() {
    if (communicator_ == nullptr || communicator_->ranks() == 1) return;
    for (const plan::Collective& collective : program_->collectives)
        exchanges_.push_back(bind_exchange(*communicator_, *plan_, collective, arena_));
}

std::byte* BoundProgram::stretch_of(const plan::Collective& collective) const {
    return arena_ + plan_->buffers[std::size_t(collective.buffer)].offset + collective.offset;
}

std::unique_ptr<DeviceStep> BoundProgram::bind_kernel(int number, const plan::Step& step) const {
    std::vector<const void*> sources;
    std::vector<void*> destinations;
    for (const int source : step.sources)
        sources.push_back(address(source));
    for (const int destination : step.destinations)
        destinations.push_back(address(destination));
    std::span<std::byte> workspace;
    if (step.workspace >= 0) {
        const plan::Buffer& buffer = plan_->buffers[std::size_t(step.workspace)];
        workspace = {arena_ + buffer.offset, std::size_t(buffer.bytes)};
    }
    std::unique_ptr<DeviceStep> bound;
    if (const kernels::KernelInfo* kernel =
            kernels::find_kernel(step.op, step.kernel, device_->name())) {
        try {
            bound = device_->bind(*kernel, problem_of(*plan_, *program_, step), sources,
                                  destinations, workspace);
        } catch (const kernels::MissingAttribute& missing) {
            throw RunError(Exit::mismatch,
                           fmt::format("{}: {}", describe_step(*plan_, *program_, number, step),
                                       missing.what()),
                           "compile the job again with the dtnnc of this version");
        }
    }
    if (bound == nullptr) {
        throw RunError(Exit::mismatch,
                       fmt::format("{}: the kernel `{}` is not built into this program",
                                   describe_step(*plan_, *program_, number, step), step.kernel),
                       "compile the job again with the dtnnc of this version");
    }
    return bound;
}

BoundProgram::~BoundProgram() = default;
BoundProgram::BoundProgram(BoundProgram&&) noexcept = default;
BoundProgram& BoundProgram::operator=(BoundProgram&&) noexcept = default;

std::byte* BoundProgram::address(int index) const {
    const plan::Tensor& tensor = program_->tensors[std::size_t(index)];
    return address_of(arena_, plan_->buffers[std::size_t(tensor.buffer)], tensor, communicator_);
}

int BoundProgram::input_tensor(const std::string& name) const {
    return find_tensor(program_->inputs, name);
}

void* BoundProgram::input(const std::string& name) const {
    const int tensor = input_tensor(name);
    return tensor < 0 ? nullptr : host_address(inputs_, tensor);
}

const void* BoundProgram::output(const std::string& name) const {
    const int tensor = find_tensor(program_->outputs, name);
    return tensor < 0 ? nullptr : host_address(outputs_, tensor);
}

void BoundProgram::run_steps(std::span<const BoundStep> bound, auto before, auto after) {
    if (program_->collectives.empty()) {
        for (std::size_t i = 0; i < bound.size(); ++i) {
            before(i);
            bound[i].kernel->run();
            after(i);
        }
        return;
    }
    int under_way = 0;
    for (std::size_t i = 0; i < bound.size(); ++i) {
        const BoundStep& step = bound[i];
        before(i);
        if (step.kernel) {
            step.kernel->run();
            if (under_way > 0) communicator_->progress();
        } else if (step.starts) {
            for (const std::span<std::byte> gap : step.cleared)
                std::memset(gap.data(), 0, gap.size());
            if (step.exchange != nullptr) {
                step.exchange->start();
                ++under_way;
            }
        } else if (step.exchange != nullptr) {
            step.exchange->wait();
            --under_way;
        }
        after(i);
    }
}

void BoundProgram::run_observed(const std::vector<plan::Step>& steps,
                                std::span<const BoundStep> bound) {
    run_steps(
        bound, [&](std::size_t i) { observer_->begin(*program_, steps[i]); },
        [&](std::size_t i) { observer_->end(*program_, steps[i]); });
}

void BoundProgram::run_prologue() {
    if (observer_ != nullptr) return run_observed(program_->prologue, prologue_);
    run_steps(
        prologue_, [](std::size_t) {}, [](std::size_t) {});
}

void BoundProgram::run() {
    write_inputs();
    if (observer_ != nullptr)
        run_observed(program_->steps, steps_);
    else
        run_steps(
            steps_, [](std::size_t) {}, [](std::size_t) {});
    read_outputs();
}

void BoundProgram::run_timed(std::span<double> seconds) {
    write_inputs();
    Stopwatch watch;
    run_steps(
        steps_,
        [&](std::size_t) {
            device_->finish();
            watch.restart();
        },
        [&](std::size_t i) {
            device_->finish();
            seconds[i] += watch.seconds();
        });
    read_outputs();
}

Executor::Executor(const plan::Plan& plan, int threads, Communicator* communicator)
    : Executor(plan, open_device(plan.target.device, threads), communicator) {}

Executor::Executor(const plan::Plan& plan, std::unique_ptr<Device> device,
                   Communicator* communicator)
    : plan_(&plan),
      communicator_(communicator),
      device_(std::move(device)),
      arena_(device_->allocate(plan.memory.arena, "the plan's arena")),
      programs_(plan.programs.size()),
      shard_states_(plan) {}

BoundProgram* Executor::find(plan::ProgramKind kind, std::int64_t batch) {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
        const plan::Program& program = plan_->programs[i];
        if (program.kind != kind || program.batch != batch) continue;
        if (!programs_[i]) {
            programs_[i] =
                std::make_unique<BoundProgram>(*plan_, program, *device_, arena_, communicator_);
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

HostView Executor::view(const plan::Tensor& tensor) const {
    const plan::Buffer& buffer = plan_->buffers[std::size_t(tensor.buffer)];
    return {*device_, address_of(arena_, buffer, tensor, communicator_),
            std::size_t(plan::element_count(tensor.dims) * plan::size_of(tensor.dtype)),
            HostView::Access::read};
}

HostView Executor::parameter_view(std::size_t index, HostView::Access access) const {
    const plan::Parameter& parameter = plan_->parameters[index];
    return {*device_, this->parameter(index),
            std::size_t(plan::element_count(parameter.dims) * plan::size_of(parameter.dtype)),
            access};
}

std::byte* Executor::parameter(std::size_t index) const {
    const plan::Parameter& parameter = plan_->parameters[index];
    return arena_ + plan_->buffers[std::size_t(parameter.buffer)].offset + parameter.offset;
}

}  // namespace dtnn::runtime
