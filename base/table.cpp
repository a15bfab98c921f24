#include "base/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/escape.hpp"
#include "base/text.hpp"

namespace dtnn {
namespace {

std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::size_t length = characters(text);
    const std::string blanks(width > length ? width - length : 0, ' ');
    return right ? blanks + text : text + blanks;
}

/// Line ends and control characters would break a line of text.
std::string on_one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    return text;
}

}  // namespace

std::string text_table(const Table& table, int width) {
    std::vector<std::size_t> widths;
    for (const Table::Column& column : table.columns)
        widths.push_back(characters(column.name));
    for (const auto& row : table.rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], characters(row[i]));
    std::string result;
    const auto add = [&](const std::vector<std::string>& row) {
        std::string line;
        std::size_t used = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string cell = on_one_line(row[i]);
            if (i + 1 < row.size()) {
                line += padded(cell, widths[i], table.columns[i].right) + "  ";
                used += widths[i] + 2;
                continue;
            }
            // A few letters of the last column say nothing; then the line may be long.
            constexpr std::size_t kLeast = 20;
            const auto room = std::size_t(std::max(0, width));
            const std::size_t left = std::max(kLeast, room > used ? room - used : 0);
            if (characters(cell) > left && !table.columns[i].right)
                line += cell.substr(0, byte_of_character(cell, left - 3)) + "...";
            else
                line += padded(cell, table.columns[i].right ? widths[i] : 0, true);
        }
        while (line.ends_with(' '))
            line.pop_back();
        result += line + "\n";
    };
    std::vector<std::string> names;
    for (const Table::Column& column : table.columns)
        names.push_back(column.name);
    add(names);
    for (const auto& row : table.rows)
        add(row);
    return result;
}

std::string markdown_table(const Table& table) {
    std::string result = "|", rule = "|";
    for (const Table::Column& column : table.columns) {
        result += fmt::format(" {} |", column.name);
        rule += column.right ? "---:|" : "---|";
    }
    result += "\n" + rule + "\n";
    for (const auto& row : table.rows) {
        result += "|";
        for (const std::string& cell : row) {
            std::string text;
            for (const char c : on_one_line(cell))
                text += c == '|' ? "\\|" : std::string(1, c);
            result += fmt::format(" {} |", text);
        }
        result += "\n";
    }
    return result;
}

std::string csv_table(const Table& table) {
    std::string result;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        result += (i == 0 ? "" : ",") + csv_quoted(table.columns[i].name);
    result += "\n";
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i)
            result += (i == 0 ? "" : ",") + csv_quoted(row[i]);
        result += "\n";
    }
    return result;
}

}  // namespace dtnn
