#include "plan/audit/shards.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.hpp"
#include "plan/rules/named_operators.hpp"
#include "plan/rules/parallel.hpp"

namespace dtnn::plan {

namespace {

std::int64_t bytes_of(const Parameter& parameter) {
    return saturating_product({element_count(parameter.dims), size_of(parameter.dtype)});
}

class ShardsAudit {
  public:
    explicit ShardsAudit(const Plan& plan)
        : plan_(plan), shard_of_(plan.parameters.size()), state_of_(plan.parameters.size()) {}

    std::vector<std::string> run() {
        const bool sharded =
            plan_.parallel.data && plan_.parallel.optimizer == OptimizerState::sharded;
        if (sharded && plan_.parallel.any_ranks)
            find("the optimizer is shared between ranks, and their number is not fixed");
        if (!sharded && !plan_.shards.empty())
            find("there are {} shards of an optimizer that is not shared between ranks",
                 plan_.shards.size());
        for (std::size_t s = 0; s < plan_.shards.size(); ++s)
            check_shard(plan_.shards[s]);
        for (std::size_t p = 0; p < plan_.parameters.size(); ++p)
            if (sharded && plan_.parameters[p].by_rank && state_of_[p] == 0)
                find("`{}` is of each rank, and belongs to no shard", plan_.parameters[p].name);
        for (const Program& program : plan_.programs)
            check_program(program, sharded);
        return std::move(findings_);
    }

  private:
    template <class... Args>
    void find(fmt::format_string<Args...> format, Args&&... args) {
        findings_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
    const Parameter& parameter(int index) const { return plan_.parameters[std::size_t(index)]; }
    const Buffer& buffer(int index) const { return plan_.buffers[std::size_t(index)]; }
    static const Tensor& tensor(const Program& program, int index) {
        return program.tensors[std::size_t(index)];
    }
    static const Step& step(const Program& program, int index) {
        return program.steps[std::size_t(index)];
    }

    void check_shard(const Shard& shard) {
        if (shard.parameters.empty()) {
            find("shard `{}` has no parameters", shard.name);
            return;
        }
        const Parameter& first = parameter(shard.parameters.front());
        const std::int64_t part = saturating_product({shard.part, size_of(first.dtype)});
        const Buffer& stretch = buffer(first.buffer);
        if (part % kAlignment != 0)
            find("shard `{}`: parts of {} bytes are not at multiples of {}", shard.name, part,
                 kAlignment);
        if (stretch.bytes != saturating_product({part, plan_.target.ranks}))
            find("shard `{}`: {} parts of {} bytes do not make its buffer of {}", shard.name,
                 plan_.target.ranks, part, stretch.bytes);
        std::int64_t end = 0;
        for (const int index : shard.parameters) {
            const Parameter& one = parameter(index);
            if (++shard_of_[std::size_t(index)] > 1) find("`{}` is in two shards", one.name);
            if (!one.trainable || one.optimizer_state || one.by_rank)
                find("`{}` is in shard `{}`, and is no weights that train", one.name, shard.name);
            if (one.buffer != first.buffer || one.dtype != first.dtype)
                find("`{}` is in shard `{}`, and in another buffer or of another type", one.name,
                     shard.name);
            if (one.offset < end || one.offset % kAlignment != 0 ||
                one.offset > stretch.bytes - std::min(bytes_of(one), stretch.bytes) ||
                bytes_of(one) > stretch.bytes)
                find(
                    "`{}` of {} bytes at {} overlaps others of shard `{}`, is not aligned, or "
                    "ends outside",
                    one.name, bytes_of(one), one.offset, shard.name);
            else
                end = one.offset + bytes_of(one);
        }
        for (const int index : shard.states) {
            const Parameter& state = parameter(index);
            if (++state_of_[std::size_t(index)] > 1)
                find("`{}` is the state of two shards", state.name);
            const Dims wanted{state.by_rank ? shard.part : 1};
            if (!state.optimizer_state || state.dims != wanted || state.dtype != first.dtype)
                find("`{}` is no state of the parts of {} of shard `{}`", state.name, shard.part,
                     shard.name);
        }
    }

    void check_program(const Program& program, bool sharded) {
        for (const Output& output : program.outputs)
            if (tensor(program, output.tensor).by_rank)
                find("{}: the output `{}` is of each rank", program.name, output.name);
        for (const Input& input : program.inputs)
            if (const Tensor& fed = tensor(program, input.tensor); fed.by_rank)
                find("{}: the input `{}` is of each rank", program.name, fed.name);
        std::vector<bool> explained(program.steps.size());
        const bool updates =
            std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& one) {
                return one.phase == StepPhase::update && writes_trained(program, one);
            });
        if (updates && sharded) {
            for (const Shard& shard : plan_.shards)
                check_update(program, shard, explained);
            check_all_sharded(program);
        }
        const auto parts = [&](const std::vector<int>& list) {
            return std::any_of(list.begin(), list.end(),
                               [&](int id) { return tensor(program, id).by_rank; });
        };
        for (const Step& one : program.prologue)
            if (parts(one.sources) || parts(one.destinations))
                find("{}: step `{}` of the prologue touches a part", program.name, one.name);
        for (std::size_t s = 0; s < program.steps.size(); ++s) {
            const Step& one = program.steps[s];
            // Sums over the own part: of all ranks, they are of everything.
            const bool sums = one.op == kSquareSum && !parts(one.destinations);
            if (!explained[s] && !sums && (parts(one.sources) || parts(one.destinations)))
                find("{}: step `{}` touches a part of no shard", program.name, one.name);
        }
    }

