#include "runtime/exec/executor.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "kernels/catalogue.hpp"
#include "kernels/subnormals.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/staging.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/exec/collectives.hpp"
#include "runtime/exec/step_problem.hpp"

namespace dtnn::runtime {
namespace {

/// Its place in the list; -1: none.
int find_output(const std::vector<plan::Output>& list, const std::string& name) {
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i].name == name) return int(i);
    return -1;
}

/// The address of a tensor; of this rank's part of a tensor by rank.
std::byte* address_of(std::byte* arena, const plan::Buffer& buffer, const plan::Tensor& tensor,
                      const Communicator* communicator) {
    std::byte* const first = arena + buffer.offset + tensor.offset;
    if (!tensor.by_rank || communicator == nullptr) return first;
    return first +
           std::int64_t{communicator->rank()} * element_count(tensor.dims) * size_of(tensor.dtype);
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
    std::vector<Transfer> inputs, outputs;
    // What is kept or carried stays where it is.
    for (const plan::Input& input : program.inputs) {
        transfer_of_input_.push_back(int(inputs.size()));
        if (!plan::stays_in_place(input.role)) inputs.push_back(transfer_of(input.tensor));
    }
    for (const plan::Output& output : program.outputs)
        outputs.push_back(transfer_of(output.tensor));
    device_program_ = device.bind_program(std::move(inputs), std::move(outputs), room_for_inputs(),
                                          [this] { run_plainly(program_->steps, steps_); });
}

Transfer BoundProgram::transfer_of(int tensor) const {
    const plan::Tensor& record = program_->tensors[std::size_t(tensor)];
    Transfer transfer;
    transfer.memory = address(tensor);
    transfer.bytes = element_count(record.dims) * size_of(record.dtype);
    const std::span<std::byte> room = room_for_inputs();
    if (!room.empty() && plan_->buffers[std::size_t(record.buffer)].role == plan::BufferRole::input)
        transfer.ahead =
            room.data() + (transfer.memory - arena_ - plan::input_stretch(*plan_).offset);
    return transfer;
}

std::span<std::byte> BoundProgram::room_for_inputs() const {
    for (const plan::Buffer& buffer : plan_->buffers)
        if (buffer.role == plan::BufferRole::ahead)
            return {arena_ + buffer.offset, std::size_t(buffer.bytes)};
    return {};
}

