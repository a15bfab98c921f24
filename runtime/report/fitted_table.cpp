#include "runtime/report/fitted_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/escape.hpp"
#include "base/text.hpp"
#include "runtime/report/html_page.hpp"

namespace dtnn::runtime {
namespace {

/// The page's room in pixels (html_style.hpp), and at most what a letter and the space around a
/// cell take.
constexpr double kPageRoom = 1150, kCellLetter = 7.7, kCellSpace = 18;
/// The least that a name with its swatch takes, the swatch alone, and the most that a name takes
/// to stand in two lines.
constexpr double kNameRoom = 144, kNameSwatch = 32, kTwoLines = 220;
/// Texts of more characters may be broken anywhere, and are as wide as that then.
constexpr std::size_t kUnbroken = 11;
constexpr std::string_view kAnyBreak = "<span class=\"any\">";

/// How wide a piece of HTML is at least: `broken` where it may be broken (html_breakable).
double html_width(std::string_view html, bool broken) {
    if (html.starts_with(kAnyBreak)) return kCellLetter * double(kUnbroken);
    std::size_t letters = 0, most = 0;
    for (std::size_t i = 0; i < html.size(); ++i) {
        if (html[i] == '<') {
            if (broken && html.substr(i).starts_with("<wbr")) letters = 0;
            i = std::min(html.find('>', i), html.size());
            continue;
        }
        if (html[i] == '&') i = std::min(html.find(';', i), html.size() - 1);
        const bool inside = (static_cast<unsigned char>(html[i]) & 0xC0) == 0x80;  // of a character
        letters += std::size_t(!inside);
        if (broken && html[i] == ' ') letters = 0;
        most = std::max(most, letters);
    }
    return kCellLetter * double(most);
}

double head_width(const std::string& head) {
    return html_width(html_breakable(head), true);
}

double name_width(const RowName& name) {
    const double halved = std::min(kTwoLines, kCellLetter * double(characters(name.text)) / 2);
    return std::max(kNameRoom, kNameSwatch + std::max(halved, head_width(name.text)));
}

class FittedTable {
  public:
    FittedTable(const std::string& head, const std::vector<RowName>& rows,
                const std::vector<TableColumn>& columns)
        : head_(head), rows_(rows), columns_(columns) {}

    std::string write() const {
        double names = kCellSpace, width = 0;
        for (const RowName& row : rows_)
            names = std::max(names, kCellSpace + name_width(row));
        for (const TableColumn& column : columns_)
            width += column_width(column);
        if (names + width > kPageRoom && turned_width() <= kPageRoom) return turned();
        std::string text;
        for (std::size_t first = 0, end = 0; first < columns_.size(); first = end) {
            double used = names;
            for (end = first; end < columns_.size(); ++end) {
                used += column_width(columns_[end]);
                if (used > kPageRoom && end > first) break;
            }
            text += part(first, end);
        }
        return text;
    }

  private:
    static double column_width(const TableColumn& column) {
        double width = head_width(column.head);
        for (const std::string& cell : column.cells)
            width = std::max(width, html_width(cell, false));
        return width + kCellSpace;
    }

    double turned_width() const {
        double width = 0;
        for (const TableColumn& column : columns_)
            width = std::max(width, head_width(column.head));
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            double row = name_width(rows_[i]);
            for (const TableColumn& column : columns_)
                row = std::max(row, html_width(column.cells[i], false));
            width += row + kCellSpace;
        }
        return width + kCellSpace;
    }

    std::string part(std::size_t first, std::size_t end) const {
        std::vector<std::string> heads = {head_};
        for (std::size_t i = first; i < end; ++i)
            heads.push_back(columns_[i].head);
        CardTable table(heads, "numbers");
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            std::vector<std::string> cells = {rows_[row].html};
            for (std::size_t i = first; i < end; ++i)
                cells.push_back(columns_[i].cells[row]);
            table.add(cells);
        }
        return table.finish();
    }

    std::string turned() const {
        std::vector<std::string> heads = {head_}, links = {html_escaped(head_)};
        bool swatches = true;
        for (const RowName& row : rows_) {
            heads.push_back(row.text);
            links.push_back(row.html);
            swatches = swatches && !row.swatch.empty();
        }
        CardTable table(heads, swatches ? "numbers turned" : "numbers", links);
        for (const TableColumn& column : columns_) {
            std::vector<std::string> cells = {html_breakable(column.head)};
            for (std::size_t i = 0; i < rows_.size(); ++i)
                cells.push_back((swatches ? rows_[i].swatch : "") + column.cells[i]);
            table.add(cells);
        }
        return table.finish();
    }

    const std::string& head_;
    const std::vector<RowName>& rows_;
    const std::vector<TableColumn>& columns_;
};

}  // namespace

std::string html_fitted_table(const std::string& head, const std::vector<RowName>& rows,
                              const std::vector<TableColumn>& columns) {
    return FittedTable(head, rows, columns).write();
}

std::string html_any_break(const std::string& text) {
    if (characters(text) <= kUnbroken) return html_escaped(text);
    return fmt::format("{}{}</span>", kAnyBreak, html_escaped(text));
}

}  // namespace dtnn::runtime
