#include "runtime/train/learning_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/expression/postfix.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/base/component_fields.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

/// Updates before this batch's group, counted over the run.
double updates_before(const BatchPosition& position, const TrainingExtent& extent) {
    const std::int64_t of_epoch = position.batch / extent.accumulation;
    return double(position.epoch * extent.updates() + of_epoch);
}

double epochs_before(const BatchPosition& position, const TrainingExtent& extent) {
    return updates_before(position, extent) / double(extent.updates());
}

/// A minimum as a share of the base rate.
double share(double minimum, double base) {
    return base > 0 ? minimum / base : 0;
}

/// Epochs from `begin` on; `epochs: 0` is all that are left.
struct Span {
    double begin = 0;
    double epochs = 1;

    Span(const ComponentFields& fields, const TrainingExtent& extent)
        : begin(double(fields.whole("begin"))), epochs(double(fields.whole("epochs"))) {
        if (epochs == 0) epochs = std::max(1.0, double(extent.epochs) - begin);
    }
    /// 0 before, 1 behind.
    double done(double epoch) const { return std::clamp((epoch - begin) / epochs, 0.0, 1.0); }
};

RateFactor warm_up(const ComponentFields& fields, const TrainingExtent& extent, double) {
    const double from = fields.real("from");
    const auto rise = [from](double done, double all) {
        return done >= all ? 1.0 : from + (1 - from) * done / all;
    };
    if (const double batches = double(fields.whole("batches")); batches > 0) {
        return [=](const BatchPosition& position) {
            const std::int64_t group = position.batch / extent.accumulation * extent.accumulation;
            return rise(double(position.epoch * extent.batches + group), batches);
        };
    }
    const double epochs = double(fields.whole("epochs"));
    return [=](const BatchPosition& position) {
        return rise(epochs_before(position, extent), epochs);
    };
}

RateFactor multistep(const ComponentFields& fields, const TrainingExtent&, double) {
    return [epochs = fields.wholes("epochs"),
            factor = fields.real("factor")](const BatchPosition& position) {
        const auto begun = std::count_if(epochs.begin(), epochs.end(), [&](std::int64_t epoch) {
            return epoch <= position.epoch;
        });
        return std::pow(factor, double(begun));
    };
}

RateFactor reduce_every_n_epochs(const ComponentFields& fields, const TrainingExtent&,
                                 double base) {
    const std::int64_t epochs = std::max<std::int64_t>(1, fields.whole("epochs"));
    return [=, factor = fields.real("factor"),
            least = share(fields.real("minimum"), base)](const BatchPosition& position) {
        const std::int64_t times = position.epoch / epochs;
        return std::max(std::pow(factor, double(times)), std::min(1.0, least));
    };
}

RateFactor exponential(const ComponentFields& fields, const TrainingExtent& extent, double base) {
    const double begin = double(fields.whole("begin"));
    return [=, factor = fields.real("factor"),
            least = share(fields.real("minimum"), base)](const BatchPosition& position) {
        const double epochs = std::max(0.0, epochs_before(position, extent) - begin);
        return std::max(std::pow(factor, epochs), std::min(1.0, least));
    };
}

RateFactor cosine(const ComponentFields& fields, const TrainingExtent& extent, double base) {
    const Span span(fields, extent);
    return [=, least = share(fields.real("minimum"), base)](const BatchPosition& position) {
        const double done = span.done(epochs_before(position, extent));
        return least + (1 - least) * 0.5 * (1 + std::cos(std::numbers::pi * done));
    };
}

RateFactor polynomial(const ComponentFields& fields, const TrainingExtent& extent, double base) {
    const Span span(fields, extent);
    return [=, power = fields.real("power"),
            least = share(fields.real("minimum"), base)](const BatchPosition& position) {
        const double done = span.done(epochs_before(position, extent));
        return least + (1 - least) * std::pow(1 - done, power);
    };
}

