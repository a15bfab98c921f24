#include "runtime/report/html_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/escape.hpp"
#include "base/text.hpp"
#include "runtime/report/html_style.hpp"

namespace dtnn::runtime {

std::string rounded(double value) {
    return fmt::format("{:.4g}", value);
}

std::string whole_text(double value) {
    constexpr double kMostGrouped = 1e15;
    return std::abs(value) < kMostGrouped ? grouped(std::llround(value)) : rounded(value);
}

std::string html_page(const std::string& title, const std::string& head,
                      const std::vector<HtmlSection>& sections) {
    std::string links, content;
    for (const HtmlSection& one : sections) {
        if (one.content.empty()) continue;
        links += fmt::format("<a href=\"#{}\">{}</a>\n", one.id, one.title);
        content += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", one.id,
                               one.title, one.content);
    }
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}<nav>\n{}</nav>\n{}</body>\n"
        "</html>\n",
        html_escaped(title), kReportStyle, head, links, content);
}

std::string html_row_of(const std::vector<std::string>& cells, const char* tag,
                        const std::string& attributes) {
    std::string text = attributes.empty() ? "<tr>" : fmt::format("<tr {}>", attributes);
    for (const std::string& cell : cells)
        text += fmt::format("<{0}>{1}</{0}>", tag, cell);
    return text + "</tr>\n";
}

std::string html_breakable(const std::string& text) {
    constexpr std::size_t kShortestEnd = 4;
    std::string result, part;
    for (std::size_t i = 0; i < text.size(); ++i) {
        part += text[i];
        if (text[i] != '_' && text[i] != '.' && text[i] != '/') continue;
        if (i + kShortestEnd >= text.size()) continue;
        const char next = text[i + 1];
        if (!((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z'))) continue;
        result += html_escaped(part) + "<wbr/>";
        part.clear();
    }
    return result + html_escaped(part);
}

std::string html_lines(const std::string& text) {
    std::string result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        result += html_escaped(text.substr(begin, end - begin)) + "\n";
        begin = end + 1;
    }
    return result;
}

std::string html_row(const std::vector<std::string>& cells, const char* tag) {
    std::vector<std::string> escaped;
    for (const std::string& cell : cells)
        escaped.push_back(html_breakable(cell));
    return html_row_of(escaped, tag);
}

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
    std::string text = "<dl>\n";
    for (const auto& [name, value] : facts)
        text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html_breakable(name),
                            html_breakable(value));
    return text + "</dl>\n";
}

std::string html_table(const std::string& style, const std::string& rows) {
    return fmt::format("<div class=\"wide\"><table class=\"{}\">\n{}</table></div>\n", style, rows);
}

std::string html_aligned_table(const std::string& text) {
    constexpr std::size_t kMostColumns = 20;
    std::string rows;
    std::vector<std::size_t> ends;  // of the heads
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> words;
        std::vector<std::size_t> word_ends;
        for (std::size_t begin = 0; (begin = line.find_first_not_of(' ', begin)) < line.size();) {
            const std::size_t end = std::min(line.find("  ", begin), line.size());
            words.push_back(line.substr(begin, end - begin));
            word_ends.push_back(end);
            begin = end;
        }
        if (words.empty()) continue;
        if (words.size() > kMostColumns) return "";
        if (rows.empty()) {
            ends = word_ends;
            rows = html_row(words, "th");
            continue;
        }
        // A line with a word for each head needs no places: large values have moved its ends.
        std::vector<std::string> cells(ends.size());
        for (std::size_t i = 0; i < words.size(); ++i) {
            const auto column = i == 0 || words.size() == ends.size()
                                    ? ends.begin() + std::ptrdiff_t(i)
                                    : std::find(ends.begin() + 1, ends.end(), word_ends[i]);
            if (column == ends.end()) return "";
            cells[std::size_t(column - ends.begin())] = words[i];
        }
        rows += html_row(cells);
    }
    return rows.empty() ? "" : html_table("numbers", rows);
}

CardTable::CardTable(std::vector<std::string> heads, const std::string& style,
                     const std::vector<std::string>& links)
    : heads_(std::move(heads)), style_(style + " cards"), rows_("<tr class=\"head\">") {
    for (std::size_t i = 0; i < heads_.size(); ++i)
        rows_ +=
            fmt::format("<th>{}</th>", i < links.size() ? links[i] : html_breakable(heads_[i]));
    rows_ += "</tr>\n";
}

void CardTable::add(const std::vector<std::string>& cells, bool soft) {
    rows_ += soft ? "<tr class=\"soft\">" : "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const bool headed = i > 0 && i < heads_.size() && !cells[i].empty();
        rows_ += headed ? fmt::format("<td data-head=\"{}\">", html_escaped(heads_[i])) : "<td>";
        rows_ += cells[i] + "</td>";
    }
    rows_ += "</tr>\n";
}

std::string CardTable::finish() const {
    return html_table(style_, rows_);
}

std::string html_details(const std::string& summary, const std::string& content) {
    return fmt::format("<details open>\n<summary>{}</summary>\n{}</details>\n",
                       html_escaped(summary), content);
}

std::string command_word(const std::string& text) {
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '.' || c == '_' || c == '-' || c == '+' || c == '=';
    });
    return plain ? text : shell_quoted(text);
}

std::string html_commands(const std::vector<std::pair<std::string, std::string>>& commands) {
    std::string text;
    for (const auto& [what, command] : commands)
        text += fmt::format("<p>{}</p>\n<pre class=\"command\">{}</pre>\n", html_escaped(what),
                            html_escaped(command));
    return text;
}

}  // namespace dtnn::runtime
