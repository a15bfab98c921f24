#pragma once
/// How a table is written, and what its columns hold.

#include <string>

#include "runtime/data/find_in_files.hpp"

namespace dtnn::runtime {

/// The share that is kept for the test where nobody has made a split.
inline constexpr double kTestShare = 0.2;

/// The fields of a dataset of the type `csv`: the table of the test, what stands between columns
/// and before fractions, whether there is a header, which column is the label, and what it holds;
/// which are left out (numbers of lines, dates, texts that come once) or categories, and what fills
/// in for what is missing. Nothing of columns that are known. RunError for what is no table.
RecognisedData recognise_table(const std::string& path, const KnownColumns& known);

}  // namespace dtnn::runtime
