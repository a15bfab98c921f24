#include "runtime/train/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "plan/rules/compression.hpp"
#include "plan/rules/lanes.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/staging.hpp"
#include "runtime/base/checksum.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "runtime/exec/number_check.hpp"
#include "runtime/train/initialize.hpp"

namespace dtnn::runtime {

std::vector<Arrangement> sample_arrangements(const plan::Plan& plan) {
    const plan::Program& program = plan.programs.front();
    std::vector<Arrangement> list;
    for (const plan::Feature& feature : plan.dataset.inputs) {
        Order order;
        if (const plan::Input* source =
                plan::find_input(program, plan::InputRole::feature, int(list.size()))) {
            const Order& whole = program.tensors[std::size_t(source->tensor)].order;
            for (std::size_t i = 1; i < whole.size(); ++i)
                order.push_back(whole[i] - 1);
        }
        list.emplace_back(feature.dims, order);
    }
    return list;
}

BatchInputs batch_inputs(const BoundProgram& program) {
    BatchInputs result;
    while (void* place = program.input(plan::InputRole::feature, int(result.features.size())))
        result.features.push_back(place);
    if (const plan::Input* target = plan::find_input(program.program(), plan::InputRole::target)) {
        const plan::Tensor& tensor = program.program().tensors[std::size_t(target->tensor)];
        result.target = program.input(plan::InputRole::target);
        result.labels = tensor.dtype == DType::i32;
    }
    return result;
}

namespace {

const BatchProgram& of_size(const std::vector<BatchProgram>& programs, std::int64_t batch,
                            const char* kind) {
    for (const BatchProgram& candidate : programs) {
        if (candidate.program->batch() == batch) return candidate;
    }
    throw RunError(Exit::mismatch,
                   fmt::format("the plan has no {} program for batches of {}", kind, batch),
                   "compile the job again with the dtnnc of this version");
}

/// What training neither learns nor holds still: moving statistics, and averages of them.
std::vector<std::size_t> statistics_of(const plan::Plan& plan) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i)
        if (plan.parameters[i].kind == plan::ParameterKind::moving_statistic) indices.push_back(i);
    return indices;
}

std::size_t bytes_of_parameter(const plan::Plan& plan, std::size_t index) {
    const plan::Parameter& parameter = plan.parameters[index];
    return std::size_t(element_count(parameter.dims) * size_of(parameter.dtype));
}

/// Nothing where there is no place for it.
void set_number(void* place, double value, DType dtype) {
    if (place == nullptr) return;
    if (dtype == DType::f32) {
        *static_cast<float*>(place) = float(value);
    } else {
        *static_cast<double*>(place) = value;
    }
}

}  // namespace

const MetricValue* PassValues::find(const std::string& name) const {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const MetricValue& value) { return value.name == name; });
    return found == values.end() ? nullptr : &*found;
}

void require_number(const PassValues& values, const std::string& split) {
    if (values.samples == 0 || std::isfinite(values.loss())) return;
    throw RunError(Exit::diverged,
                   fmt::format("the loss on the {} split is {}", split, values.loss()),
                   "train with a smaller learning rate");
}

void BatchProgram::set_learning_rate(double value, DType dtype) const {
    set_number(learning_rate, value, dtype);
}

void BatchProgram::set_batch_weight(double value, DType dtype) const {
    set_number(batch_weight, value, dtype);
}

void BatchProgram::set_position(std::int64_t epoch, std::int64_t first_sample) const {
    if (position == nullptr) return;
    position[0] = epoch;
    position[1] = first_sample;
}

Session::Session(const plan::Plan& plan, int threads, std::unique_ptr<SampleSource> source,
                 FirstValues first)
    : Session(plan, threads, std::move(source), make_self(), first) {}

Session::Session(const plan::Plan& plan, int threads, std::unique_ptr<SampleSource> source,
                 std::unique_ptr<Communicator> own, FirstValues first)
    : Session(plan, threads, std::move(source), *own, first) {
    own_ = std::move(own);
}

Session::Session(const plan::Plan& plan, int threads, std::unique_ptr<SampleSource> source,
                 Communicator& communicator, FirstValues first)
    : Session(plan, open_device(plan.target.device, threads, local_rank()), std::move(source),
              communicator, first) {}