RateFactor one_cycle(const ComponentFields& fields, const TrainingExtent& extent, double) {
    const std::int64_t epochs = fields.whole("epochs") > 0 ? fields.whole("epochs") : extent.epochs;
    const double last = double(epochs) * double(extent.updates()) - 1;
    // A rise of less than two updates has no way to go: the cycle begins at its top.
    const double top = std::max(0.0, fields.real("rise") * (last + 1) - 1);
    const double first = 1 / fields.real("start_divisor");
    const double end = first / fields.real("end_divisor");
    const bool linear = fields.chosen<plan::CycleShape>("shape") == plan::CycleShape::linear;
    const auto between = [linear](double from, double to, double part) {
        if (linear) return from + (to - from) * part;
        return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
    };
    return [=](const BatchPosition& position) {
        const double update = updates_before(position, extent);
        if (update < top) return between(first, 1, update / top);
        if (last <= top) return 1.0;
        return between(1, end, std::min(1.0, (update - top) / (last - top)));
    };
}

RateFactor formula(const ComponentFields& fields, const TrainingExtent& extent, double) {
    constexpr int kNames = 4;
    Postfix factor;
    const auto mistake = parse_postfix(fields.word("factor"), factor);
    if (mistake || factor.inputs > kNames || factor.depth > kMostEvaluatedDepth) {
        throw RunError(
            Exit::mismatch,
            fmt::format("the plan's schedule formula has a factor that is none: {}",
                        mistake ? mistake->reason : "it is too deep, or reads what there is not"),
            "compile the job again with the dtnnc of this version");
    }
    const auto epochs = double(extent.epochs), steps = epochs * double(extent.updates());
    return [=](const BatchPosition& position) {
        const std::array<double, kNames> names{double(position.epoch),
                                               updates_before(position, extent), epochs, steps};
        const double value = evaluate(factor, names);
        if (value >= 0 && std::isfinite(value)) return value;
        throw RunError(Exit::diverged,
                       fmt::format("the schedule formula gives the factor {} when epoch is {} and "
                                   "step is {}",
                                   value, names[0], names[1]),
                       "mend its formula: a factor is a finite number, 0 or more");
    };
}

bool never_spans(const ComponentFields&) {
    return false;
}

bool spans_by_default(const ComponentFields& fields) {
    return fields.whole("epochs") == 0;
}

bool formula_spans(const ComponentFields& fields) {
    Postfix factor;
    constexpr int kOfPosition = 2;  // x0 and x1
    return !parse_postfix(fields.word("factor"), factor) && factor.inputs > kOfPosition;
}

struct Entry {
    const char* type;
    RateFactor (*make)(const ComponentFields&, const TrainingExtent&, double base);
    bool (*spans)(const ComponentFields&);  ///< all epochs of the training
};
constexpr Entry kEntries[] = {{"warm_up", warm_up, never_spans},
                              {"multistep", multistep, never_spans},
                              {"reduce_every_n_epochs", reduce_every_n_epochs, never_spans},
                              {"exponential", exponential, never_spans},
                              {"cosine", cosine, spans_by_default},
                              {"polynomial", polynomial, spans_by_default},
                              {"one_cycle", one_cycle, spans_by_default},
                              {"formula", formula, formula_spans}};

}  // namespace

TrainingExtent extent_of(const plan::Plan& plan, int ranks) {
    TrainingExtent extent;
    extent.epochs = plan.training.epochs;
    extent.batches = std::max<std::int64_t>(1, plan::steps_per_epoch(plan, ranks));
    // The epoch's last batch ends its group in any case.
    extent.accumulation = std::clamp<std::int64_t>(plan.training.accumulation, 1, extent.batches);
    return extent;
}

bool spans_training(const plan::Component& component) {
    const auto* entry = std::find_if(std::begin(kEntries), std::end(kEntries),
                                     [&](const Entry& one) { return component.type == one.type; });
    return entry != std::end(kEntries) && entry->spans(ComponentFields(component));
}

std::optional<RateFactor> rate_factor(const plan::Component& component,
                                      const TrainingExtent& extent, double base) {
    for (const Entry& entry : kEntries) {
        if (component.type == entry.type)
            return entry.make(ComponentFields(component), extent, base);
    }
    return std::nullopt;
}

}  // namespace dtnn::runtime
