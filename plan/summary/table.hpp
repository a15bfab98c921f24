#pragma once
/// The layer table as text, fitted to a width. Private to the summary.

#include <string>
#include <string_view>
#include <vector>

#include "plan/summary/columns.hpp"

namespace dtnn::plan {

/// When the table is too wide, texts are shortened at whole words; then columns are left out, from
/// the right, first those that nobody asked for (those not in `chosen`); then names are shortened
/// in the middle. Numbers and shapes are never cut: a table of indispensable columns may be wider
/// than asked. A line under the table names what was left out.
std::string summary_table(const Plan& plan, const std::vector<LayerFacts>& facts,
                          const std::vector<SummaryRow>& rows,
                          const std::vector<std::string>& columns,
                          const std::vector<std::string>& chosen, int width);

/// `label` and the text, broken behind commas, colons and semicolons; further lines are indented
/// under the first.
std::string wrapped(const std::string& label, const std::string& text, int width);

std::string_view title_of(const std::string& column);

}  // namespace dtnn::plan