/// Named as in the plan: in one step ranks may run programs for batches of several sizes, whose
/// exchanges are the same.
void BoundProgram::bind_exchanges() {
    if (communicator_ == nullptr || communicator_->ranks() == 1) return;
    for (const plan::Collective& collective : program_->collectives)
        exchanges_.push_back(bind_exchange(*device_, *communicator_, *plan_, collective, arena_));
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

std::byte* BoundProgram::address(int index) const {
    const plan::Tensor& tensor = program_->tensors[std::size_t(index)];
    return address_of(arena_, plan_->buffers[std::size_t(tensor.buffer)], tensor, communicator_);
}

void* BoundProgram::input(plan::InputRole role, int index) const {
    const plan::Input* found = plan::find_input(*program_, role, index);
    if (found == nullptr || plan::stays_in_place(role)) return nullptr;
    const auto number = std::size_t(found - program_->inputs.data());
    return device_program_->input(std::size_t(transfer_of_input_[number]));
}

void BoundProgram::begin_anew() {
    for (const plan::Input& input : program_->inputs) {
        if (!plan::stays_in_place(input.role)) continue;
        const plan::Tensor& record = program_->tensors[std::size_t(input.tensor)];
        device_->clear({address(input.tensor),
                        std::size_t(element_count(record.dims) * size_of(record.dtype))});
    }
}

const void* BoundProgram::output(const std::string& name) const {
    const int which = find_output(program_->outputs, name);
    return which < 0 ? nullptr : device_program_->output(std::size_t(which));
}

/// `at` is the step that is run.
void BoundProgram::run_each(const std::vector<plan::Step>& steps, std::span<const BoundStep> bound,
                            auto before, auto after, std::size_t& at) {
    if (program_->collectives.empty()) {
        for (at = 0; at < bound.size(); ++at) {
            before(steps[at]);
            bound[at].kernel->run();
            after(steps[at]);
        }
        return;
    }
    int under_way = 0;
    for (at = 0; at < bound.size(); ++at) {
        const BoundStep& step = bound[at];
        before(steps[at]);
        if (step.kernel) {
            step.kernel->run();
            if (under_way > 0) communicator_->progress();
        } else if (step.starts) {
            for (const std::span<std::byte> gap : step.cleared)
                device_->clear(gap);
            if (step.exchange != nullptr) {
                step.exchange->start();
                ++under_way;
            }
        } else if (step.exchange != nullptr) {
            step.exchange->wait();
            --under_way;
        }
        after(steps[at]);
    }
}

void BoundProgram::run_steps(const std::vector<plan::Step>& steps, std::span<const BoundStep> bound,
                             auto before, auto after) {
    std::size_t at = 0;
    const kernels::SubnormalsFlushed flushed(plan_->target.numerics == plan::Numerics::fast);
    try {
        run_each(steps, bound, before, after, at);
    } catch (const DeviceError& error) {
        const std::size_t first = &steps == &program_->steps ? program_->prologue.size() : 0;
        throw RunError(
            error.exit,
            fmt::format("{}: {}", describe_step(*plan_, *program_, int(first + at), steps[at]),
                        error.fact),
            error.help);
    }
}

void BoundProgram::run_plainly(const std::vector<plan::Step>& steps,
                               std::span<const BoundStep> bound) {
    run_steps(
        steps, bound, [](const plan::Step&) {}, [](const plan::Step&) {});
}

void BoundProgram::run_observed(const std::vector<plan::Step>& steps,
                                std::span<const BoundStep> bound) {
    run_steps(
        steps, bound, [&](const plan::Step& step) { observer_->begin(*program_, step); },
        [&](const plan::Step& step) { observer_->end(*program_, step); });
}

void BoundProgram::run_prologue() {
    if (observer_ != nullptr)
        run_observed(program_->prologue, prologue_);
    else
        run_plainly(program_->prologue, prologue_);
}

void BoundProgram::start() {
    if (observer_ == nullptr) return device_program_->run();
    device_program_->run([this] { run_observed(program_->steps, steps_); });
}

void BoundProgram::run() {
    start();
    wait();
}

void BoundProgram::run_timed(std::span<double> seconds) {
    Stopwatch watch;
    device_program_->run([&] {
        run_steps(
            program_->steps, steps_,
            [&](const plan::Step&) {
                device_->finish();
                watch.restart();
            },
            [&](const plan::Step& step) {
                device_->finish();
                seconds[std::size_t(&step - program_->steps.data())] += watch.seconds();
            });
    });
    wait();
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
      shard_states_(plan) {
    if (communicator == nullptr) return;
    device_->join({communicator->rank(), communicator->ranks(), plan.parallel.timeout_seconds,
                   [&](std::span<std::byte> bytes) {
                       communicator->broadcast(bytes, 0, "where devices meet");
                   }});
}

BoundProgram* Executor::find(plan::ProgramKind kind, std::int64_t batch) {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
        const plan::Program& program = plan_->programs[i];
        if (program.kind == kind && program.batch == batch) return &bound(i);
    }
    return nullptr;
}

BoundProgram& Executor::bound(std::size_t index) {
    std::unique_ptr<BoundProgram>& program = programs_[index];
    if (!program) {
        program = std::make_unique<BoundProgram>(*plan_, plan_->programs[index], *device_, arena_,
                                                 communicator_);
        program->observe(observer_);
    }
    return *program;
}

void Executor::observe(StepObserver* observer) {
    observer_ = observer;
    for (const auto& program : programs_) {
        if (program) program->observe(observer);
    }
}

HostView Executor::view(const plan::Tensor& tensor, HostView::Access access) const {
    const plan::Buffer& buffer = plan_->buffers[std::size_t(tensor.buffer)];
    return {*device_, address_of(arena_, buffer, tensor, communicator_),
            std::size_t(element_count(tensor.dims) * size_of(tensor.dtype)), access};
}

HostView Executor::parameter_view(std::size_t index, HostView::Access access) const {
    const plan::Parameter& parameter = plan_->parameters[index];
    return {*device_, this->parameter(index),
            std::size_t(element_count(parameter.dims) * size_of(parameter.dtype)), access};
}

std::byte* Executor::parameter(std::size_t index) const {
    const plan::Parameter& parameter = plan_->parameters[index];
    return arena_ + plan_->buffers[std::size_t(parameter.buffer)].offset + parameter.offset;
}

}  // namespace dtnn::runtime