    bool writes_trained(const Program& program, const Step& one) const {
        return std::any_of(one.destinations.begin(), one.destinations.end(), [&](int id) {
            const int written = tensor(program, id).buffer;
            return std::any_of(
                plan_.parameters.begin(), plan_.parameters.end(),
                [&](const Parameter& p) { return p.trainable && p.buffer == written; });
        });
    }

    /// Parameters that are updated as a whole have a buffer of their own, which no exchange of
    /// parts fills: with a sharded optimizer there are none.
    void check_all_sharded(const Program& program) {
        std::vector<bool> written(plan_.buffers.size());
        for (const Step& one : program.steps)
            if (one.phase == StepPhase::update)
                for (const int id : one.destinations)
                    written[std::size_t(tensor(program, id).buffer)] = true;
        for (std::size_t p = 0; p < plan_.parameters.size(); ++p) {
            const Parameter& one = plan_.parameters[p];
            const bool updated = one.trainable && written[std::size_t(one.buffer)];
            if (updated != (shard_of_[p] == 1))
                find("{}: `{}`, which {} updated, is in {} shards", program.name, one.name,
                     updated ? "is" : "is not", shard_of_[p]);
        }
    }

    static const Collective* named(const Program& program, const std::string& name) {
        const auto found = std::find_if(program.collectives.begin(), program.collectives.end(),
                                        [&](const Collective& one) { return one.name == name; });
        return found == program.collectives.end() ? nullptr : &*found;
    }

