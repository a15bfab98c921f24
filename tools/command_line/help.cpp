#include "tools/command_line/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"

namespace dtnn::tools {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kTermWidth = 26;  ///< of the left column, with its indent

bool reads_standard_input(const Program& program, const OptionInfo& option) {
    if (program.facts().standard_input.empty() || !option.is_argument()) return false;
    const std::vector<std::string> kinds = option.kinds();
    return std::any_of(kinds.begin(), kinds.end(),
                       [](const std::string& kind) { return kind == "SPEC" || kind == "PLAN"; });
}

HelpRow row_of(const Program& program, const OptionInfo& option) {
    std::string text = option.doc;
    if (reads_standard_input(program, option)) text += "; - is standard input";
    std::vector<std::string> facts;
    if (option.required && !option.is_argument()) facts.emplace_back("required");
    if (!option.fallback.empty()) facts.push_back("default " + option.fallback);
    if (option.repeated && !option.is_argument()) facts.emplace_back("may be given again");
    if (!facts.empty()) text += fmt::format(" ({})", fmt::join(facts, "; "));
    return {option.term(), text};
}

/// "SPEC...", "[PART]", "-o FILE": what the synopsis has to show.
std::string synopsis_of(const OptionList& options) {
    std::string text;
    for (const OptionInfo& option : options.options()) {
        if (option.is_argument())
            text += option.required ? " " + option.term() : fmt::format(" [{}]", option.term());
        else if (option.required)
            text += fmt::format(" {} {}", option.flags.front(), option.value);
    }
    return text + " [OPTIONS]";
}

HelpSection exits_section(const std::vector<ExitOf>& exits) {
    HelpSection section{"Exit codes", {}};
    for (const ExitOf& one : exits)
        section.rows.push_back({fmt::to_string(int(one.code)), one.meaning});
    return section;
}

HelpSection examples_section(const std::vector<Example>& examples) {
    HelpSection section{"Examples", {}, true};
    for (const Example& example : examples)
        section.rows.push_back({example.command, example.what});
    return section;
}

/// The rows of commands, their arguments beside them.
HelpSection commands_section(const Program& program, std::string title,
                             const std::function<bool(const Command&)>& wanted) {
    HelpSection section{std::move(title), {}};
    for (const Program::Entry& entry : program.entries()) {
        if (!wanted(entry.command)) continue;
        std::string term = entry.command.name;
        for (const OptionInfo& option : entry.options->options())
            if (option.is_argument())
                term += option.required ? " " + option.term() : fmt::format(" [{}]", option.term());
        section.rows.push_back({std::move(term), entry.command.doc});
    }
    return section;
}

void add(HelpPage& page, HelpSection section) {
    if (!section.rows.empty()) page.sections.push_back(std::move(section));
}

/// The text in lines of at most `width` columns, the later ones indented.
std::string folded(std::string_view text, std::size_t width, std::size_t indent) {
    std::string result;
    std::size_t column = indent;
    bool begins = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t length = characters(word);
        if (!begins && column + 1 + length > width) {
            result.append("\n").append(indent, ' ');
            column = indent;
        } else if (!begins) {
            result += ' ';
            ++column;
        }
        result.append(word);
        column += length;
        begins = false;
    }
    return result + "\n";
}

std::string row_text(const HelpRow& row, bool term_is_line) {
    if (term_is_line) return fmt::format("  {}\n      {}", row.term, folded(row.text, kWidth, 6));
    const std::string term = "  " + row.term;
    const std::size_t length = characters(term);
    const std::string gap = length + 2 > kTermWidth ? "\n" + std::string(kTermWidth, ' ')
                                                    : std::string(kTermWidth - length, ' ');
    return term + gap + folded(row.text, kWidth, kTermWidth);
}

}  // namespace

HelpPage page_of(const Program& program) {
    const ProgramFacts& facts = program.facts();
    HelpPage page;
    page.command = facts.name;
    page.brief = facts.doc;
    if (!facts.form.empty()) page.synopsis.push_back(facts.form);
    page.synopsis.push_back(facts.name + " COMMAND [ARGUMENTS] [OPTIONS]");
    page.synopsis.push_back(facts.name + " help COMMAND");
    for (const Purpose purpose : all_purposes())
        add(page, commands_section(program, std::string(title_of(purpose)),
                                   [&](const Command& one) { return one.purpose == purpose; }));
    add(page, {"Options of all commands",
               {{"-h, --help", "Says what the command does, what it takes, its exit codes"},
                {"    --version", "Prints the program's version"}}});
    std::vector<ExitOf> exits;
    for (const ExitMeaning& one : exit_meanings())
        exits.push_back({one.code, one.meaning});
    add(page, exits_section(exits));
    HelpSection variables{"Environment", {}};
    for (const EnvironmentVariable& one : facts.environment)
        variables.rows.push_back({one.name, one.doc});
    add(page, std::move(variables));
    add(page, examples_section(facts.examples));
    for (const Program::Entry& entry : program.entries())
        page.see_also.push_back(facts.name + " " + entry.command.name);
    return page;
}

HelpPage page_of(const Program& program, const Program::Entry& entry) {
    const Command& command = entry.command;
    const ProgramFacts& facts = program.facts();
    HelpPage page;
    page.command = fmt::format("{} {}", facts.name, command.name);
    page.brief = command.doc;
    page.details = command.details;
    const std::string behind = synopsis_of(*entry.options);
    page.synopsis.push_back(page.command + behind);
    if (command.name == facts.implied && facts.implied_by_all)
        page.synopsis.push_back(facts.name + behind);
    HelpSection arguments{"Arguments", {}}, options{"Options", {}};
    for (const OptionInfo& option : entry.options->options())
        (option.is_argument() ? arguments : options).rows.push_back(row_of(program, option));
    options.rows.push_back({"-h, --help", "Prints this"});
    add(page, std::move(arguments));
    add(page, std::move(options));
    add(page, exits_section(exits_of(command)));
    add(page, examples_section(command.examples));
    page.see_also.push_back(facts.name);
    for (const Program::Entry& other : program.entries())
        if (other.command.purpose == command.purpose && &other != &entry)
            page.see_also.push_back(facts.name + " " + other.command.name);
    return page;
}

HelpPage page_of_group(const Program& program, const std::string& group) {
    const ProgramFacts& facts = program.facts();
    HelpPage page;
    page.command = facts.name + " " + group;
    page.brief = fmt::format("commands of `{}`", group);
    page.synopsis.push_back(page.command + " COMMAND [ARGUMENTS] [OPTIONS]");
    add(page, commands_section(program, "Commands", [&](const Command& one) {
            return std::string_view(one.name).starts_with(group + " ");
        }));
    for (const Program::Entry& entry : program.entries())
        if (std::string_view(entry.command.name).starts_with(group + " "))
            page.see_also.push_back(facts.name + " " + entry.command.name);
    return page;
}

std::string help_text(const HelpPage& page) {
    std::string text = folded(page.command + ": " + page.brief, kWidth, 0) + "\n";
    for (std::size_t i = 0; i < page.synopsis.size(); ++i)
        text += (i == 0 ? "Usage: " : "       ") + page.synopsis[i] + "\n";
    if (!page.details.empty()) text += "\n" + folded(page.details, kWidth, 0);
    for (const HelpSection& section : page.sections) {
        text += "\n" + section.title + ":\n";
        for (const HelpRow& row : section.rows)
            text += row_text(row, section.terms_are_lines);
    }
    return text;
}

}  // namespace dtnn::tools
