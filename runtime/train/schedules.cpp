#include "runtime/train/schedules.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "plan/rules/parallel.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

Schedules::Schedules(const plan::Plan& plan, int ranks)
    : base_(plan.training.learning_rate * plan::learning_rate_factor(plan.parallel, ranks)) {
    const TrainingExtent extent = extent_of(plan, ranks);
    std::map<std::string, int> counts;
    for (const plan::Component& component : plan.training.schedules) {
        const int number = ++counts[component.type];
        const std::string key =
            number == 1 ? component.type : fmt::format("{}_{}", component.type, number);
        std::optional<RateFactor> factor =
            rate_factor(component, extent, plan.training.learning_rate);
        watchers_.push_back(factor ? nullptr : make_watcher(component, plan, key));
        if (factor) {
            factors_.push_back(std::move(*factor));
        } else if (watchers_.back() == nullptr) {
            throw RunError(
                Exit::mismatch,
                fmt::format("the plan's schedule `{}` is unknown to this program", component.type),
                "compile the job again with the dtnnc of this version");
        }
    }
}

double Schedules::learning_rate(const BatchPosition& position) const {
    double rate = base_;
    for (const RateFactor& factor : factors_)
        rate *= factor(position);
    for (const auto& watcher : watchers_) {
        if (watcher) rate *= watcher->rate_factor();
    }
    return rate;
}

EpochDecision Schedules::epoch_done(std::int64_t epoch, const EpochValues& values) {
    EpochDecision decision;
    for (const auto& watcher : watchers_) {
        if (watcher) watcher->epoch_done(epoch, values, decision);
    }
    return decision;
}

std::optional<BestWeights> Schedules::restore_at_end() const {
    for (const auto& watcher : watchers_) {
        if (!watcher) continue;
        if (std::optional<BestWeights> best = watcher->restore_at_end()) return best;
    }
    return std::nullopt;
}

std::vector<KeptWeights> Schedules::kept() const {
    std::vector<KeptWeights> all;
    for (const auto& watcher : watchers_) {
        if (!watcher) continue;
        for (KeptWeights& one : watcher->kept())
            all.push_back(std::move(one));
    }
    return all;
}

void Schedules::begin_again() {
    for (const auto& watcher : watchers_) {
        if (watcher) watcher->begin_again();
    }
}

std::vector<std::vector<double>> Schedules::state() const {
    std::vector<std::vector<double>> state;
    for (const auto& watcher : watchers_)
        state.push_back(watcher ? watcher->state() : std::vector<double>{});
    return state;
}

bool Schedules::set_state(const std::vector<std::vector<double>>& state) {
    if (state.size() != watchers_.size()) return false;
    const std::vector<std::vector<double>> before = this->state();
    bool fits = true;
    for (std::size_t i = 0; i < state.size(); ++i)
        fits = fits && (watchers_[i] ? watchers_[i]->set_state(state[i]) : state[i].empty());
    if (fits) return true;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (watchers_[i]) static_cast<void>(watchers_[i]->set_state(before[i]));
    }
    return false;
}

}  // namespace dtnn::runtime
