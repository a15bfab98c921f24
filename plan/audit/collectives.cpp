#include "plan/audit/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "plan/audit/shards.hpp"
#include "plan/audit/statistics.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/parallel.hpp"

namespace dtnn::plan {

namespace {

/// The exchange that a step says it belongs to; -1: none of the program's.
int collective_of(const Program& program, const Step& step) {
    const auto found = step.attributes.find("collective");
    const auto* index =
        found == step.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    if (!index || *index < 0 || *index >= std::int64_t(program.collectives.size())) return -1;
    return int(*index);
}

class ProgramAudit {
  public:
    ProgramAudit(const Plan& plan, int program, std::vector<std::string>& findings)
        : plan_(plan),
          index_(program),
          program_(plan.programs[std::size_t(program)]),
          findings_(findings) {}

    void run() {
        if (!plan_.parallel.data && !program_.collectives.empty())
            find("there are exchanges in a plan for one rank");
        int before = -1;
        std::unordered_set<std::string> names;
        for (const Collective& collective : program_.collectives) {
            if (collective.name.empty() || !names.insert(collective.name).second)
                find("an exchange without a name of its own: `{}`", collective.name);
            if (collective.start <= before)
                find("exchange `{}` starts with step {}, the one listed before it with step {}",
                     collective.name, collective.start, before);
            before = collective.start;
            check(collective);
        }
        for (const std::string& finding : audit_statistics(plan_, program_))
            find("{}", finding);
        for (const Step& step : program_.prologue)
            if (is_collective(step.op)) find("the prologue exchanges: step `{}`", step.name);
        check_steps();
        if (plan_.parallel.data && !moves_locally(plan_.parallel)) check_gradients();
    }

  private:
    template <class... Args>
    void find(fmt::format_string<Args...> format, Args&&... args) {
        findings_.push_back(program_.name + ": " +
                            fmt::format(format, std::forward<Args>(args)...));
    }

    const Tensor& tensor(int id) const { return program_.tensors[std::size_t(id)]; }
    std::int64_t tensor_bytes(const Tensor& t) const { return stretch_bytes(plan_, t); }

    void check(const Collective& collective) {
        if (collective.wait <= collective.start)
            find("exchange `{}` is waited for in step {}, before it starts in step {}",
                 collective.name, collective.wait, collective.start);
        check_end(collective, collective.start, {collective.kind, End::start});
        check_end(collective, collective.wait, {collective.kind, End::wait});
        check_stretch(collective);
        const std::vector<int>& sources = program_.steps[std::size_t(collective.start)].sources;
        if (collective.parameters.empty()) return;
        bool alike = collective.parameters.size() == sources.size();
        for (std::size_t i = 0; alike && i < sources.size(); ++i)
            alike = element_count(tensor(sources[i]).dims) ==
                    element_count(plan_.parameters[std::size_t(collective.parameters[i])].dims);
        if (!alike)
            find("exchange `{}` has {} operands that are not the gradients of its {} parameters",
                 collective.name, sources.size(), collective.parameters.size());
    }

    /// The step is this end of the exchange, and its operands lie in the stretch.
    void check_end(const Collective& collective, int number, ExchangeEnd end) {
        const Step& step = program_.steps[std::size_t(number)];
        const int own = int(&collective - program_.collectives.data());
        if (exchange_end_of(step.op) != end || collective_of(program_, step) != own) {
            find("step {} `{}` is not the {} of exchange `{}`", number, step.name, operator_of(end),
                 collective.name);
            return;
        }
        if (end == kReduceScatterWait || end == kAllGatherWait) {
            for (const auto* operands : {&step.sources, &step.destinations})
                for (const int id : *operands)
                    check_inside(collective, tensor(id));
            return;
        }
        if (step.sources.empty() || step.sources.size() != step.destinations.size())
            find("step `{}` has {} sources and {} destinations", step.name, step.sources.size(),
                 step.destinations.size());
        for (std::size_t i = 0; i < std::min(step.sources.size(), step.destinations.size()); ++i) {
            const Tensor &source = tensor(step.sources[i]), &result = tensor(step.destinations[i]);
            if (source.buffer != result.buffer || source.offset != result.offset ||
                tensor_bytes(source) != tensor_bytes(result))
                find("step `{}` moves `{}`", step.name, source.name);
            check_inside(collective, source);
            if (result.dtype != source.dtype)
                find("step `{}` makes `{}` another type", step.name, source.name);
        }
    }

    void check_inside(const Collective& collective, const Tensor& operand) {
        if (operand.buffer != collective.buffer || operand.dtype != collective.dtype ||
            operand.offset < collective.offset ||
            operand.offset + tensor_bytes(operand) > collective.offset + collective.bytes)
            find("`{}` is exchanged by `{}`, but lies outside its stretch or is no {}",
                 operand.name, collective.name, name_of(collective.dtype));
    }