Session::Session(const plan::Plan& plan, std::unique_ptr<Device> device,
                 std::unique_ptr<SampleSource> source, Communicator& communicator,
                 FirstValues first)
    : communicator_(communicator),
      agreement_(communicator),
      executor_(plan, std::move(device), &communicator),
      source_(std::move(source)),
      sampler_(plan.dataset, plan.training, plan::global_batch(plan, communicator.ranks())),
      pipeline_(*source_, plan, sample_arrangements(plan)),
      carried_(plan::carried_states(plan)),
      statistics_(statistics_of(plan)) {
    const auto add = [&](std::vector<BatchProgram>& list, plan::ProgramKind kind) {
        for (const plan::Program& program : plan.programs) {
            if (program.kind == kind) list.push_back(ready(kind, program.batch));
        }
    };
    add(train_, plan::ProgramKind::train);
    add(accumulate_, plan::ProgramKind::accumulate);
    add(evaluate_, plan::ProgramKind::evaluate);
    if (plan::moves_locally(plan.parallel) && ranks() > 1) {
        local_steps_.emplace(plan, ranks());
        synchronise_ = executor_.find(plan::ProgramKind::synchronise, plan.training.batch_size);
        share_ = synchronise_->input(plan::InputRole::share);
    }
    for (const std::size_t i : unsharded_parameters(plan))
        if (plan.parameters[i].by_rank) own_states_.push_back(i);
    if (first == FirstValues::drawn) initialize(executor_);
}

void Session::set_rank_samples(std::vector<std::int64_t> samples) {
    if (local_steps_ && !samples.empty()) local_steps_.emplace(plan(), std::move(samples));
}

void Session::synchronise(double share) {
    set_number(share_, share, plan().target.dtype);
    synchronise_->run();
}

BatchProgram Session::ready(plan::ProgramKind kind, std::int64_t batch) {
    BatchProgram result;
    result.program = executor_.find(kind, batch);
    using plan::InputRole;
    result.inputs = batch_inputs(*result.program);
    result.learning_rate = result.program->input(InputRole::learning_rate);
    result.position = static_cast<std::int64_t*>(result.program->input(InputRole::position));
    result.update = static_cast<std::int64_t*>(result.program->input(InputRole::update));
    result.batch_weight = result.program->input(InputRole::batch_weight);
    result.outputs = BatchOutputs::of(plan(), *result.program);
    return result;
}

const BatchProgram& Session::train_program(std::int64_t batch, bool update) const {
    return update ? of_size(train_, batch, "training")
                  : of_size(accumulate_, batch, "accumulating");
}

const BatchProgram& Session::evaluate_program(std::int64_t batch) const {
    return of_size(evaluate_, batch, "evaluation");
}

const BatchProgram& Session::idle_program(bool update) const {
    const std::vector<BatchProgram>& programs = update ? train_ : accumulate_;
    return *std::max_element(programs.begin(), programs.end(), [](const auto& a, const auto& b) {
        return a.program->batch() < b.program->batch();
    });
}

void Session::share(std::size_t parameter) {
    const HostView view = executor_.parameter_view(parameter, HostView::Access::write);
    communicator_.broadcast(view.bytes(), 0, "the parameter " + plan().parameters[parameter].name);
}

void Session::gather_states() {
    executor_.shard_states().gather(executor_, communicator_);
}

void Session::share_parameters() {
    const std::string parts = executor_.shard_states().scatter(executor_, communicator_);
    if (ranks() == 1) return;
    Checksum checksum;
    checksum.add(std::as_bytes(std::span(parts)));
    for (const std::size_t i : whole_parameters(plan())) {
        share(i);
        checksum.add(executor_.parameter_view(i).bytes());
    }
    const std::string mine = checksum.text();
    const auto all =
        communicator_.all_gather(std::as_bytes(std::span(mine)), "the checksums of the parameters");
    for (int other = 1; other < ranks(); ++other) {
        if (all[std::size_t(other)] == all[0]) continue;
        throw SharedRunError(RunError(
            Exit::failed,
            fmt::format("the parameters of {} are not those of rank 0 that were sent to it",
                        communicator_.name_of(other)),
            "the network or the memory of a machine fails; leave that machine out"));
    }
}

