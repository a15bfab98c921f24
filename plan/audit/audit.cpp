#include "plan/audit/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

#include "plan/audit/collectives.hpp"
#include "plan/audit/compression.hpp"
#include "plan/audit/findings.hpp"
#include "plan/audit/local_steps.hpp"
#include "plan/audit/programs.hpp"
#include "plan/audit/shards.hpp"
#include "plan/initializer.hpp"
#include "plan/name_index.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/staging.hpp"

namespace dtnn::plan {

namespace {

std::int64_t rounded(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// ---- Buffers.

// The buffers whose life is running, by offset. Inserting one checks it against its neighbours; as
// long as nothing overlaps, the two neighbours are all that can.
class LiveSet {
  public:
    LiveSet(const Plan& plan, Findings& findings) : plan_(plan), findings_(findings) {}

    void insert(int index) {
        const Buffer& buffer = plan_.buffers[index];
        if (buffer.bytes == 0) return;
        auto place = live_.emplace(buffer.offset, index);
        if (place != live_.begin()) check(std::prev(place)->second, index);
        if (auto next = std::next(place); next != live_.end()) check(index, next->second);
    }

    void erase(int index) {
        auto [begin, end] = live_.equal_range(plan_.buffers[index].offset);
        for (auto it = begin; it != end; ++it)
            if (it->second == index) {
                live_.erase(it);
                return;
            }
    }

  private:
    void check(int low, int high) {
        const Buffer &a = plan_.buffers[low], &b = plan_.buffers[high];
        if (a.offset + a.bytes > b.offset)
            find(findings_, "buffers `{}` [{}, {}) and `{}` [{}, {}) overlap while both are alive",
                 a.name, a.offset, a.offset + a.bytes, b.name, b.offset, b.offset + b.bytes);
    }

    const Plan& plan_;
    Findings& findings_;
    std::multimap<std::int64_t, int> live_;
};

void check_overlap(const Plan& plan, Findings& findings) {
    LiveSet live(plan, findings);
    std::vector<std::vector<int>> of_program(plan.programs.size());
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer& buffer = plan.buffers[i];
        if (persistent(buffer))
            live.insert(int(i));
        else if (buffer.first_step <= buffer.last_step)  // otherwise reported, and without a life
            of_program[buffer.program].push_back(int(i));
    }
    for (const std::vector<int>& buffers : of_program) {
        std::vector<int> starts = buffers, ends = buffers;
        std::stable_sort(starts.begin(), starts.end(), [&](int a, int b) {
            return plan.buffers[a].first_step < plan.buffers[b].first_step;
        });
        std::stable_sort(ends.begin(), ends.end(), [&](int a, int b) {
            return plan.buffers[a].last_step < plan.buffers[b].last_step;
        });
        std::size_t ended = 0;
        for (int index : starts) {
            while (ended < ends.size() &&
                   plan.buffers[ends[ended]].last_step < plan.buffers[index].first_step)
                live.erase(ends[ended++]);
            live.insert(index);
        }
        while (ended < ends.size())
            live.erase(ends[ended++]);
    }
}

void check_buffers(const Plan& plan, Findings& findings) {
    // By program; the last is of those that belong to none.
    std::vector<NameIndex> names(plan.programs.size() + 1);
    const auto name_of = [&](std::uint32_t n) -> const std::string& {
        return plan.buffers[n].name;
    };
    for (std::uint32_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer& buffer = plan.buffers[i];
        const std::size_t owner =
            persistent(buffer) ? plan.programs.size() : std::size_t(buffer.program);
        if (names[owner].find_or_add(buffer.name, i, name_of) != i)
            find(findings, "two buffers of one program are named `{}`", buffer.name);
        if (buffer.offset % kAlignment != 0)
            find(findings, "buffer `{}` is at {}, which is no multiple of {}", buffer.name,
                 buffer.offset, kAlignment);
        if (buffer.offset > plan.memory.arena || buffer.bytes > plan.memory.arena - buffer.offset)
            find(findings, "buffer `{}` at {} of {} bytes ends outside the arena of {} bytes",
                 buffer.name, buffer.offset, buffer.bytes, plan.memory.arena);
        bool of_a_program =
            buffer.role == BufferRole::transient || buffer.role == BufferRole::workspace;
        if (of_a_program == persistent(buffer)) {
            find(findings, "buffer `{}`: only transient buffers and workspaces belong to a program",
                 buffer.name);
            continue;
        }
        if (persistent(buffer)) continue;
        const Program& program = plan.programs[buffer.program];
        auto steps = int(program.prologue.size() + program.steps.size());
        if (buffer.first_step < 0 || buffer.first_step > buffer.last_step ||
            buffer.last_step >= steps)
            find(findings, "buffer `{}` lives from step {} to {} of the {} steps of `{}`",
                 buffer.name, buffer.first_step, buffer.last_step, steps, program.name);
    }
    check_overlap(plan, findings);
}

void check_memory(const Plan& plan, Findings& findings) {
    std::int64_t parameters = 0, optimizer = 0, inputs = 0, end = 0;
    for (const Buffer& buffer : plan.buffers) {
        // One that ends outside is told by check_buffers, and could overflow here.
        if (buffer.offset <= plan.memory.arena && buffer.bytes <= plan.memory.arena - buffer.offset)
            end = std::max(end, buffer.offset + rounded(buffer.bytes));
        if (buffer.role == BufferRole::parameter) parameters += rounded(buffer.bytes);
        if (buffer.role == BufferRole::state) optimizer += rounded(buffer.bytes);
        if (buffer.role == BufferRole::input || buffer.role == BufferRole::ahead ||
            buffer.role == BufferRole::kept || buffer.role == BufferRole::carried)
            inputs += rounded(buffer.bytes);
    }
    const Memory& memory = plan.memory;
    auto compare = [&](const char* what, std::int64_t said, std::int64_t counted) {
        if (said != counted)
            find(findings, "memory: {} is {} bytes, its buffers take {}", what, said, counted);
    };
    compare("parameters", memory.parameters, parameters);
    compare("optimizer", memory.optimizer, optimizer);
    compare("inputs", memory.inputs, inputs);
    compare("arena", memory.arena, parameters + optimizer + inputs + memory.transient);
    if (memory.arena > end)
        find(findings, "memory: the arena of {} bytes ends {} bytes after the last buffer",
             memory.arena, memory.arena - end);
}

/// What one batch leaves to the next is either of training or of evaluation, which lies between two
/// epochs, and whole batches have all of it.
void check_carried(const Plan& plan, Findings& findings) {
    std::vector<std::array<std::int64_t, 2>> most(plan.buffers.size());
    for (const Program& program : plan.programs)
        for (const Input& input : program.inputs) {
            if (input.role != InputRole::carried_state) continue;
            const Tensor& state = program.tensors[std::size_t(input.tensor)];
            std::int64_t& bytes =
                most[std::size_t(state.buffer)][program.kind == ProgramKind::evaluate ? 1 : 0];
            if (program.batch == plan.training.batch_size)
                bytes = std::max(bytes, element_count(state.dims) * size_of(state.dtype));
            else
                bytes = std::max<std::int64_t>(bytes, 1);
        }
    for (std::size_t b = 0; b < most.size(); ++b) {
        if (plan.buffers[b].role != BufferRole::carried) continue;
        const auto [trained, evaluated] = most[b];
        if (trained > 0 && evaluated > 0)
            find(findings, "buffer `{}` is carried by training and by evaluation",
                 plan.buffers[b].name);
        if (std::max(trained, evaluated) != plan.buffers[b].bytes)
            find(findings, "buffer `{}` of {} bytes is not what whole batches carry",
                 plan.buffers[b].name, plan.buffers[b].bytes);
    }
}

/// Room for the inputs of the next run.
void check_ahead(const Plan& plan, Findings& findings) {
    const Stretch inputs = input_stretch(plan);
    const bool wanted = has_own_memory(plan.target) && inputs.bytes > 0;
    int count = 0;
    for (const Buffer& buffer : plan.buffers) {
        if (buffer.role != BufferRole::ahead) continue;
        ++count;
        if (wanted && buffer.bytes != inputs.bytes)
            find(findings, "buffer `{}` has {} bytes, the inputs take {}", buffer.name,
                 buffer.bytes, inputs.bytes);
    }
    if (count != int(wanted))
        find(findings, "{} buffers are room for the inputs of the next run, {} is due", count,
             int(wanted));
}

void check_parameters(const Plan& plan, Findings& findings) {
    std::vector<int> owner(plan.buffers.size(), -1);
    std::vector<int> shard_of(plan.parameters.size(), -1);
    for (std::size_t s = 0; s < plan.shards.size(); ++s)
        for (const int parameter : plan.shards[s].parameters)
            shard_of[parameter] = int(s);
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const Parameter& parameter = plan.parameters[i];
        const Buffer& buffer = plan.buffers[parameter.buffer];
        BufferRole role = parameter.optimizer_state ? BufferRole::state : BufferRole::parameter;
        if (!persistent(buffer) || buffer.role != role)
            find(findings,
                 "parameter `{}` is in buffer `{}`, which is not persistent or of another role",
                 parameter.name, buffer.name);
        const int other = owner[parameter.buffer];
        if (other >= 0 && (shard_of[i] < 0 || shard_of[other] != shard_of[i]))
            find(findings, "parameters `{}` and `{}` are in one buffer",
                 plan.parameters[other].name, parameter.name);
        owner[parameter.buffer] = int(i);
        const bool state = parameter.kind != ParameterKind::weight &&
                           parameter.kind != ParameterKind::moving_statistic;
        if (parameter.optimizer_state != state ||
            (parameter.trainable && parameter.kind != ParameterKind::weight))
            find(findings, "parameter `{}` is of the kind {}, and {}", parameter.name,
                 name_of(parameter.kind),
                 parameter.optimizer_state != state
                     ? (state ? "no state of the optimizer" : "state of the optimizer")
                     : "trainable");
        if (const auto mistake = mistake_of(parameter.initializer))
            find(findings, "parameter `{}` cannot be initialised: {}", parameter.name, *mistake);
        std::int64_t elements = element_count(parameter.dims);
        if (elements != element_count(parameter.physical_dims))
            find(findings, "parameter `{}` has {} elements, its physical form {}", parameter.name,
                 elements, element_count(parameter.physical_dims));
        // A shard has several parameters in one buffer: audit_shards() looks at these.
        if (shard_of[i] < 0 &&
            (parameter.offset != 0 || elements * size_of(parameter.dtype) != buffer.bytes))
            find(findings, "parameter `{}` needs {} bytes at {}, its buffer has {}", parameter.name,
                 elements * size_of(parameter.dtype), parameter.offset, buffer.bytes);
    }
    for (std::size_t i = 0; i < plan.buffers.size(); ++i)
        if (owner[i] < 0 && (plan.buffers[i].role == BufferRole::parameter ||
                             plan.buffers[i].role == BufferRole::state))
            find(findings, "buffer `{}` belongs to no parameter", plan.buffers[i].name);
}

// ---- The loop: programs for every batch size that will come.

void check_training(const Plan& plan, Findings& findings) {
    auto has_batch = [&](ProgramKind kind, std::int64_t samples) {
        return samples == 0 ||
               std::any_of(plan.programs.begin(), plan.programs.end(),
                           [&](const Program& p) { return p.kind == kind && p.batch == samples; });
    };
    const Training& training = plan.training;
    const Dataset& dataset = plan.dataset;
    std::int64_t batch = training.batch_size;
    if (batch < 1) {
        find(findings, "the batch size is {}", batch);
        return;
    }
    for (const ProgramKind kind :
         {ProgramKind::train, ProgramKind::evaluate, ProgramKind::predict}) {
        const Program* program = find_program(plan, kind);
        if (program && program->batch != batch)
            find(findings, "program `{}` has batch {}, the training {}", program->name,
                 program->batch, batch);
    }
    if (!plan.parallel.data && plan.target.ranks != 1)
        find(findings, "{} ranks share a training that is for one", plan.target.ranks);
    // The limit of a job is the same on any number of ranks, the steps of a whole epoch are not.
    const std::int64_t most = steps_of_pass(dataset.train_samples, batch, 1);
    const bool own_data = plan.parallel.private_data;
    const std::int64_t steps = moves_locally(plan.parallel)
                                   ? steps_per_epoch(plan, plan.target.ranks)
                                   : steps_of_pass(dataset.train_samples, batch, plan.target.ranks);
    if (training.steps_per_epoch > most)
        find(findings, "{} steps per epoch are more than {} samples give in batches of {}",
             training.steps_per_epoch, dataset.train_samples, batch);
    if (training.whole_epochs && training.steps_per_epoch != steps)
        find(findings, "an epoch has {} steps, of {} that {} samples give {} ranks",
             training.steps_per_epoch, steps, dataset.train_samples, plan.target.ranks);
    // Ranks that share an epoch may come to its end before a limit.
    const bool ends =
        training.whole_epochs || training.steps_per_epoch == most || plan.parallel.data;
    // Ranks with data of their own take whole batches, and evaluate what is left over one by one.
    if (find_program(plan, ProgramKind::train) && ends && !own_data &&
        !has_batch(ProgramKind::train, dataset.train_samples % batch))
        find(findings, "no training program for the last {} samples of an epoch",
             dataset.train_samples % batch);
    if (!find_program(plan, ProgramKind::evaluate)) return;
    for (std::int64_t samples : {dataset.validation_samples, dataset.test_samples})
        if (!has_batch(ProgramKind::evaluate, own_data ? 1 : samples % batch))
            find(findings, "no evaluation program for the last {} of {} samples", samples % batch,
                 samples);
}

}  // namespace

std::vector<std::string> audit(const Plan& plan) {
    Findings findings;
    check_names(plan.layers, "layer", findings);
    check_names(plan.parameters, "parameter", findings);
    check_names(plan.programs, "program", findings);
    check_buffers(plan, findings);
    check_memory(plan, findings);
    check_ahead(plan, findings);
    check_carried(plan, findings);
    check_parameters(plan, findings);
    for (std::size_t i = 0; i < plan.programs.size(); ++i)
        audit_program(plan, int(i), findings);
    for (const std::string& finding : audit_collectives(plan))
        find(findings, "{}", finding);
    for (const std::string& finding : audit_shards(plan))
        find(findings, "{}", finding);
    for (const std::string& finding : audit_local_steps(plan))
        find(findings, "{}", finding);
    for (const std::string& finding : audit_compression(plan))
        find(findings, "{}", finding);
    check_training(plan, findings);
    return findings;
}

}  // namespace dtnn::plan
