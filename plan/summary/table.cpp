#include "plan/summary/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace dtnn::plan {

namespace {

constexpr std::size_t kGap = 2;  // between columns
constexpr const char* kMore = "...";

// "bias=true ...": whole words only, so that no number is cut.
std::string first_words(const std::string& text, std::size_t width, char separator) {
    if (characters(text) <= width) return text;
    if (width < 4) return std::string(kMore).substr(0, width);
    // One column for what separates words, three for the dots.
    const std::size_t limit = byte_of_character(text, width - 3);
    const std::size_t end = limit == 0 ? std::string::npos : text.rfind(separator, limit - 1);
    return end == std::string::npos ? kMore : text.substr(0, end + 1) + kMore;
}

// "squeeze_...pool2d_1": both ends tell names apart.
std::string without_middle(const std::string& text, std::size_t width) {
    const std::size_t length = characters(text);
    if (length <= width) return text;
    if (width < 5) return text.substr(0, byte_of_character(text, width));
    const std::size_t tail = (width - 3) / 2, head = width - 3 - tail;
    return text.substr(0, byte_of_character(text, head)) + kMore +
           text.substr(byte_of_character(text, length - tail));
}

struct TableColumn {
    std::string name;
    ColumnLayout layout;
    std::vector<std::string> cells;  ///< the title first
    std::size_t width = 0;
    bool shown = true;
};

std::string fitted(const TableColumn& column, const std::string& cell) {
    if (column.layout.least == 0) return cell;
    if (column.layout.has_names) return without_middle(cell, column.width);
    const std::string words = first_words(cell, column.width, column.layout.separator);
    const bool alone = words == kMore;
    return alone && column.layout.alone == ColumnLayout::Alone::loses_middle
               ? without_middle(cell, column.width)
               : words;
}

std::size_t total_width(const std::vector<TableColumn>& columns) {
    std::size_t total = 0;
    for (const TableColumn& column : columns)
        if (column.shown) total += column.width + (total ? kGap : 0);
    return total;
}

void shrink(TableColumn& column, std::size_t excess) {
    const std::size_t least = std::max(column.layout.least, characters(column.cells[0]));
    if (column.width <= least) return;
    const std::size_t room = column.width - least;
    column.width -= std::min(room, excess);
}

std::size_t excess_of(const std::vector<TableColumn>& columns, std::size_t width) {
    const std::size_t total = total_width(columns);
    return total > width ? total - width : 0;
}

void fit(std::vector<TableColumn>& columns, const std::vector<std::string>& chosen,
         std::size_t width) {
    auto shrink_texts = [&](bool names) {
        for (std::size_t i = columns.size(); i-- > 0;)
            if (columns[i].shown && columns[i].layout.least > 0 &&
                columns[i].layout.has_names == names)
                if (std::size_t excess = excess_of(columns, width)) shrink(columns[i], excess);
    };
    shrink_texts(false);
    // Columns that were not asked for go first: of the usual ones, those that say least.
    std::vector<std::string> order = {"attributes", "weights_shape", "type"};
    std::erase_if(order, [&](const std::string& name) {
        return std::find(chosen.begin(), chosen.end(), name) != chosen.end();
    });
    auto leave_out = [&](const std::string& name) {
        for (TableColumn& column : columns)
            if (column.name == name && !column.layout.indispensable && excess_of(columns, width))
                column.shown = false;
    };
    for (const std::string& name : order)
        leave_out(name);
    if (excess_of(columns, width)) shrink_texts(true);
    for (std::size_t i = columns.size(); i-- > 0;)
        if (excess_of(columns, width) && !columns[i].layout.indispensable) columns[i].shown = false;
    // Less room was needed than the shortest texts gave up.
    for (TableColumn& column : columns) {
        if (!column.shown || column.layout.least == 0) continue;
        std::size_t longest = 0;
        for (const std::string& cell : column.cells)
            longest = std::max(longest, characters(cell));
        const std::size_t total = total_width(columns);
        if (total < width) column.width = std::min(longest, column.width + (width - total));
    }
}

std::string table_cell(const SummaryRow& row, const std::string& column, std::string text) {
    if (!layout_of(column).has_names) return text;
    const std::string indent(static_cast<std::size_t>(2 * row.depth), ' ');
    return indent + row.own_name + (row.kind == SummaryRow::Kind::heading ? "/" : "");
}

}  // namespace

std::string_view title_of(const std::string& column) {
    for (const SummaryColumn& known : summary_columns())
        if (known.name == column) return known.title;
    return "";
}

std::string summary_table(const Plan& plan, const std::vector<LayerFacts>& facts,
                          const std::vector<SummaryRow>& rows,
                          const std::vector<std::string>& columns,
                          const std::vector<std::string>& chosen, int width) {
    std::vector<TableColumn> table;
    for (const std::string& name : columns) {
        TableColumn column{name, layout_of(name), {std::string(title_of(name))}, 0, true};
        for (const SummaryRow& row : rows)
            column.cells.push_back(table_cell(row, name, cell_of(plan, facts, row, name).text));
        for (const std::string& cell : column.cells)
            column.width = std::max(column.width, characters(cell));
        table.push_back(std::move(column));
    }
    fit(table, chosen, std::size_t(std::max(width, 0)));

    std::string text;
    for (std::size_t r = 0; r <= rows.size(); ++r) {
        std::string line;
        for (const TableColumn& column : table) {
            if (!column.shown) continue;
            const std::string cell = fitted(column, column.cells[r]);
            const std::string padding(column.width - std::min(column.width, characters(cell)), ' ');
            if (!line.empty()) line += std::string(kGap, ' ');
            line += column.layout.right ? padding + cell : cell + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        if (r == 0) text += std::string(total_width(table), '-') + "\n";
    }
    std::vector<std::string_view> left_out;
    for (const TableColumn& column : table)
        if (!column.shown) left_out.push_back(title_of(column.name));
    if (!left_out.empty())
        text +=
            wrapped("left out    ", fmt::format("{} (no room)", fmt::join(left_out, ", ")), width);
    return text;
}

std::string wrapped(const std::string& label, const std::string& text, int width) {
    const std::string indent(characters(label), ' ');
    std::string result, line = label;
    bool empty = true;
    for (std::size_t begin = 0; begin < text.size();) {
        // Up to a comma, colon or semicolon that a space follows.
        std::size_t end = begin;
        do
            end = text.find_first_of(",:;", end) == std::string::npos
                      ? text.size()
                      : text.find_first_of(",:;", end) + 1;
        while (end < text.size() && text[end] != ' ');
        const std::string part = text.substr(begin, end - begin);
        if (!empty && characters(line) + 1 + characters(part) > std::size_t(std::max(width, 0))) {
            result += line + "\n";
            line = indent + part;
        } else {
            line += (empty ? "" : " ") + part;
        }
        empty = false;
        begin = end < text.size() ? end + 1 : end;
    }
    return result + line + "\n";
}

}  // namespace dtnn::plan
