#include "plan/audit/programs.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/tensor/members.hpp"
#include "plan/audit/shards.hpp"
#include "plan/rules/parallel.hpp"

namespace dtnn::plan {

namespace {

// Walks the steps of one program and follows what is written where.
class ProgramWalk {
  public:
    ProgramWalk(const Plan& plan, int program, Findings& findings)
        : plan_(plan),
          index_(program),
          program_(plan.programs[program]),
          findings_(findings),
          written_(program_.tensors.size(), -1),
          lost_(program_.tensors.size(), -1),
          workspace_step_(plan.buffers.size(), -1),
          first_in_buffer_(plan.buffers.size() + 1) {
        for (const Tensor& tensor : program_.tensors)
            ++first_in_buffer_[std::size_t(tensor.buffer) + 1];
        for (std::size_t b = 0; b < plan.buffers.size(); ++b)
            first_in_buffer_[b + 1] += first_in_buffer_[b];
        tensors_by_buffer_.resize(program_.tensors.size());
        std::vector<int> next(first_in_buffer_.begin(), std::prev(first_in_buffer_.end()));
        for (std::size_t i = 0; i < program_.tensors.size(); ++i)
            tensors_by_buffer_[std::size_t(next[program_.tensors[i].buffer]++)] = int(i);
        reach_.resize(tensors_by_buffer_.size());
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const auto first = tensors_by_buffer_.begin() + first_in_buffer_[b];
            const auto last = tensors_by_buffer_.begin() + first_in_buffer_[b + 1];
            std::stable_sort(first, last,
                             [&](int x, int y) { return tensor(x).offset < tensor(y).offset; });
            std::int64_t reach = 0;
            for (auto it = first; it != last; ++it) {
                reach = std::max(reach, tensor(*it).offset + tensor_bytes(tensor(*it)));
                reach_[std::size_t(it - tensors_by_buffer_.begin())] = reach;
            }
        }
    }

