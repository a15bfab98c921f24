#include "compiler/lower/emit_plan.hpp"

#include <algorithm>

#include "compiler/lower/emit_program.hpp"
#include "compiler/lower/persistent_region.hpp"
#include "plan/rules/compression.hpp"

namespace dtnn::compiler {

struct PlanEmitter::State {
    explicit State(plan::Plan& target) : plan(target), persistent(target), refusals(target) {}

    plan::Plan& plan;
    PersistentRegion persistent;
    RefusalTable refusals;
    std::vector<EmittedShard> shards;  // those of the last program; all that have any agree
    std::vector<EmittedProgram> programs;
};

PlanEmitter::PlanEmitter(plan::Plan& plan) : state_(std::make_unique<State>(plan)) {}
PlanEmitter::~PlanEmitter() = default;

void PlanEmitter::add(LoweredProgram program) {
    state_->persistent.collect(program.graph);
    const auto index = int(state_->programs.size());
    EmittedProgram& emitted = state_->programs.emplace_back();
    const int ranks = state_->plan.target.ranks;
    std::int64_t& transient = state_->plan.memory.transient;
    transient = std::max(transient, emit_program(program, state_->persistent, state_->refusals,
                                                 index, ranks, state_->plan.parallel, emitted));
    for (plan::Collective& collective : emitted.program.collectives)
        if (collective.compression == plan::Compression::top_k)
            collective.residual = state_->persistent.residual_of(
                collective.name, collective.bytes / size_of(collective.dtype));
    for (const EmittedShard& shard : emitted.shards)
        state_->persistent.share_buffer(shard.buffer, shard.parameters, shard.part_bytes * ranks);
    if (!emitted.shards.empty()) state_->shards = std::move(emitted.shards);
}

void PlanEmitter::finish() {
    plan::Plan& plan = state_->plan;
    const PersistentRegion& persistent = state_->persistent;
    const std::int64_t base = state_->persistent.finish();
    std::size_t buffers = plan.buffers.size();
    for (const EmittedProgram& emitted : state_->programs)
        buffers += emitted.buffers.size();
    plan.buffers.reserve(buffers);
    for (EmittedProgram& emitted : state_->programs) {
        const auto first = int(plan.buffers.size());
        const auto place = [&](auto& what) {
            if (what.buffer < -1) {
                what.offset += persistent.offset_of(what.buffer);
                what.buffer = persistent.buffer_of(what.buffer);
            } else {
                what.buffer += first;
            }
        };
        for (plan::Buffer& buffer : emitted.buffers) {
            buffer.offset += base;
            plan.buffers.push_back(std::move(buffer));
        }
        emitted.buffers = {};
        for (plan::Tensor& tensor : emitted.program.tensors)
            place(tensor);
        for (auto* steps : {&emitted.program.prologue, &emitted.program.steps})
            for (plan::Step& step : *steps)
                if (step.workspace >= 0) step.workspace += first;
        for (plan::Collective& collective : emitted.program.collectives) {
            place(collective);
            for (int& parameter : collective.parameters)
                parameter = persistent.parameter_of(parameter);
            if (collective.scratch >= 0) collective.scratch += first;
            if (collective.residual < -1)
                collective.residual = persistent.buffer_of(collective.residual);
            collective.seconds =
                plan::wire_seconds_of(plan::link_of(plan.machine), collective, plan.target.ranks);
        }
        plan.programs.push_back(std::move(emitted.program));
    }
    for (const EmittedShard& emitted : state_->shards) {
        plan::Shard& shard = plan.shards.emplace_back();
        shard.name = emitted.name;
        shard.part = emitted.part;
        for (const int mark : emitted.parameters)
            shard.parameters.push_back(persistent.parameter_of(mark));
        for (const int mark : emitted.states)
            shard.states.push_back(persistent.parameter_of(mark));
    }
    plan.memory.arena = base + plan.memory.transient;
}

void emit_plan(const std::vector<LoweredProgram>& programs, plan::Plan& plan) {
    PlanEmitter emitter(plan);
    for (const LoweredProgram& program : programs)
        emitter.add(program);
    emitter.finish();
}

}  // namespace dtnn::compiler
