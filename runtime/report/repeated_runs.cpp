#include "runtime/report/repeated_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "runtime/report/comparison_table.hpp"

namespace dtnn::runtime {
namespace {

/// Settings whose values are no choice of one over another.
constexpr std::array<std::string_view, 2> kRepeats = {"training.fold", "training.seed"};

}  // namespace

Repetition repeated_runs(const Comparison& comparison) {
    Repetition result;
    std::vector<bool> repeats;
    for (const std::string& path : comparison.settings) {
        repeats.push_back(std::find(kRepeats.begin(), kRepeats.end(), path) != kRepeats.end());
        if (repeats.back()) result.over.push_back(path);
    }
    if (result.over.empty()) return result;
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
        std::vector<std::string> settings = comparison.runs[i].settings;
        settings.resize(comparison.settings.size());
        for (std::size_t k = 0; k < settings.size(); ++k)
            if (repeats[k]) settings[k].clear();
        const auto found =
            std::find_if(result.groups.begin(), result.groups.end(),
                         [&](const RepeatedRuns& group) { return group.settings == settings; });
        if (found == result.groups.end())
            result.groups.push_back({std::move(settings), {i}});
        else
            found->runs.push_back(i);
    }
    std::erase_if(result.groups, [](const RepeatedRuns& group) { return group.runs.size() < 2; });
    return result;
}

std::optional<RunSpread> run_spread(const Comparison& comparison, const RepeatedRuns& group,
                                    const RunValue& value) {
    RunSpread spread;
    double squares = 0;
    for (const std::size_t run : group.runs) {
        const std::optional<double> one = value(comparison.runs[run]);
        if (!one) continue;
        ++spread.runs;
        const double apart = *one - spread.mean;
        spread.mean += apart / double(spread.runs);
        squares += apart * (*one - spread.mean);
    }
    if (spread.runs == 0) return std::nullopt;
    if (spread.runs > 1) spread.deviation = std::sqrt(squares / double(spread.runs - 1));
    return spread;
}

std::string spread_text(const RunSpread& spread) {
    return fmt::format("{} +- {}", short_number(spread.mean),
                       fmt::format("{:.2g}", spread.deviation));
}

std::optional<double> tested_value(const ComparedRun& run, const std::string& name) {
    const auto found = run.history.test.numbers.find(name);
    if (run.state != RunState::finished || found == run.history.test.numbers.end())
        return std::nullopt;
    return found->second;
}

}  // namespace dtnn::runtime