    void run() {
        check_phase();
        check_layers();
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
    int prologue() const { return int(program_.prologue.size()); }
    int count() const { return prologue() + int(program_.steps.size()); }

    // Averages of weights are of neither phase.
    void check_phase() {
        const ProgramKind kind = program_.kind;
        const bool trains = kind == ProgramKind::train || kind == ProgramKind::accumulate;
        if (kind != ProgramKind::synchronise &&
            trains != (program_.phase == ProgramPhase::training))
            find(findings_, "{}: a program of the kind {} has the phase {}", program_.name,
                 name_of(kind), name_of(program_.phase));
    }

    void check_layers() {
        std::vector<bool> executed(plan_.layers.size());
        for (const auto* list : {&program_.prologue, &program_.steps})
            for (const Step& step : *list) {
                if (!step.layers.empty() &&
                    (step.phase != StepPhase::forward || list == &program_.prologue))
                    find(findings_,
                         "{}: step `{}` executes layers, and is no step of the forward part",
                         program_.name, step.name);
                for (std::size_t i = 0; i < step.layers.size(); ++i) {
                    const auto layer = std::size_t(step.layers[i]);
                    if (i > 0 && step.layers[i - 1] >= step.layers[i])
                        find(findings_, "{}: the layers of step `{}` do not rise", program_.name,
                             step.name);
                    if (executed[layer])
                        find(findings_, "{}: layer `{}` is executed by two steps", program_.name,
                             plan_.layers[layer].name);
                    executed[layer] = true;
                }
            }
    }

    void check_step_names() {
        NameIndex names(static_cast<std::size_t>(count()));
        const auto name_of = [&](std::uint32_t n) -> const std::string& {
            const std::size_t prologue = program_.prologue.size();
            return n < prologue ? program_.prologue[n].name : program_.steps[n - prologue].name;
        };
        for (std::uint32_t number = 0; number < std::uint32_t(count()); ++number) {
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
        if (b.role == BufferRole::workspace || b.role == BufferRole::ahead)
            find(findings_, "{}: tensor `{}` is in `{}`, which is no place for tensors",
                 program_.name, t.name, b.name);
        std::int64_t bytes = tensor_bytes(t);
        if (t.offset > b.bytes || bytes > b.bytes - t.offset)
            find(findings_, "{}: tensor `{}` of {} bytes at {} ends outside its buffer of {} bytes",
                 program_.name, t.name, bytes, t.offset, b.bytes);
        if (t.offset % kAlignment != 0)
            find(findings_, "{}: tensor `{}` is at {} in its buffer, no multiple of {}",
                 program_.name, t.name, t.offset, kAlignment);
    }

    std::span<const int> in_buffer(int buffer) const {
        const auto first = std::size_t(first_in_buffer_[buffer]);
        const auto end = std::size_t(first_in_buffer_[buffer + 1]);
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
        // No tensor before reaches this far any more.
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
        // Results of the prologue must still be there when the steps run again.
        const Buffer& b = buffer(id);
        if (number >= prologue() && !persistent(b) && b.first_step < prologue() &&
            b.last_step != count() - 1)
            find(findings_, "{}: `{}` is made in the prologue but lives only to step {} of {}",
                 program_.name, tensor(id).name, b.last_step, count());
    }

    void check_destination(const Step& step, int id, int number) {
        check_alive(step, id, number);
        const Buffer& b = buffer(id);
        if (b.role == BufferRole::input ||
            (b.role == BufferRole::kept && program_.kind != ProgramKind::generate) ||
            (b.role == BufferRole::carried && !carries()))
            find(findings_, "{}: step {} `{}` writes the input `{}`", program_.name, number,
                 step.name, tensor(id).name);
        if (number >= prologue() && !persistent(b) && b.first_step < prologue())
            find(findings_, "{}: step {} `{}` writes `{}`, which the prologue made", program_.name,
                 number, step.name, tensor(id).name);
    }

    // Whether it may go on from a batch before.
    bool carries() const {
        return plan_.training.carry_state &&
               (program_.kind == ProgramKind::train || program_.kind == ProgramKind::accumulate ||
                program_.kind == ProgramKind::evaluate);
    }

    // An exchange of parts ends with the own part of its operands, or with all that the parts
    // make. audit_shards() looks at which.
    bool ends_parts(const Step& step) const {
        const std::optional<ExchangeEnd> end = exchange_end_of(step.op);
        const bool reduced = end == kReduceScatterWait;
        if (!reduced && end != kAllGatherWait) return false;
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
        // Members are done at the same time: what one writes, no other may read.
        const auto members = std::size_t(std::max(member_count(step.attributes), std::int64_t{1}));
        const auto member_of = [&](std::size_t place, const std::vector<int>& operands) {
            return place / std::max(operands.size() / members, std::size_t{1});
        };
        for (std::size_t s = 0; s < step.sources.size(); ++s) {
            const int source = step.sources[s];
            if (!overlap(id, source)) continue;
            if (!same_bytes(id, source))
                find(findings_, "{}: step {} `{}` writes `{}` over a part of its source `{}`",
                     program_.name, number, step.name, tensor(id).name, tensor(source).name);
            else if (member_of(which, step.destinations) != member_of(s, step.sources))
                find(findings_,
                     "{}: step {} `{}` writes `{}` over `{}`, which another member reads",
                     program_.name, number, step.name, tensor(id).name, tensor(source).name);
        }
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
        std::set<std::pair<InputRole, int>> seen;
        for (const Input& input : program_.inputs) {
            if (!seen.emplace(input.role, input.index).second)
                find(findings_, "{}: two inputs are {} {}", program_.name, name_of(input.role),
                     input.index);
            const Tensor& one = tensor(input.tensor);
            const bool kept = input.role == InputRole::kept_steps,
                       carried = input.role == InputRole::carried_state;
            const BufferRole role = kept      ? BufferRole::kept
                                    : carried ? BufferRole::carried
                                              : BufferRole::input;
            if (buffer(input.tensor).role != role)
                find(findings_, "{}: the input `{}` is in buffer `{}`, which is none of {}",
                     program_.name, one.name, buffer(input.tensor).name,
                     kept      ? "what is kept"
                     : carried ? "what is carried"
                               : "inputs");
            if (kept && program_.kind != ProgramKind::generate)
                find(findings_, "{}: a program of the kind {} keeps `{}`", program_.name,
                     name_of(program_.kind), one.name);
            if (carried && !carries())
                find(findings_, "{}: a program of the kind {} carries `{}`", program_.name,
                     name_of(program_.kind), one.name);
            // A smaller batch has the first of the samples.
            if (carried && (one.dims.empty() || one.dims[0] != program_.batch || one.offset != 0 ||
                            one.by_rank || !is_row_major(one)))
                find(findings_, "{}: `{}` is no state of each of {} samples", program_.name,
                     one.name, program_.batch);
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

}  // namespace

void audit_program(const Plan& plan, int program, Findings& findings) {
    ProgramWalk(plan, program, findings).run();
}

}  // namespace dtnn::plan