std::vector<std::byte> Session::gather_own_states() {
    std::vector<std::byte> all;
    if (ranks() == 1 || own_states_.empty()) return all;
    // Only rank 0 has room for all.
    std::size_t size = 0;
    for (const std::size_t i : own_states_)
        size += bytes_of_parameter(plan(), i);
    if (rank() == 0) all.resize(size * std::size_t(ranks() - 1));
    std::size_t first = 0;
    for (const std::size_t i : own_states_) {
        const HostView view = executor_.parameter_view(i);
        const std::span<const std::byte> mine = view.bytes();
        int of = 0;
        std::size_t place = 0;
        communicator_.gather(
            mine, "the states of a rank", [&](int owner, std::span<const std::byte> piece) {
                if (owner == 0) return;
                if (owner != of) place = std::size_t(owner - 1) * size + first;
                of = owner;
                std::copy(piece.begin(), piece.end(), all.begin() + std::ptrdiff_t(place));
                place += piece.size();
            });
        first += mine.size();
    }
    return all;
}

void Session::scatter_own_states(std::span<const std::byte> all) {
    if (own_states_.empty()) return;
    std::size_t size = 0;
    for (const std::size_t i : own_states_)
        size += bytes_of_parameter(plan(), i);
    if (all.size() != size * std::size_t(ranks() - 1) || ranks() == 1) keep_what_is_owed(all, size);
    if (ranks() == 1) return;
    std::byte whole{all.size() == size * std::size_t(ranks() - 1)};
    communicator_.broadcast({&whole, 1}, 0, "whether ranks have states");
    if (whole == std::byte{0}) return;
    std::vector<std::byte> one(size);
    for (int owner = 1; owner < ranks(); ++owner) {
        if (rank() == 0) {
            const auto from = all.subspan(std::size_t(owner - 1) * size, size);
            std::copy(from.begin(), from.end(), one.begin());
        }
        communicator_.broadcast(one, 0, "the states of a rank");
        if (rank() != owner) continue;
        const std::byte* from = one.data();
        for (const std::size_t i : own_states_) {
            const HostView view = executor_.parameter_view(i, HostView::Access::write);
            const std::span<std::byte> mine = view.bytes();
            std::memcpy(mine.data(), from, mine.size());
            from += mine.size();
        }
    }
}

/// Takes what another number of ranks owes (compression_selection.hpp): rank 0 owes all of it, the
/// others nothing, so that nothing is lost, and nothing counts twice.
void Session::keep_what_is_owed(std::span<const std::byte> all, std::size_t size) {
    std::size_t offset = 0;
    for (const std::size_t i : own_states_) {
        const HostView view = executor_.parameter_view(i, HostView::Access::write);
        const std::span<std::byte> mine = view.bytes();
        if (plan().parameters[i].kind == plan::ParameterKind::residual) {
            auto* const own = reinterpret_cast<float*>(mine.data());
            const std::size_t count = mine.size() / sizeof(float);
            for (std::size_t at = offset; at + mine.size() <= all.size(); at += size) {
                for (std::size_t k = 0; k < count; ++k) {
                    float other = 0;
                    std::memcpy(&other, all.data() + at + k * sizeof other, sizeof other);
                    own[k] += other;
                }
            }
            if (rank() > 0) std::fill_n(own, count, 0.0F);
        }
        offset += mine.size();
    }
}

void Session::begin_states(plan::ProgramKind kind) {
    if (!plan().training.carry_state) return;
    // Smaller batches have the first of the states of whole ones.
    if (BoundProgram* whole = executor_.find(kind, plan().training.batch_size)) whole->begin_anew();
}

std::vector<std::byte> Session::gather_carried() {
    std::vector<std::byte> all;
    const auto count = std::size_t(ranks());
    for (const plan::Tensor* state : carried_) {
        const HostView view = executor_.view(*state);
        const std::span<const std::byte> mine = view.bytes();
        const std::size_t first = all.size();
        if (rank() == 0) all.resize(first + mine.size() * count);
        if (count == 1) {
            std::copy(mine.begin(), mine.end(), all.begin() + std::ptrdiff_t(first));
            continue;
        }
        std::size_t place = first;  // Ranks come one after the other, each in pieces.
        communicator_.gather(
            mine, "what is carried between batches", [&](int, std::span<const std::byte> piece) {
                std::copy(piece.begin(), piece.end(), all.begin() + std::ptrdiff_t(place));
                place += piece.size();
            });
    }
    return all;
}

