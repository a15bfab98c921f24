#pragma once
/// The help for a program and its commands, as a page that is made once, from the tables, and
/// written as `--help`, as a manual page or as Markdown.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/command_line/program.hpp"

namespace dtnn::tools {

struct HelpRow {
    std::string term, text;
};

struct HelpSection {
    std::string title;
    std::vector<HelpRow> rows;
    bool terms_are_lines = false;  ///< of a shell: the text stands below each, not beside it
};

struct HelpPage {
    std::string command;                ///< "dtnnc compile"
    std::string brief;                  ///< what it does, a line
    std::vector<std::string> synopsis;  ///< how it is called
    std::string details;                ///< sentences; may be empty
    std::vector<HelpSection> sections;  ///< none is empty
    std::vector<std::string> see_also;  ///< commands whose pages are near: "dtnnc check"
};

HelpPage page_of(const Program& program);
HelpPage page_of(const Program& program, const Program::Entry& entry);
/// The page of the commands that begin with a word: "weights".
HelpPage page_of_group(const Program& program, const std::string& group);

/// As `--help` prints it, in lines of at most 100 columns.
std::string help_text(const HelpPage& page);

/// As a page of troff for man(1), section 1; `version` is the program's name and version.
std::string manual_text(const HelpPage& page, const std::string& version);

/// Rows, term and text, that a document has said already.
using SaidRows = std::set<std::pair<std::string, std::string>>;

/// As a chapter of Markdown, its heading of that level. Of rows that were said it has the terms.
std::string markdown_text(const HelpPage& page, int level, const SaidRows& said = {});

/// "dtnnc-compile", what a manual page is called.
std::string manual_name(const std::string& command);

}  // namespace dtnn::tools
