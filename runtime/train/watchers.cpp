#include "runtime/train/watchers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/text.hpp"
#include "plan/metrics.hpp"
#include "runtime/base/component_fields.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

constexpr const char* kValidation = "validation.";

/// Numbers of a state that count epochs.
bool are_counts(std::initializer_list<double> numbers) {
    constexpr double kMost = 1e15;
    return std::all_of(numbers.begin(), numbers.end(),
                       [](double x) { return x >= 0 && x <= kMost && x == std::floor(x); });
}

/// The best value so far and the epochs since.
struct Best {
    double value;
    std::int64_t epoch = 0;
    std::int64_t since = 0;
};

class ReduceOnPlateau final : public Watcher {
  public:
    ReduceOnPlateau(const plan::Component& component, const plan::Plan& plan)
        : watched_(component, plan),
          base_(plan.training.learning_rate),
          best_{watched_.worst()},
          rate_(base_) {
        const ComponentFields fields(component);
        factor_ = fields.real("factor");
        patience_ = fields.whole("patience");
        minimum_ = fields.real("minimum");
        cooldown_ = fields.whole("cooldown");
        threshold_ = fields.real("threshold");
    }

    void epoch_done(std::int64_t epoch, const EpochValues& values, EpochDecision&) override {
        const double value = watched_.of(values);
        const double margin =
            std::isfinite(best_.value) ? threshold_ * std::fabs(best_.value) : 0.0;
        if (watched_.better(value, best_.value, margin)) {
            best_ = {value, epoch, 0};
        } else {
            ++best_.since;
        }
        if (cooling_ > 0) {
            --cooling_;
            best_.since = 0;
        }
        if (best_.since <= patience_) return;
        rate_ = std::min(rate_, std::max(rate_ * factor_, minimum_));
        cooling_ = cooldown_;
        best_.since = 0;
    }
    double rate_factor() const override { return base_ > 0 ? rate_ / base_ : 1; }

    std::vector<double> state() const override {
        return {best_.value, double(best_.epoch), double(best_.since), double(cooling_), rate_};
    }
    bool set_state(const std::vector<double>& state) override {
        if (state.size() != 5 || !are_counts({state[1], state[2], state[3]})) return false;
        best_ = {state[0], std::int64_t(state[1]), std::int64_t(state[2])};
        cooling_ = std::int64_t(state[3]);
        rate_ = state[4];
        return true;
    }

  private:
    Watched watched_;
    double factor_ = 1, minimum_ = 0, threshold_ = 0, base_;
    std::int64_t patience_ = 0, cooldown_ = 0, cooling_ = 0;
    Best best_;
    double rate_;  ///< the base rate with all reductions
};

class EarlyStopping final : public Watcher {
  public:
    EarlyStopping(const plan::Component& component, const plan::Plan& plan, std::string key)
        : watched_(component, plan), key_(std::move(key)), best_{watched_.worst()} {
        const ComponentFields fields(component);
        patience_ = fields.whole("patience");
        threshold_ = fields.real("threshold");
        restore_ = fields.flag("restore_best");
    }

    void epoch_done(std::int64_t epoch, const EpochValues& values,
                    EpochDecision& decision) override {
        const double value = watched_.of(values);
        if (watched_.better(value, best_.value, threshold_)) {
            const std::int64_t before = best_.epoch;
            best_ = {value, epoch, 0};
            if (!restore_) return;
            BestWeights weights = best_weights();
            if (before > 0) weights.dropped = {before};
            decision.keep.push_back(std::move(weights));
            return;
        }
        if (++best_.since < patience_ || !decision.stop.empty()) return;
        decision.stop =
            best_.epoch > 0
                ? fmt::format("{} has not been better than {} for {} (early_stopping)",
                              watched_.name, best_.value, count_text(best_.since, "epoch"))
                : fmt::format("{} has been no number for {} epochs (early_stopping)", watched_.name,
                              best_.since);
    }
    void begin_again() override { best_.since = 0; }
    std::optional<BestWeights> restore_at_end() const override {
        if (!restore_ || best_.epoch == 0) return std::nullopt;
        return best_weights();
    }

    std::vector<KeptWeights> kept() const override {
        if (!restore_ || best_.epoch == 0) return {};
        return {{key_, best_.epoch}};
    }

    std::vector<double> state() const override {
        return {best_.value, double(best_.epoch), double(best_.since)};
    }
    bool set_state(const std::vector<double>& state) override {
        if (state.size() != 3 || !are_counts({state[1], state[2]})) return false;
        best_ = {state[0], std::int64_t(state[1]), std::int64_t(state[2])};
        return true;
    }

  private:
    BestWeights best_weights() const {
        return {key_, best_.epoch, watched_.name, best_.value, true, {}};
    }

    Watched watched_;
    std::string key_;
    std::int64_t patience_ = 0;
    double threshold_ = 0;
    bool restore_ = false;
    Best best_;
};

class StopAt final : public Watcher {
  public:
    StopAt(const plan::Component& component, const plan::Plan& plan)
        : watched_(component, plan), threshold_(ComponentFields(component).real("threshold")) {}