void Session::scatter_carried(std::span<const std::byte> all) {
    if (carried_.empty()) return;
    std::byte given{!all.empty()};
    if (ranks() > 1) communicator_.broadcast({&given, 1}, 0, "whether states are carried");
    if (given == std::byte{0}) return;
    std::size_t from = 0;
    for (const plan::Tensor* state : carried_) {
        const HostView view = executor_.view(*state, HostView::Access::write);
        const std::span<std::byte> mine = view.bytes();
        std::vector<std::byte> piece(mine.size());
        for (int owner = 0; owner < ranks(); ++owner, from += piece.size()) {
            if (rank() == 0) {
                const auto part = all.subspan(from, piece.size());
                std::copy(part.begin(), part.end(), piece.begin());
            }
            if (ranks() > 1) communicator_.broadcast(piece, 0, "what is carried between batches");
            if (rank() == owner) std::copy(piece.begin(), piece.end(), mine.begin());
        }
    }
}

void Session::share_statistics() {
    if (ranks() == 1) return;
    for (const std::size_t parameter : statistics_)
        share(parameter);
}

PassValues Session::evaluate(Split split, std::span<const std::int64_t> order, NumberCheck* check) {
    if (!evaluation_) evaluation_.emplace(plan());
    share_statistics();
    MetricSet& metrics = *evaluation_;
    metrics.reset();
    const std::int64_t size = plan().training.batch_size;
    const auto samples = std::int64_t(order.size());
    std::vector<std::int64_t> lanes;
    if (plan().training.carry_state) {
        const std::int64_t count = plan::global_batch(plan(), ranks());
        lanes.reserve(order.size());
        for (std::int64_t i = 0; i < samples; ++i)
            lanes.push_back(order[std::size_t(plan::sample_of_lanes(i, samples, count))]);
        order = lanes;
        begin_states(plan::ProgramKind::evaluate);
    }
    bool stopped = false;
    if (!plan().parallel.private_data) {
        evaluate_pass(
            {.split = split, .order = order, .batch = size, .rank = rank(), .ranks = ranks()},
            plan::steps_of_pass(samples, size, ranks()), check, stopped);
    } else {
        // Whole batches of its own, and what is left over one by one; each rank as long as any.
        std::array<std::int64_t, 2> steps = {samples / size, samples % size};
        for (const std::vector<std::byte>& one :
             communicator_.all_gather(std::as_bytes(std::span(steps)), "the batches of a pass")) {
            std::array<std::int64_t, 2> other = {};
            std::memcpy(other.data(), one.data(), std::min(one.size(), sizeof other));
            for (std::size_t i = 0; i < steps.size(); ++i)
                steps[i] = std::max(steps[i], other[i]);
        }
        const std::span<const std::int64_t> whole = order.first(std::size_t(samples / size * size));
        if (evaluate_pass({.split = split, .order = whole, .batch = size}, steps[0], check,
                          stopped))
            evaluate_pass({.split = split, .order = order.subspan(whole.size()), .batch = 1},
                          steps[1], check, stopped);
    }
    JoinedValues joined = metrics.joined(communicator_);
    return {std::move(joined.values), joined.samples, stopped};
}

/// False: it was cut short, for all ranks.
bool Session::evaluate_pass(const Pass& pass, std::int64_t steps, NumberCheck* check,
                            bool& stopped) {
    MetricSet& metrics = *evaluation_;
    const BatchProgram* last = nullptr;
    bool broken = false, cut = false;
    pipeline_.start(pass);
    for (std::int64_t step = 0; step < steps; ++step) {
        if (const std::int64_t samples = pipeline_.wait()) {
            const BatchProgram& batch = evaluate_program(samples);
            pipeline_.take(batch.inputs);
            if (check != nullptr) check->begin_run(batch.program->program());
            if (&batch != last) batch.program->run_prologue();
            last = &batch;
            batch.program->run();
            metrics.add(batch.outputs, samples);
            broken = broken || !std::isfinite(batch.loss()) || (check != nullptr && check->found());
        }
        const Findings found =
            agreement_.tell({.stop = agreement_.asked_to_stop(), .broken = broken});
        stopped = stopped || found.stop;
        cut = found.broken || found.stop;
        if (cut) break;
        if (watch_) watch_(step + 1, steps);
    }
    pipeline_.stop();
    const Findings found = agreement_.settle();
    stopped = found.stop || stopped;
    return !cut && !found.broken && !stopped;
}

PassValues Session::validate(NumberCheck* check) {
    const plan::Dataset& dataset = plan().dataset;
    if (dataset.test_as_validation) return evaluate(Split::test, sampler_.test(), check);
    if (dataset.validation_samples == 0) return {};
    return evaluate(Split::train, sampler_.validation(), check);
}

}  // namespace dtnn::runtime
