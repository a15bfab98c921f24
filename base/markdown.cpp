#include "base/markdown.hpp"

#include <algorithm>
#include <vector>

namespace dtnn {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::size_t indent_of(std::string_view line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

bool is_fence(std::string_view line) {
    return line.substr(indent_of(line)).starts_with("```");
}

/// The bytes of "- " or "12. " behind the indentation; 0: no item begins here.
std::size_t mark_of(std::string_view line) {
    const std::string_view rest = line.substr(indent_of(line));
    if (rest.starts_with("- ") || rest.starts_with("* ")) return 2;
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    return digits > 0 && rest.substr(digits).starts_with(". ") ? digits + 2 : 0;
}

/// The line is one that must not be broken.
bool stands_alone(std::string_view line) {
    const std::string_view rest = line.substr(indent_of(line));
    return rest.empty() || std::string_view("#|><").find(rest.front()) != std::string_view::npos;
}

/// Parts at blanks, but not inside of backticks or of a link.
std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    std::size_t begin = 0;
    bool code = false;
    int link = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ' ';
        if (c == '`') code = !code;
        if (!code && (c == '[' || c == '(')) ++link;
        if (!code && (c == ']' || c == ')') && link > 0) --link;
        // Parentheses of ordinary text may be parted.
        const bool in_link = link > 0 && text.substr(begin, i - begin).find('[') != text.npos;
        if (i < text.size() && (c != ' ' || code || in_link)) continue;
        if (i > begin) words.push_back(text.substr(begin, i - begin));
        begin = i + 1;
    }
    return words;
}

}  // namespace

std::string wrap_markdown(std::string_view text, std::size_t columns) {
    const std::vector<std::string_view> lines = lines_of(text);
    std::string result;
    bool code = false;
    for (std::size_t at = 0; at < lines.size();) {
        const std::string_view first = lines[at];
        if (is_fence(first)) code = !code;
        if (code || is_fence(first) || stands_alone(first)) {
            result.append(first).append("\n");
            ++at;
            continue;
        }
        std::size_t end = at + 1;
        while (end < lines.size() && !stands_alone(lines[end]) && !is_fence(lines[end]) &&
               mark_of(lines[end]) == 0)
            ++end;
        const bool wraps =
            std::any_of(lines.begin() + std::ptrdiff_t(at), lines.begin() + std::ptrdiff_t(end),
                        [&](std::string_view line) { return line.size() > columns; });
        if (!wraps) {
            for (; at < end; ++at)
                result.append(lines[at]).append("\n");
            continue;
        }
        std::string paragraph(first.substr(indent_of(first) + mark_of(first)));
        for (std::size_t i = at + 1; i < end; ++i)
            paragraph.append(" ").append(lines[i].substr(indent_of(lines[i])));
        const std::size_t margin = indent_of(first) + mark_of(first);
        std::string line(first.substr(0, margin));
        bool empty = true;
        for (const std::string_view word : words_of(paragraph)) {
            if (!empty && line.size() + 1 + word.size() > columns) {
                result.append(line).append("\n");
                line.assign(margin, ' ');
                empty = true;
            }
            if (!empty) line.append(" ");
            line.append(word);
            empty = false;
        }
        result.append(line).append("\n");
        at = end;
    }
    return result;
}

}  // namespace dtnn