    void epoch_done(std::int64_t, const EpochValues& values, EpochDecision& decision) override {
        const double value = watched_.of(values);
        const bool reached = watched_.maximize ? value >= threshold_ : value <= threshold_;
        if (!reached || !decision.stop.empty()) return;
        decision.stop = fmt::format("{} is {}, the threshold is {} (stop_at)", watched_.name, value,
                                    threshold_);
    }

  private:
    Watched watched_;
    double threshold_;
};

class ModelCheckpoint final : public Watcher {
  public:
    ModelCheckpoint(const plan::Component& component, const plan::Plan& plan, std::string key)
        : watched_(component, plan), key_(std::move(key)) {
        const ComponentFields fields(component);
        every_ = std::max<std::int64_t>(1, fields.whole("every_epochs"));
        most_ = std::size_t(std::max<std::int64_t>(1, fields.whole("keep")));
    }

    void epoch_done(std::int64_t epoch, const EpochValues& values,
                    EpochDecision& decision) override {
        const double value = watched_.of(values);
        if (epoch % every_ != 0 || std::isnan(value)) return;
        // The best first; the earlier one of two that are equal.
        const auto place = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
            return watched_.better(value, kept.value);
        });
        if (place == kept_.end() && kept_.size() >= most_) return;
        kept_.insert(place, {value, epoch});
        BestWeights weights{key_, epoch, watched_.name, value, false, {}};
        while (kept_.size() > most_) {
            weights.dropped.push_back(kept_.back().epoch);
            kept_.pop_back();
        }
        decision.keep.push_back(std::move(weights));
    }

    std::vector<KeptWeights> kept() const override {
        std::vector<KeptWeights> weights;
        for (const Kept& one : kept_)
            weights.push_back({key_, one.epoch});
        return weights;
    }

    std::vector<double> state() const override {
        std::vector<double> state;
        for (const Kept& kept : kept_) {
            state.push_back(kept.value);
            state.push_back(double(kept.epoch));
        }
        return state;
    }
    bool set_state(const std::vector<double>& state) override {
        if (state.size() % 2 != 0 || state.size() / 2 > most_) return false;
        for (std::size_t i = 1; i < state.size(); i += 2) {
            if (!are_counts({state[i]})) return false;
        }
        kept_.clear();
        for (std::size_t i = 0; i < state.size(); i += 2)
            kept_.push_back({state[i], std::int64_t(state[i + 1])});
        return true;
    }

  private:
    struct Kept {
        double value;
        std::int64_t epoch;
    };

    Watched watched_;
    std::string key_;
    std::int64_t every_ = 1;
    std::size_t most_ = 1;
    std::vector<Kept> kept_;
};

}  // namespace

Watched::Watched(const plan::Component& component, const plan::Plan& plan) {
    const ComponentFields fields(component);
    name = fields.word("metric");
    const auto refuse = [&](const std::string& why) {
        throw RunError(Exit::mismatch,
                       fmt::format("`{}` watches `{}`; {}", component.type, name, why),
                       "compile the job again with the dtnnc of this version");
    };
    std::string metric = name;
    if (name.starts_with(kValidation)) {
        metric = name.substr(std::string(kValidation).size());
        if (plan.dataset.validation_samples == 0) refuse("the plan has no validation samples");
    }
    const plan::Metric* measured = nullptr;
    if (metric != plan::kLossName) {
        const auto found =
            std::find_if(plan.training.metrics.begin(), plan.training.metrics.end(),
                         [&](const plan::Metric& candidate) { return candidate.name == metric; });
        if (found == plan.training.metrics.end()) {
            refuse("the plan does not compute it");
        } else if (plan::is_one_number(*found)) {
            measured = &*found;
        } else {
            refuse("it is not one number");
        }
        if (metric == name && plan::find_metric(measured->type)->join == plan::MetricJoin::scores)
            refuse("it is measured on validation samples only");
    }
    const auto direction = fields.chosen<plan::Direction>("direction");
    maximize = direction == plan::Direction::automatic
                   ? measured != nullptr && plan::higher_is_better(*measured)
                   : direction == plan::Direction::maximize;
}

double Watched::of(const EpochValues& values) const {
    const auto found = values.find(name);
    if (found != values.end()) return found->second;
    throw RunError(Exit::mismatch,
                   fmt::format("a schedule watches `{}`, which is not one number an epoch", name),
                   "name a metric that is, in the training's schedules");
}

bool Watched::better(double value, double other, double margin) const {
    return maximize ? value > other + margin : value < other - margin;
}

double Watched::worst() const {
    const double infinity = std::numeric_limits<double>::infinity();
    return maximize ? -infinity : infinity;
}

std::unique_ptr<Watcher> make_watcher(const plan::Component& component, const plan::Plan& plan,
                                      const std::string& key) {
    // Types are compared here alone: the front end's table says what fields each has.
    if (component.type == "reduce_on_plateau")
        return std::make_unique<ReduceOnPlateau>(component, plan);
    if (component.type == "early_stopping")
        return std::make_unique<EarlyStopping>(component, plan, key);
    if (component.type == "stop_at") return std::make_unique<StopAt>(component, plan);
    if (component.type == "model_checkpoint")
        return std::make_unique<ModelCheckpoint>(component, plan, key);
    return nullptr;
}

}  // namespace dtnn::runtime
