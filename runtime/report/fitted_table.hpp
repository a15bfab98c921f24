#pragma once
/// A table that is no wider than a page.

#include <string>
#include <vector>

namespace dtnn::runtime {

struct RowName {
    std::string text;
    std::string html;
    std::string swatch = {};  ///< HTML that stands for it where there is little room; may be empty
};

struct TableColumn {
    std::string head;                ///< text
    std::vector<std::string> cells;  ///< HTML, one for each row
};

/// Where the columns have no room beside each other, the table is turned round (so it fits where
/// rows are few), or else its columns go on in another table below, behind the same names.
std::string html_fitted_table(const std::string& head, const std::vector<RowName>& rows,
                              const std::vector<TableColumn>& columns);

/// A cell's text that may be broken where it is long.
std::string html_any_break(const std::string& text);

}  // namespace dtnn::runtime
