#pragma once
/// How a table is written, by its first lines.

#include <string>

#include "runtime/data/find_in_files.hpp"

namespace dtnn::runtime {

/// The share that is kept for the test where nobody has made a split.
inline constexpr double kTestShare = 0.2;

/// The fields of a dataset of the type `csv`: the table of the test, what stands between columns
/// and before fractions, whether there is a header, which column is the label, and what it holds.
/// RunError for what is no table.
RecognisedData recognise_table(const std::string& path);

}  // namespace dtnn::runtime
