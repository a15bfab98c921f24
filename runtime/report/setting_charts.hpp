#pragma once
/// What came of the settings that a sweep has swept.

#include <string>

#include "runtime/report/run_comparison.hpp"

namespace dtnn::runtime {

/// For each setting with several values a chart of the best loss against it, and one of the first
/// metric: numbers on an axis of numbers, a logarithmic one where they span decades, words beside
/// each other. A point for each run, a line through the means of runs that differ in seed or fold
/// alone, a ring around the best, or around each of those that tie. HTML; empty where there is
/// nothing to show.
std::string html_setting_charts(const Comparison& comparison);

}  // namespace dtnn::runtime
