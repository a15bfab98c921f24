#include "compiler/frontend/yaml/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace dtnn::compiler {
namespace {

/// Brackets are followed this far: no excerpt is as wide, and files of one line stay linear.
constexpr std::size_t kBracketBytes = 4096;

/// The end of the quoted text that begins at `begin`, or the line's end.
std::size_t end_of_quotes(std::string_view line, std::size_t begin) {
    const char quote = line[begin];
    for (std::size_t i = begin + 1; i < line.size(); ++i) {
        // In single quotes a doubled quote is one of the text.
        const bool doubled = quote == '\'' && line.substr(i).starts_with("''");
        if (doubled || (quote == '"' && line[i] == '\\'))
            ++i;
        else if (line[i] == quote)
            return i + 1;
    }
    return line.size();
}

/// The end of the bracketed value that begins at `begin`; just its bracket when it does not close
/// on this line, or far away.
std::size_t end_of_brackets(std::string_view line, std::size_t begin) {
    line = line.substr(0, begin + kBracketBytes);
    int depth = 0;
    for (std::size_t i = begin; i < line.size(); ++i) {
        const char c = line[i];
        const bool starts_word =
            i > 0 && std::string_view(" [{,:").find(line[i - 1]) != std::string_view::npos;
        if ((c == '"' || c == '\'') && starts_word) {
            i = end_of_quotes(line, i) - 1;
        } else if (c == '[' || c == '{') {
            ++depth;
        } else if ((c == ']' || c == '}') && --depth == 0) {
            return i + 1;
        }
    }
    return begin + 1;
}

}  // namespace

SourceText::SourceText(std::string name, const std::string& text)
    : name_(std::move(name)), text_(text), starts_{0} {
    int characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i % kCountedBytes == 0) counts_.push_back(characters);
        characters += begins_character(text[i]) ? 1 : 0;
        if (text[i] == '\n') starts_.push_back(i + 1);
    }
    counts_.push_back(characters);
}

int SourceText::characters_before(std::size_t offset) const {
    const std::size_t counted = offset / kCountedBytes;
    int characters = counts_[counted];
    for (std::size_t i = counted * kCountedBytes; i < offset; ++i)
        characters += begins_character(text_[i]) ? 1 : 0;
    return characters;
}

std::string_view SourceText::line(int index) const {
    if (index < 0 || std::size_t(index) >= starts_.size()) return {};
    const auto at = std::size_t(index);
    const std::size_t begin = starts_[at];
    const std::size_t end = at + 1 < starts_.size() ? starts_[at + 1] - 1 : text_.size();
    std::string_view rest = std::string_view(text_).substr(begin, end - begin);
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    return rest;
}

Span SourceText::span(int index, std::size_t begin, std::size_t end) const {
    const std::size_t length = line(index).size();
    begin = std::min(begin, length);
    end = std::clamp(end, begin, length);
    const bool there = index >= 0 && std::size_t(index) < starts_.size();
    const std::size_t start = there ? starts_[std::size_t(index)] : 0;
    const int first = characters_before(start + begin);
    return {{name_, index + 1, first - characters_before(start) + 1},
            std::max(1, characters_before(start + end) - first)};
}

Span SourceText::mark(int index, int column) const {
    // Errors at the end of the file carry marks behind its last line, or none.
    if (index < 0) {
        index = int(starts_.size()) - 1;
        column = int(line(index).size());
    }
    index = std::clamp(index, 0, int(starts_.size()) - 1);
    while (index > 0 && line(index).empty() && column == 0) {
        --index;
        column = int(line(index).size());
    }
    const auto begin = std::size_t(std::max(0, column));
    return span(index, begin, begin + 1);
}

Span SourceText::word(int index, int column) const {
    const std::string_view all = line(index);
    const std::size_t begin = std::min(std::size_t(std::max(0, column)), all.size());
    return span(index, begin, std::min(all.find_first_of(" ,]}", begin), all.size()));
}

