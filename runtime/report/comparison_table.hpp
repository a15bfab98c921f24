#pragma once
/// A comparison of runs (run_comparison.hpp) as text, for people and for programs.

#include <string>

#include "runtime/report/run_comparison.hpp"

namespace dtnn::runtime {

/// A line for each run: what it was set to, how far it came, its best values, those of the test
/// split, its state. Then mean and deviation of runs that repeat one experiment
/// (repeated_runs.hpp), and which run is best in each measure.
std::string comparison_text(const Comparison& comparison);

/// The differences between the plans, a line each: the values of the runs, what that means, and
/// why. Empty where there is none.
std::string differences_text(const Comparison& comparison);

/// A line for each run: run, the settings, state, epochs, epochs_planned, seconds, best.MEASURE and
/// best_epoch.MEASURE ..., test.MEASURE ..., trainable_parameters, arena_bytes, folder, error.
/// MEASURE is as "validation.loss". What a run does not have is an empty field. Behind them two
/// lines for runs that repeat one experiment, `mean` and `deviation` as run and state. (RFC 4180
/// with bare line feeds.)
std::string comparison_csv(const Comparison& comparison);

/// {"version": 1, "runs": [{"run", "folder", "settings": {...}, "state", "epochs",
/// "epochs_planned", "seconds", "best": {MEASURE: {"value", "epoch"}}, "test": {...},
/// "trainable_parameters", "arena_bytes", "error"}], "repeated": [{"over": [...], "settings",
/// "runs": [...], "values": {"best.MEASURE": {"mean", "deviation", "runs"}, "test.MEASURE": ...}}],
/// "best": {MEASURE: run},
/// "differences": [{"what", "meaning", "reason", "values": [...]}]}
std::string comparison_json(const Comparison& comparison);

/// "batch_size" of "training.batch_size", where that is no other's end.
std::string short_setting(const std::vector<std::string>& paths, const std::string& path);

/// The number as people read it: four digits.
std::string short_number(double value);

}  // namespace dtnn::runtime
