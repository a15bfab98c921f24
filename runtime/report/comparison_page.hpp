#pragma once
/// A comparison of runs (run_comparison.hpp) as one page for a browser: curves over each other, the
/// table of the runs with the best values, what their plans differ in, what to do next. No script,
/// nothing loaded from elsewhere.

#include <string>

#include "runtime/report/run_comparison.hpp"

namespace dtnn::runtime {

/// `path` is the page's file: links to the pages of the runs, where there are any, are relative to
/// its folder.
std::string comparison_page(const Comparison& comparison, const std::string& path);

}  // namespace dtnn::runtime