Span SourceText::token(int index, int column, const std::string& value) const {
    const std::string_view all = line(index);
    std::size_t begin = std::min(std::size_t(std::max(0, column)), all.size());
    while (begin < all.size() && (all[begin] == '&' || all[begin] == '!')) {
        const std::size_t blank = all.find(' ', begin);
        if (blank == std::string_view::npos) break;
        begin = std::min(all.find_first_not_of(' ', blank), all.size());
    }
    if (begin >= all.size()) return mark(index, column);
    const char first = all[begin];
    if (first == '"' || first == '\'') return span(index, begin, end_of_quotes(all, begin));
    if (first == '[' || first == '{') return span(index, begin, end_of_brackets(all, begin));
    if (!value.empty() && all.substr(begin).starts_with(value))
        return span(index, begin, begin + value.size());
    return span(index, begin, std::min(all.find_first_of(" :,", begin), all.size()));
}

Span SourceText::literal_null(int index, int column) const {
    const std::string_view all = line(index);
    const auto begin = std::size_t(std::max(0, column));
    if (begin < all.size())
        for (const std::string_view word : {"null", "Null", "NULL", "~"})
            if (all.substr(begin).starts_with(word)) return span(index, begin, begin + word.size());
    return {};
}

Span SourceText::dash_before(int index, int column) const {
    for (; index >= 0; --index, column = -1) {
        std::string_view all = line(index);
        // The text before a mark on its own line is no comment.
        if (column >= 0)
            all = all.substr(0, std::size_t(column));
        else
            all = all.substr(0, all.find(" #"));
        const std::size_t last = all.find_last_not_of(' ');
        if (last == std::string_view::npos) continue;
        if (column < 0 && all[all.find_first_not_of(' ')] == '#') continue;
        return all[last] == '-' ? span(index, last, last + 1) : Span{};
    }
    return {};
}

bool SourceText::quotes_close(int index, int column) const {
    std::size_t at = starts_[std::size_t(index)] + std::size_t(column);
    at = text_.find_first_of("\"'|>", at);
    if (at == std::string::npos) return false;
    // A block of text, `|` or `>`, ends with its indentation.
    if (text_[at] == '|' || text_[at] == '>') return true;
    const char quote = text_[at];
    for (++at; at < text_.size(); ++at) {
        const bool doubled = quote == '\'' && text_.compare(at, 2, "''") == 0;
        if (doubled || (quote == '"' && text_[at] == '\\'))
            ++at;
        else if (text_[at] == quote)
            return true;
    }
    return false;
}

bool SourceText::check_encoding(Diagnostics& diagnostics) const {
    for (std::size_t i = 0; i < text_.size();) {
        const auto byte = static_cast<unsigned char>(text_[i]);
        const std::size_t length = utf8_length(std::string_view(text_).substr(i));
        const bool control =
            (byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') || byte == 0x7F;
        if (length == 0 || control) {
            const auto next = std::upper_bound(starts_.begin(), starts_.end(), i);
            const auto index = int(next - starts_.begin()) - 1;
            const std::size_t column = i - starts_[std::size_t(index)];
            diagnostics.error(
                Code::bad_encoding, span(index, column, column + 1),
                fmt::format("{} 0x{:02x}; specs are UTF-8 text",
                            control ? "the control character" : "the invalid byte", byte),
                "save the file as UTF-8");
            return false;
        }
        i += length;
    }
    return true;
}

bool SourceText::check_tabs(Diagnostics& diagnostics) const {
    int first = -1;
    std::size_t first_column = 0;
    int lines = 0;
    for (int index = 0; index < int(starts_.size()); ++index) {
        const std::string_view all = line(index);
        const std::size_t end = all.find_first_not_of(" \t");
        if (end == std::string_view::npos || all[end] == '#') continue;
        const std::size_t tab = all.find('\t');
        if (tab >= end) continue;
        if (lines++ == 0) {
            first = index;
            first_column = tab;
        }
    }
    if (lines == 0) return true;
    diagnostics.error(Code::tab_indentation, span(first, first_column, first_column + 1),
                      lines == 1
                          ? "the line is indented with a tab"
                          : fmt::format("{} lines are indented with tabs, the first here", lines),
                      "indent with spaces");
    return false;
}

}  // namespace dtnn::compiler
