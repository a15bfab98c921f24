#include "plan/audit/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <unordered_set>

#include "plan/audit/collectives.hpp"
#include "plan/audit/local_steps.hpp"
#include "plan/audit/shards.hpp"
#include "plan/audit/wire.hpp"
#include "plan/initializer.hpp"
#include "plan/name_index.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/parallel.hpp"

namespace dtnn::plan {

namespace {

constexpr std::size_t kMostFindings = 64;

using Findings = std::vector<std::string>;

template <class... Args>
void find(Findings& findings, fmt::format_string<Args...> format, Args&&... args) {
    if (findings.size() < kMostFindings)
        findings.push_back(fmt::format(format, std::forward<Args>(args)...));
}

std::int64_t rounded(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool persistent(const Buffer& buffer) {
    return buffer.program < 0;
}

template <class Records>
void check_names(const Records& records, std::string_view what, Findings& findings) {
    NameIndex seen(records.size());
    for (std::uint32_t i = 0; i < records.size(); ++i) {
        const std::string& name = records[i].name;
        if (name.empty()) find(findings, "a {} has no name", what);
        if (seen.find_or_add(name, i, [&](std::uint32_t n) -> const std::string& {
                return records[n].name;
            }) != i)
            find(findings, "two {}s are named `{}`", what, name);
    }
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
            live.insert(static_cast<int>(i));
        else if (buffer.first_step <= buffer.last_step)  // otherwise reported, and without a life
            of_program[buffer.program].push_back(static_cast<int>(i));
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
            persistent(buffer) ? plan.programs.size() : static_cast<std::size_t>(buffer.program);
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
        auto steps = static_cast<int>(program.prologue.size() + program.steps.size());
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
        if (buffer.role == BufferRole::input) inputs += rounded(buffer.bytes);
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

void check_parameters(const Plan& plan, Findings& findings) {
    std::vector<int> owner(plan.buffers.size(), -1);
    std::vector<int> shard_of(plan.parameters.size(), -1);
    for (std::size_t s = 0; s < plan.shards.size(); ++s)
        for (const int parameter : plan.shards[s].parameters)
            shard_of[parameter] = static_cast<int>(s);
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const Parameter& parameter = plan.parameters[i];
        const Buffer& buffer = plan.buffers[parameter.buffer];
        BufferRole role = parameter.optimizer_state ? BufferRole::state : BufferRole::parameter;
        if (!persistent(buffer) || buffer.role != role)
            find(findings,
                 "parameter `{}` is in buffer `{}`, which is not persistent or of "
                 "another role",
                 parameter.name, buffer.name);
        const int other = owner[parameter.buffer];
        if (other >= 0 && (shard_of[i] < 0 || shard_of[other] != shard_of[i]))
            find(findings, "parameters `{}` and `{}` are in one buffer",
                 plan.parameters[other].name, parameter.name);
        owner[parameter.buffer] = static_cast<int>(i);
        if (const auto mistake = mistake_of(parameter.initializer))
            find(findings, "parameter `{}` cannot be initialised: {}", parameter.name, *mistake);
        std::int64_t elements = element_count(parameter.dims);
        if (elements != element_count(parameter.physical_dims))
            find(findings, "parameter `{}` has {} elements, its physical form {}", parameter.name,
                 elements, element_count(parameter.physical_dims));
        // Where several are in one buffer: audit_shards().
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

// ---- Programs.

// Walks the steps of one program and follows what is written where.
class Walk {
  public:
    Walk(const Plan& plan, int program, Findings& findings)
        : plan_(plan),
          index_(program),
          program_(plan.programs[program]),
          findings_(findings),
          written_(program_.tensors.size(), -1),
          lost_(program_.tensors.size(), -1),
          workspace_step_(plan.buffers.size(), -1),
          first_in_buffer_(plan.buffers.size() + 1) {
        for (const Tensor& tensor : program_.tensors)
            ++first_in_buffer_[static_cast<std::size_t>(tensor.buffer) + 1];
        for (std::size_t b = 0; b < plan.buffers.size(); ++b)
            first_in_buffer_[b + 1] += first_in_buffer_[b];
        tensors_by_buffer_.resize(program_.tensors.size());
        std::vector<int> next(first_in_buffer_.begin(), std::prev(first_in_buffer_.end()));
        for (std::size_t i = 0; i < program_.tensors.size(); ++i)
            tensors_by_buffer_[static_cast<std::size_t>(next[program_.tensors[i].buffer]++)] =
                static_cast<int>(i);
        reach_.resize(tensors_by_buffer_.size());
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const auto first = tensors_by_buffer_.begin() + first_in_buffer_[b];
            const auto last = tensors_by_buffer_.begin() + first_in_buffer_[b + 1];
            std::stable_sort(first, last,
                             [&](int x, int y) { return tensor(x).offset < tensor(y).offset; });
            std::int64_t reach = 0;
            for (auto it = first; it != last; ++it) {
                reach = std::max(reach, tensor(*it).offset + tensor_bytes(tensor(*it)));
                reach_[static_cast<std::size_t>(it - tensors_by_buffer_.begin())] = reach;
            }
        }
    }

    void run() {
        check_phase();
        check_names(program_.tensors, "tensor", findings_);
        check_step_names();
        for (const Tensor& tensor : program_.tensors)
            check_tensor(tensor);
        check_inputs();
        int number = 0;
        for (const Step& step : program_.prologue)
            check_step(step, number++);
        for (const Step& step : program_.steps)
            check_step(step, number++);
        check_outputs(number);
    }

  private:
    const Tensor& tensor(int id) const { return program_.tensors[id]; }
    std::int64_t tensor_bytes(const Tensor& t) const { return stretch_bytes(plan_, t); }
    const Buffer& buffer(int id) const { return plan_.buffers[tensor(id).buffer]; }
    int prologue() const { return static_cast<int>(program_.prologue.size()); }
    int count() const { return prologue() + static_cast<int>(program_.steps.size()); }

    // Averages of weights are of neither phase.
    void check_phase() {
        const ProgramKind kind = program_.kind;
        const bool trains = kind == ProgramKind::train || kind == ProgramKind::accumulate;
        if (kind != ProgramKind::synchronise &&
            trains != (program_.phase == ProgramPhase::training))
            find(findings_, "{}: a program of the kind {} has the phase {}", program_.name,
                 name_of(kind), name_of(program_.phase));
    }

    void check_step_names() {
        NameIndex names(static_cast<std::size_t>(count()));
        const auto name_of = [&](std::uint32_t n) -> const std::string& {
            const std::size_t prologue = program_.prologue.size();
            return n < prologue ? program_.prologue[n].name : program_.steps[n - prologue].name;
        };
        for (std::uint32_t number = 0; number < static_cast<std::uint32_t>(count()); ++number) {
            const std::string& name = name_of(number);
            if (name.empty() || names.find_or_add(name, number, name_of) != number)
                find(findings_, "{}: a step without a name of its own: `{}`", program_.name, name);
        }
    }

    void check_tensor(const Tensor& t) {
        const Buffer& b = plan_.buffers[t.buffer];
        if (!persistent(b) && b.program != index_)
            find(findings_, "{}: tensor `{}` is in buffer `{}` of another program", program_.name,
                 t.name, b.name);
        if (b.role == BufferRole::workspace)
            find(findings_, "{}: tensor `{}` is in the workspace `{}`", program_.name, t.name,
                 b.name);
        std::int64_t bytes = tensor_bytes(t);
        if (t.offset > b.bytes || bytes > b.bytes - t.offset)
            find(findings_, "{}: tensor `{}` of {} bytes at {} ends outside its buffer of {} bytes",
                 program_.name, t.name, bytes, t.offset, b.bytes);
        if (t.offset % kAlignment != 0)
            find(findings_, "{}: tensor `{}` is at {} in its buffer, no multiple of {}",
                 program_.name, t.name, t.offset, kAlignment);
    }

    std::span<const int> in_buffer(int buffer) const {
        const auto first = static_cast<std::size_t>(first_in_buffer_[buffer]);
        const auto end = static_cast<std::size_t>(first_in_buffer_[buffer + 1]);
        return {tensors_by_buffer_.data() + first, end - first};
    }

    // Tensors of its buffer that have bytes in common with this one, by falling offset.
    template <class Visit>
    void for_overlapping(int id, Visit visit) const {
        const std::span<const int> all = in_buffer(tensor(id).buffer);
        const std::int64_t end = tensor(id).offset + tensor_bytes(tensor(id));
        auto it = std::lower_bound(all.begin(), all.end(), end, [&](int other, std::int64_t at) {
            return tensor(other).offset < at;
        });
        // Nothing before reaches this far any more.
        const auto reach = reach_.begin() + (all.data() - tensors_by_buffer_.data());
        while (it != all.begin() && reach[it - all.begin() - 1] > tensor(id).offset) {
            --it;
            if (overlap(*it, id)) visit(*it);
        }
    }

    bool overlap(int a, int b) const {
        const Tensor &x = tensor(a), &y = tensor(b);
        return x.buffer == y.buffer && x.offset < y.offset + tensor_bytes(y) &&
               y.offset < x.offset + tensor_bytes(x);
    }
    bool same_bytes(int a, int b) const {
        const Tensor &x = tensor(a), &y = tensor(b);
        return x.buffer == y.buffer && x.offset == y.offset && tensor_bytes(x) == tensor_bytes(y);
    }

    void check_alive(const Step& step, int id, int number) {
        const Buffer& b = buffer(id);
        if (persistent(b)) return;
        if (number < b.first_step || number > b.last_step)
            find(findings_, "{}: step {} `{}` uses `{}`, which lives from step {} to {}",
                 program_.name, number, step.name, tensor(id).name, b.first_step, b.last_step);
    }

    // A view has no step that writes it: it is written when all of its bytes are, by others.
    bool has_value(int id) const {
        if (written_[id] >= 0) return true;
        std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
        for (int other : in_buffer(tensor(id).buffer))
            if (written_[other] >= 0)
                ranges.emplace_back(tensor(other).offset,
                                    tensor(other).offset + tensor_bytes(tensor(other)));
        std::sort(ranges.begin(), ranges.end());
        std::int64_t covered = tensor(id).offset;
        for (const auto& [begin, end] : ranges)
            if (begin <= covered) covered = std::max(covered, end);
        return covered >= tensor(id).offset + tensor_bytes(tensor(id));
    }

    void check_source(const Step& step, int id, int number) {
        check_alive(step, id, number);
        if (!persistent(buffer(id)) && !has_value(id))
            find(findings_, "{}: step {} `{}` reads `{}` before anything wrote it", program_.name,
                 number, step.name, tensor(id).name);
        if (lost_[id] >= 0)
            find(findings_,
                 "{}: step {} `{}` reads `{}` after step {} wrote another tensor over it",
                 program_.name, number, step.name, tensor(id).name, lost_[id]);
        // What the prologue made must still be there when the steps run again.
        const Buffer& b = buffer(id);
        if (number >= prologue() && !persistent(b) && b.first_step < prologue() &&
            b.last_step != count() - 1)
            find(findings_, "{}: `{}` is made in the prologue but lives only to step {} of {}",
                 program_.name, tensor(id).name, b.last_step, count());
    }

    void check_destination(const Step& step, int id, int number) {
        check_alive(step, id, number);
        const Buffer& b = buffer(id);
        if (b.role == BufferRole::input)
            find(findings_, "{}: step {} `{}` writes the input `{}`", program_.name, number,
                 step.name, tensor(id).name);
        if (number >= prologue() && !persistent(b) && b.first_step < prologue())
            find(findings_, "{}: step {} `{}` writes `{}`, which the prologue made", program_.name,
                 number, step.name, tensor(id).name);
    }

    // What an exchange of parts ends with: the own part of its operands, or of it all that it is
    // made of. Which, audit_shards() looks at.
    bool ends_parts(const Step& step) const {
        const bool reduced = step.op == "reduce_scatter_wait";
        if (!reduced && step.op != "all_gather_wait") return false;
        const std::vector<int>& whole = reduced ? step.destinations : step.sources;
        const std::vector<int>& members = reduced ? step.sources : step.destinations;
        return whole.size() == 1 && tensor(whole[0]).by_rank &&
               std::all_of(members.begin(), members.end(),
                           [&](int id) { return !tensor(id).by_rank && overlap(id, whole[0]); });
    }

    // Each result has the bytes of its own source, and no two the same: then none is over a part of
    // another. What can be said of the ends of an exchange in less time than comparing all pairs of
    // its operands, which may be thousands.
    bool stays_in_place(const Step& step) const {
        if (step.sources.size() != step.destinations.size()) return false;
        for (std::size_t i = 0; i < step.sources.size(); ++i)
            if (!same_bytes(step.sources[i], step.destinations[i])) return false;
        std::vector<int> order = step.destinations;
        std::sort(order.begin(), order.end(), [&](int a, int b) {
            return std::pair(tensor(a).buffer, tensor(a).offset) <
                   std::pair(tensor(b).buffer, tensor(b).offset);
        });
        return std::adjacent_find(order.begin(), order.end(),
                                  [&](int a, int b) { return overlap(a, b); }) == order.end();
    }

    void check_apart(const Step& step, std::size_t which, int number) {
        const int id = step.destinations[which];
        for (std::size_t other = 0; other < which; ++other)
            if (overlap(id, step.destinations[other]))
                find(findings_, "{}: step {} `{}` writes `{}` and `{}` to the same bytes",
                     program_.name, number, step.name, tensor(step.destinations[other]).name,
                     tensor(id).name);
        for (int source : step.sources)
            if (overlap(id, source) && !same_bytes(id, source))
                find(findings_, "{}: step {} `{}` writes `{}` over a part of its source `{}`",
                     program_.name, number, step.name, tensor(id).name, tensor(source).name);
    }

    void check_step(const Step& step, int number) {
        if (step.op.empty() || step.kernel.empty())
            find(findings_, "{}: step {} `{}` has no kernel", program_.name, number, step.name);
        for (int id : step.sources)
            check_source(step, id, number);
        for (int id : step.destinations)
            check_destination(step, id, number);
        if (!is_collective(step.op))
            for (std::size_t i = 0; i < step.destinations.size(); ++i)
                check_apart(step, i, number);
        else if (!ends_parts(step) && !stays_in_place(step))
            find(findings_, "{}: step {} `{}` does not leave every operand at a place of its own",
                 program_.name, number, step.name);
        if (step.workspace >= 0) check_workspace(step, number);
        // Whoever shared the bytes of a destination has lost them: tensors that were written, and
        // parameters' first values. Views of the destination itself are never written, and stay
        // good.
        for (int id : step.destinations) {
            bool parameter = persistent(buffer(id));
            for_overlapping(id, [&](int other) {
                if (other != id && (written_[other] >= 0 || parameter)) lost_[other] = number;
            });
        }
        for (int id : step.destinations) {
            written_[id] = number;
            lost_[id] = -1;
        }
    }

    void check_workspace(const Step& step, int number) {
        const Buffer& b = plan_.buffers[step.workspace];
        if (b.role != BufferRole::workspace || b.program != index_ || b.first_step != number ||
            b.last_step != number)
            find(findings_, "{}: step {} `{}` has the workspace `{}`, which is not its own",
                 program_.name, number, step.name, b.name);
        if (int& user = workspace_step_[step.workspace]; user < 0)
            user = number;
        else
            find(findings_, "{}: steps {} and {} share the workspace `{}`", program_.name, user,
                 number, b.name);
    }

    void check_inputs() {
        std::unordered_set<std::string_view> names;
        for (const Output& input : program_.inputs) {
            if (!names.insert(input.name).second)
                find(findings_, "{}: two inputs are named `{}`", program_.name, input.name);
            if (buffer(input.tensor).role != BufferRole::input)
                find(findings_, "{}: the input `{}` is in buffer `{}`, which is none of inputs",
                     program_.name, input.name, buffer(input.tensor).name);
        }
    }

    void check_outputs(int end) {
        std::unordered_set<std::string_view> names;
        for (const Output& output : program_.outputs) {
            if (!names.insert(output.name).second)
                find(findings_, "{}: two outputs are named `{}`", program_.name, output.name);
            const Buffer& b = buffer(output.tensor);
            if (persistent(b)) continue;
            if (!has_value(output.tensor) || lost_[output.tensor] >= 0)
                find(findings_, "{}: the output `{}` is not there at the end", program_.name,
                     output.name);
            if (b.last_step != end - 1)
                find(findings_, "{}: the output `{}` lives only to step {} of {}", program_.name,
                     output.name, b.last_step, end);
        }
    }

    const Plan& plan_;
    int index_;
    const Program& program_;
    Findings& findings_;
    std::vector<int> written_;  // by tensor: the step that wrote it last, or -1
    std::vector<int> lost_;     // by tensor: the step that wrote others' bytes over it, or -1
    std::vector<int> workspace_step_;  // by buffer
    // The tensors of each buffer, by offset: from first_in_buffer_ to that of the next buffer.
    std::vector<int> first_in_buffer_, tensors_by_buffer_;
    std::vector<std::int64_t> reach_;  // likewise: where the last of those so far ends
};

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
    check_parameters(plan, findings);
    for (std::size_t i = 0; i < plan.programs.size(); ++i)
        Walk(plan, static_cast<int>(i), findings).run();
    for (const std::string& finding : audit_collectives(plan))
        find(findings, "{}", finding);
    for (const std::string& finding : audit_shards(plan))
        find(findings, "{}", finding);
    for (const std::string& finding : audit_local_steps(plan))
        find(findings, "{}", finding);
    for (const std::string& finding : audit_wire(plan))
        find(findings, "{}", finding);
    check_training(plan, findings);
    return findings;
}

}  // namespace dtnn::plan