    void check_update(const Program& program, const Shard& shard, std::vector<bool>& explained) {
        const auto wrong = [&](const std::string& fact) {
            find("{}: shard `{}`: {}", program.name, shard.name, fact);
        };
        if (shard.parameters.empty()) return;
        const Parameter& first = parameter(shard.parameters.front());
        const std::int64_t all =
            saturating_product({shard.part, size_of(first.dtype), plan_.target.ranks});
        const Collective* reduced = named(program, shard.name);
        if (!reduced || reduced->kind != CollectiveKind::reduce_scatter || reduced->bytes != all ||
            reduced->parameters != shard.parameters)
            return wrong("its gradients are not added up into its parts");
        const auto gathered = std::find_if(
            program.collectives.begin(), program.collectives.end(), [&](const Collective& one) {
                return one.kind == CollectiveKind::all_gather && one.buffer == first.buffer;
            });
        if (gathered == program.collectives.end() || gathered->offset != 0 ||
            gathered->bytes != all)
            return wrong("its parts are not gathered");
        check_gradients(program, shard, *reduced);
        for (const int end : {reduced->start, reduced->wait, gathered->start, gathered->wait})
            explained[std::size_t(end)] = true;
        const Step& wait = step(program, reduced->wait);
        const bool own =
            wait.destinations.size() == 1 &&
            is_part(program, wait.destinations[0], shard, reduced->buffer, reduced->offset);
        if (!own) return wrong("the exchange of its gradients does not end with the own part");
        int update = -1;
        for (int s = reduced->wait + 1; s < gathered->start; ++s)
            for (const int id : step(program, s).destinations)
                if (tensor(program, id).buffer == first.buffer) update = update < 0 ? s : -2;
        if (update < 0) return wrong("no step, or several, update it between its two exchanges");
        explained[std::size_t(update)] = true;
        check_step(program, shard, step(program, update), reduced->buffer, reduced->offset);
    }

    /// The gradient of each parameter lies as the parameter does.
    void check_gradients(const Program& program, const Shard& shard, const Collective& reduced) {
        const std::vector<int>& sources = step(program, reduced.start).sources;
        bool alike = sources.size() == shard.parameters.size();
        for (std::size_t i = 0; alike && i < sources.size(); ++i) {
            const Tensor& gradient = tensor(program, sources[i]);
            const Parameter& one = parameter(shard.parameters[i]);
            alike = !gradient.by_rank && gradient.buffer == reduced.buffer &&
                    gradient.offset - reduced.offset == one.offset &&
                    gradient.dims == one.physical_dims && gradient.order == one.order &&
                    gradient.dtype == one.dtype;
        }
        if (!alike)
            find("{}: shard `{}`: the gradients do not lie as its parameters do", program.name,
                 shard.name);
    }

    bool is_part(const Program& program, int id, const Shard& shard, int in,
                 std::int64_t offset) const {
        const Tensor& part = tensor(program, id);
        return part.by_rank && part.dims == Dims{shard.part} && part.buffer == in &&
               part.offset == offset && part.dtype == parameter(shard.parameters.front()).dtype;
    }

    /// Weights, gradient, then numbers and states; results: weights and states.
    void check_step(const Program& program, const Shard& shard, const Step& update, int gradients,
                    std::int64_t offset) {
        const int weights = parameter(shard.parameters.front()).buffer;
        const bool shaped = update.phase == StepPhase::update && update.sources.size() >= 2 &&
                            !update.destinations.empty() &&
                            is_part(program, update.sources[0], shard, weights, 0) &&
                            is_part(program, update.sources[1], shard, gradients, offset) &&
                            is_part(program, update.destinations[0], shard, weights, 0);
        std::vector<int> states;
        for (std::size_t i = 1; shaped && i < update.destinations.size(); ++i) {
            const int written = tensor(program, update.destinations[i]).buffer;
            for (const int state : shard.states)
                if (parameter(state).buffer == written) states.push_back(state);
        }
        std::vector<int> wanted = shard.states;
        std::sort(states.begin(), states.end());
        std::sort(wanted.begin(), wanted.end());
        if (!shaped || states != wanted || update.destinations.size() != 1 + wanted.size())
            find("{}: shard `{}`: step `{}` does not update the own part and its {} states",
                 program.name, shard.name, update.name, wanted.size());
    }

    const Plan& plan_;
    std::vector<int> shard_of_, state_of_;  ///< by parameter: how many shards have it
    std::vector<std::string> findings_;
};

}  // namespace

std::int64_t stretch_bytes(const Plan& plan, const Tensor& tensor) {
    return saturating_product({element_count(tensor.dims), size_of(tensor.dtype),
                               tensor.by_rank ? plan.target.ranks : 1});
}

std::vector<std::string> audit_shards(const Plan& plan) {
    return ShardsAudit(plan).run();
}

}  // namespace dtnn::plan
