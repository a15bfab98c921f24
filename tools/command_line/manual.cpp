// Pages for man(1): troff with the macros of man(7).

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.hpp"
#include "tools/command_line/help.hpp"

namespace dtnn::tools {

namespace {

/// The code point of the character that begins the text, which has so many bytes.
unsigned code_point(std::string_view text, std::size_t length) {
    const auto byte = [&](std::size_t i) { return unsigned(static_cast<unsigned char>(text[i])); };
    unsigned value = length == 1 ? byte(0) : byte(0) & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i)
        value = value << 6 | (byte(i) & 0x3FU);
    return value;
}

/// Text that troff prints as it is: backslashes, dashes, other than ASCII by number; what stands
/// between backticks is bold.
std::string troff(std::string_view text) {
    std::string result;
    bool bold = false;
    while (!text.empty()) {
        const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
        const char c = text.front();
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else if (c == '\'')
            result += "\\(aq";
        else if (c == '^' || c == '~')
            result += c == '^' ? "\\(ha" : "\\(ti";
        else if (c == '`') {
            bold = !bold;
            result += bold ? "\\fB" : "\\fR";
        } else if (length > 1)
            result += fmt::format("\\[u{:04X}]", code_point(text, length));
        else
            result += c;
        text.remove_prefix(length);
    }
    if (bold) result += "\\fR";
    return result;
}

/// The same as a line of its own, which no dot at its beginning makes a request.
std::string line(std::string_view text) {
    return (text.starts_with('.') ? "\\&" : "") + troff(text) + "\n";
}

/// "-o, --output FILE" with its names in bold.
std::string bold(std::string_view term) {
    return "\\fB" + troff(term.substr(std::min(term.find_first_not_of(' '), term.size()))) +
           "\\fR\n";
}

std::string upper(std::string text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
    return text;
}

}  // namespace

std::string manual_name(const std::string& command) {
    std::string name = command;
    std::replace(name.begin(), name.end(), ' ', '-');
    return name;
}

std::string manual_text(const HelpPage& page, const std::string& version) {
    const std::string name = manual_name(page.command);
    std::string text = fmt::format(
        ".\\\" Written by `{} man`.\n.TH \"{}\" 1 \"\" \"{}\" \"User Commands\"\n",
        page.command.substr(0, page.command.find(' ')), upper(troff(name)), troff(version));
    // Without hyphens and stretched lines: options are not to be taken apart.
    text += ".nh\n.ad l\n";
    text += ".SH NAME\n" + troff(name) + " \\- " + troff(page.brief) + "\n.SH SYNOPSIS\n";
    for (std::size_t i = 0; i < page.synopsis.size(); ++i)
        text += (i == 0 ? "" : ".br\n") + bold(page.synopsis[i]);
    if (!page.details.empty()) text += ".SH DESCRIPTION\n" + line(page.details);
    for (const HelpSection& section : page.sections) {
        text += ".SH \"" + upper(section.title) + "\"\n";
        for (const HelpRow& row : section.rows) {
            text += ".TP\n" + bold(row.term);
            text += line(row.text);
        }
    }
    if (!page.see_also.empty()) {
        text += ".SH \"SEE ALSO\"\n";
        for (std::size_t i = 0; i < page.see_also.size(); ++i)
            text += fmt::format(".BR {} (1){}\n", troff(manual_name(page.see_also[i])),
                                i + 1 == page.see_also.size() ? "" : ",");
    }
    return text;
}

}  // namespace dtnn::tools
