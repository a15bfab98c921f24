#pragma once
/// Which columns of a table are what, and the numbers in them.

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace dtnn::runtime {

/// The texts between the separators of a line.
using TableLine = std::vector<std::string_view>;

/// Columns by their names in the header, or, where there are none, by their numbers: from 1, or
/// from the end by -1, -2 and so on.
struct ColumnWish {
    std::vector<std::string> names;
    std::vector<std::int64_t> numbers;
    bool one = false;  ///< the dataset's fields are of one column: `group_name`, not `label_names`

    bool empty() const { return names.empty() && numbers.empty(); }
};

/// The columns that are wished for, from 0, in their order. `field` is what the dataset's fields of
/// names and numbers begin with ("label"); `model` is the table that the names are of, empty where
/// the dataset's fields say them. A column that `path` does not have is a RunError.
std::vector<std::size_t> find_columns(const TableLine& first, const ColumnWish& wish,
                                      const std::string& path, const char* field,
                                      const std::string& model = "");

/// The names of some columns; none where one of them has none, or shares it with another of
/// `among`.
std::vector<std::string> column_names(const TableLine& first,
                                      const std::vector<std::size_t>& columns,
                                      const std::vector<std::size_t>& among);

/// The whole of the text as a number, with a plus or a minus before it, and `decimal` before its
/// fraction: invalid_argument, or result_out_of_range.
std::errc parse_number(std::string_view text, char decimal, double& value);

}  // namespace dtnn::runtime
