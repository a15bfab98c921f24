#pragma once
/// Runs of one experiment, which differ in the fold that is kept for validation, or in the seed:
/// their mean and deviation.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/report/run_comparison.hpp"

namespace dtnn::runtime {

/// Runs that are alike but for that.
struct RepeatedRuns {
    std::vector<std::string> settings;  ///< one for each of Comparison::settings; of those, empty
    std::vector<std::size_t> runs;      ///< places in Comparison::runs, two or more
};

struct Repetition {
    std::vector<std::string> over;  ///< the settings in which they differ: "training.fold"
    std::vector<RepeatedRuns> groups;
};

/// In the order of their first runs; no groups where nothing is repeated.
Repetition repeated_runs(const Comparison& comparison);

using RunValue = std::function<std::optional<double>(const ComparedRun&)>;

/// Of the runs that have the value.
struct RunSpread {
    std::size_t runs = 0;
    double mean = 0;
    double deviation = 0;  ///< of the sample, by runs - 1; 0 of one run
};
/// Nothing where no run has it.
std::optional<RunSpread> run_spread(const Comparison& comparison, const RepeatedRuns& group,
                                    const RunValue& value);

/// "0.9712 +- 0.0031"
std::string spread_text(const RunSpread& spread);

/// What a finished run has measured of the test split; nothing where it has not.
std::optional<double> tested_value(const ComparedRun& run, const std::string& name);

/// Every value that runs are compared by, as the JSON form calls it, and what gives it of a run.
template <class See>
void for_each_value(const Comparison& comparison, const See& see) {
    for (const ComparedMeasure& measure : comparison.measures)
        see("best." + measure.title(), RunValue([&](const ComparedRun& run) {
                const std::optional<BestValue> best = run.best(measure);
                return best ? std::optional(best->value) : std::nullopt;
            }));
    for (const std::string& name : comparison.tested)
        see("test." + name,
            RunValue([&](const ComparedRun& run) { return tested_value(run, name); }));
}

}  // namespace dtnn::runtime
