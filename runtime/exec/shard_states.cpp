#include "runtime/exec/shard_states.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/checksum.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {

std::vector<ShardTensor> shard_tensors(const plan::Plan& plan) {
    std::vector<ShardTensor> all;
    for (const plan::Shard& shard : plan.shards) {
        for (const int state : shard.states) {
            for (const int weights : shard.parameters)
                all.push_back({plan.parameters[std::size_t(weights)].name + "." +
                                   plan.parameters[std::size_t(state)].role,
                               std::size_t(weights), std::size_t(state)});
        }
    }
    return all;
}

namespace {

/// The parameters but for states of shards that are `apart`.
std::vector<std::size_t> parameters_without(const plan::Plan& plan,
                                            bool (*apart)(const plan::Parameter&)) {
    std::vector<bool> left_out(plan.parameters.size());
    for (const plan::Shard& shard : plan.shards)
        for (const int state : shard.states)
            left_out[std::size_t(state)] = apart(plan.parameters[std::size_t(state)]);
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i)
        if (!left_out[i]) others.push_back(i);
    return others;
}

}  // namespace

std::vector<std::size_t> unsharded_parameters(const plan::Plan& plan) {
    return parameters_without(plan, [](const plan::Parameter&) { return true; });
}

std::vector<std::size_t> whole_parameters(const plan::Plan& plan) {
    return parameters_without(plan, [](const plan::Parameter& state) { return state.by_rank; });
}

std::vector<std::size_t> ShardStates::states() const {
    std::vector<std::size_t> indices;
    for (const plan::Shard& shard : plan_->shards)
        for (const int state : shard.states)
            if (plan_->parameters[std::size_t(state)].by_rank)
                indices.push_back(std::size_t(state));
    return indices;
}

std::size_t ShardStates::slot(std::size_t state) const {
    const std::vector<std::size_t> all = states();
    return std::size_t(std::find(all.begin(), all.end(), state) - all.begin());
}

std::size_t ShardStates::part_bytes(std::size_t state) const {
    const plan::Parameter& parameter = plan_->parameters[state];
    return std::size_t(element_count(parameter.dims) * size_of(parameter.dtype));
}

void ShardStates::make_room() {
    clear();
    for (const std::size_t state : states())
        stretches_.emplace_back(part_bytes(state) * std::size_t(plan_->target.ranks));
}

void ShardStates::gather(const Executor& executor, Communicator& communicator) {
    clear();
    for (const std::size_t state : states()) {
        const HostView view = executor.parameter_view(state);
        const std::span<const std::byte> mine = view.bytes();
        std::vector<std::byte> stretch;
        if (communicator.rank() == 0)
            stretch.reserve(mine.size() * std::size_t(communicator.ranks()));
        communicator.gather(mine, "the state " + plan_->parameters[state].name,
                            [&stretch](int, std::span<const std::byte> piece) {
                                stretch.insert(stretch.end(), piece.begin(), piece.end());
                            });
        if (communicator.rank() == 0) stretches_.push_back(std::move(stretch));
    }
}

std::string ShardStates::scatter(const Executor& executor, Communicator& communicator) {
    const std::vector<std::size_t> all = states();
    if (all.empty()) return {};
    std::byte given{!empty()};
    communicator.broadcast({&given, 1}, 0, "whether there are states");
    if (given == std::byte{0}) return {};
    Checksum checksum;
    std::vector<std::byte> room;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t bytes = part_bytes(all[i]);
        room.resize(bytes * std::size_t(communicator.ranks()));
        std::vector<std::byte>& stretch = empty() ? room : stretches_[i];
        communicator.broadcast(stretch, 0, "the state " + plan_->parameters[all[i]].name);
        checksum.add(stretch);
        const HostView mine = executor.parameter_view(all[i], HostView::Access::write);
        std::memcpy(mine.bytes().data(), stretch.data() + bytes * std::size_t(communicator.rank()),
                    bytes);
    }
    clear();
    return checksum.text();
}

}  // namespace dtnn::runtime
