#pragma once
/// Rows of text in the forms that commands print them: aligned for people, as Markdown, as CSV.

#include <string>
#include <vector>

namespace dtnn {

struct Table {
    struct Column {
        std::string name;
        bool right = false;  ///< numbers
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;  ///< as many cells as columns
};

/// Columns two blanks apart. The last one is cut where lines would be longer than `width`.
std::string text_table(const Table& table, int width);
std::string markdown_table(const Table& table);
/// RFC 4180, with LF: quotes where a cell holds a comma, a quote or a line's end.
std::string csv_table(const Table& table);

}  // namespace dtnn
