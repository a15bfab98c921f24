// Chapters of docs/commands.

#include <fmt/format.h>

#include "tools/command_line/help.hpp"

namespace dtnn::tools {

std::string markdown_text(const HelpPage& page, int level) {
    std::string text = fmt::format("{} `{}`\n\n{}.\n\n```\n", std::string(std::size_t(level), '#'),
                                   page.command, page.brief);
    for (const std::string& form : page.synopsis)
        text += form + "\n";
    text += "```\n";
    if (!page.details.empty()) text += "\n" + page.details + "\n";
    for (const HelpSection& section : page.sections) {
        text += fmt::format("\n**{}**\n\n", section.title);
        for (const HelpRow& row : section.rows) {
            const std::size_t begin = row.term.find_first_not_of(' ');
            text += fmt::format("- `{}`: {}\n", row.term.substr(begin), row.text);
        }
    }
    return text;
}

}  // namespace dtnn::tools
