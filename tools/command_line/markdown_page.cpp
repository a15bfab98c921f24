// Chapters of docs/commands.

#include <fmt/format.h>

#include "tools/command_line/help.hpp"

namespace dtnn::tools {

std::string markdown_text(const HelpPage& page, int level, const SaidRows& said) {
    std::string text = fmt::format("{} `{}`\n\n{}.\n\n```\n", std::string(std::size_t(level), '#'),
                                   page.command, page.brief);
    for (const std::string& form : page.synopsis)
        text += form + "\n";
    text += "```\n";
    if (!page.details.empty()) text += "\n" + page.details + "\n";
    for (const HelpSection& section : page.sections) {
        text += fmt::format("\n**{}**\n\n", section.title);
        std::string terms;
        for (const HelpRow& row : section.rows) {
            const std::string term = row.term.substr(row.term.find_first_not_of(' '));
            if (said.contains({row.term, row.text}))
                terms += fmt::format("{}`{}`", terms.empty() ? "" : ", ", term);
            else
                text += fmt::format("- `{}`: {}\n", term, row.text);
        }
        if (!terms.empty()) text += fmt::format("- {}\n", terms);
    }
    return text;
}

}  // namespace dtnn::tools