    void check_stretch(const Collective& collective) {
        const Buffer& buffer = plan_.buffers[std::size_t(collective.buffer)];
        // Parts are gathered of weights, everything else is added up.
        const bool weights = collective.kind == CollectiveKind::all_gather;
        if (weights ? buffer.role != BufferRole::parameter
                    : buffer.role != BufferRole::transient || buffer.program != index_)
            find("exchange `{}` is of buffer `{}`, which is {}", collective.name, buffer.name,
                 weights ? "none of parameters" : "no transient one of the program");
        if (collective.bytes <= 0 || collective.bytes % size_of(collective.dtype) != 0 ||
            collective.offset % kAlignment != 0)
            find("exchange `{}` of {} bytes at {} is not aligned, or not of whole elements",
                 collective.name, collective.bytes, collective.offset);
        if (collective.offset > buffer.bytes || collective.bytes > buffer.bytes - collective.offset)
            find("exchange `{}` of {} bytes at {} ends outside its buffer of {} bytes",
                 collective.name, collective.bytes, collective.offset, buffer.bytes);
        const int prologue = int(program_.prologue.size());
        if (!weights && (buffer.first_step > prologue + collective.start ||
                         buffer.last_step < prologue + collective.wait))
            find("exchange `{}` lasts from step {} to {}, its buffer lives from {} to {}",
                 collective.name, prologue + collective.start, prologue + collective.wait,
                 buffer.first_step, buffer.last_step);
    }

    /// One walk over the steps, with the exchanges that are under way.
    void check_steps() {
        std::vector<std::vector<const Collective*>> under_way(plan_.buffers.size());
        for (std::size_t s = 0; s < program_.steps.size(); ++s) {
            const Step& step = program_.steps[s];
            const std::optional<ExchangeEnd> exchange = exchange_end_of(step.op);
            const int own = exchange ? collective_of(program_, step) : -1;
            const Collective* ends = nullptr;
            if (exchange) {
                const auto number = int(s);
                const Collective* collective =
                    own < 0 ? nullptr : &program_.collectives[std::size_t(own)];
                if (!collective ||
                    (exchange->end == End::start ? collective->start : collective->wait) != number)
                    find("step {} `{}` is an end of no exchange", s, step.name);
                else if (exchange->end == End::wait)
                    ends = collective;
            }
            if (ends) std::erase(under_way[std::size_t(ends->buffer)], ends);
            for (const auto* operands : {&step.sources, &step.destinations})
                for (const int id : *operands)
                    for (const Collective* collective : under_way[std::size_t(tensor(id).buffer)])
                        check_apart(step, tensor(id), *collective);
            if (own >= 0 && !ends) {
                const Collective& starts = program_.collectives[std::size_t(own)];
                under_way[std::size_t(starts.buffer)].push_back(&starts);
            }
        }
    }

    void check_apart(const Step& step, const Tensor& operand, const Collective& collective) {
        if (operand.offset < collective.offset + collective.bytes &&
            collective.offset < operand.offset + tensor_bytes(operand))
            find("step `{}` touches `{}` while exchange `{}` is under way", step.name, operand.name,
                 collective.name);
    }

    void check_gradients() {
        std::vector<int> exchanged(plan_.parameters.size());
        for (const Collective& collective : program_.collectives)
            for (const int parameter : collective.parameters)
                ++exchanged[std::size_t(parameter)];
        std::vector<bool> written(plan_.buffers.size());
        for (const Step& step : program_.steps)
            if (step.phase == StepPhase::update)
                for (const int id : step.destinations)
                    written[std::size_t(tensor(id).buffer)] = true;
        bool updates = false;
        for (std::size_t p = 0; p < plan_.parameters.size(); ++p) {
            const Parameter& parameter = plan_.parameters[p];
            const bool updated = parameter.trainable && written[std::size_t(parameter.buffer)];
            updates = updates || updated;
            if (exchanged[p] != (updated ? 1 : 0))
                find("the gradient of `{}`, which {} updated, is in {} exchanges", parameter.name,
                     updated ? "is" : "is not", exchanged[p]);
        }
        if (updates && find_input(program_, InputRole::batch_weight) == nullptr)
            find("the gradients of all ranks are added up without weights");
    }

    const Plan& plan_;
    int index_;
    const Program& program_;
    std::vector<std::string>& findings_;
};

}  // namespace

std::vector<std::string> audit_collectives(const Plan& plan) {
    std::vector<std::string> findings;
    for (std::size_t i = 0; i < plan.programs.size(); ++i)
        ProgramAudit(plan, int(i), findings).run();
    return findings;
}

}  // namespace dtnn::plan
