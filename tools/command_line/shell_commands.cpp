#include "tools/command_line/shell_commands.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/markdown.hpp"
#include "tools/command_line/completion.hpp"
#include "tools/command_line/help.hpp"

namespace dtnn::tools {

namespace {

constexpr const char* kWords = "words";

struct HelpArguments {
    std::vector<std::string> words;
};

struct CompletionArguments {
    std::string shell;
    std::vector<std::string> words;
};

struct ManArguments {
    std::vector<std::string> words;
    std::string output, format = "troff";
};

/// Rows that so many commands say alike stand in front of a page, once.
constexpr int kSaidInFront = 4;

/// A page of Markdown about the program and all of its commands.
std::string chapter(const Program& program) {
    HelpPage front = page_of(program);
    HelpSection shared{"Arguments and options of several commands", {}};
    SaidRows said;
    for (const HelpSection& section : front.sections)
        for (const HelpRow& row : section.rows)
            said.emplace(row.term, row.text);
    std::vector<HelpPage> pages;
    std::map<std::pair<std::string, std::string>, int> uses;
    for (const Program::Entry& entry : program.entries()) {
        pages.push_back(page_of(program, entry));
        for (const HelpSection& section : pages.back().sections)
            for (const HelpRow& row : section.rows)
                if (++uses[{row.term, row.text}] == kSaidInFront &&
                    said.emplace(row.term, row.text).second)
                    shared.rows.push_back(row);
    }
    if (!shared.rows.empty()) front.sections.push_back(std::move(shared));
    std::string text =
        fmt::format("<!-- Written by `{} man --format markdown`. -->\n", program.facts().name) +
        markdown_text(front, 1);
    for (const HelpPage& page : pages)
        text += "\n" + markdown_text(page, 2, said);
    return wrap_markdown(text);
}

int write_pages(const Program& program, const ManArguments& given) {
    const ProgramFacts& facts = program.facts();
    const std::string version = facts.name + " " + facts.version;
    const bool markdown = given.format == "markdown";  // The option's words: read here alone.
    if (!given.output.empty() && given.output != "-") {
        const std::filesystem::path folder(given.output);
        // A failure shows when the pages are written, with its reason.
        std::error_code ignored;
        std::filesystem::create_directories(folder, ignored);
        const auto write = [&](const HelpPage& page) {
            facts.write((folder / (manual_name(page.command) + ".1")).string(),
                        manual_text(page, version));
        };
        if (markdown) {
            const std::string file = (folder / (facts.name + ".md")).string();
            facts.write(file, chapter(program));
            facts.complain(fmt::format("wrote {}\n", file));
            return int(ExitCode::done);
        }
        write(page_of(program));
        for (const Program::Entry& entry : program.entries())
            write(page_of(program, entry));
        facts.complain(
            fmt::format("wrote {}: {} pages\n", given.output, program.entries().size() + 1));
        return int(ExitCode::done);
    }
    if (given.words.empty()) {
        facts.print(markdown ? chapter(program) : manual_text(page_of(program), version));
        return int(ExitCode::done);
    }
    const Program::Found found = program.find(given.words);
    // Says what is wrong with it.
    if (found.entry == nullptr || found.words < given.words.size())
        return program.answer_help(given.words);
    const HelpPage page = page_of(program, *found.entry);
    facts.print(markdown ? wrap_markdown(markdown_text(page, 1)) : manual_text(page, version));
    return int(ExitCode::done);
}

}  // namespace

void add_shell_commands(const Program& program, std::vector<Program::Entry>& entries) {
    const std::string& name = program.facts().name;
    const auto add = [&](Command command) -> OptionList& {
        command.purpose = Purpose::shell;
        return *add_entry(entries, std::move(command)).options;
    };

    auto help = std::make_shared<HelpArguments>();
    OptionList& help_options =
        add({.name = "help",
             .doc = "Says what a command does, as COMMAND --help",
             .place = 900,
             .declare = nullptr,
             .exits = {{ExitCode::failed}},
             .examples = {{name + " help " + entries.front().command.name,
                           "its arguments, options, exit codes, examples"}}});
    help_options.arguments("COMMAND", help->words, "One, or the first word of some; all without it",
                           false);
    entries.back().carry_out = [help, &program] { return program.answer_help(help->words); };

    auto completion = std::make_shared<CompletionArguments>();
    std::vector<std::string> shells = completed_shells();
    shells.emplace_back(kWords);
    OptionList& completion_options =
        add({.name = "completion",
             .doc = "Prints the script that completes command lines in a shell",
             .place = 910,
             .declare = nullptr,
             .exits = {{ExitCode::failed}},
             .examples = {{fmt::format("source <({} completion bash)", name),
                           "completion in this bash; `cmake --install` puts the scripts where the "
                           "shells look for them"},
                          {fmt::format("{} completion words -- --h", name),
                           "what may stand for the last word, as the scripts ask for it"}}});
    completion_options.choice("SHELL", completion->shell,
                              "The shell; `words`: what the last word behind `--` may be, a line "
                              "each, for a script",
                              shells);
    completion_options.arguments("WORD", completion->words,
                                 "The words of a command line, for `words`", false, "TEXT");
    entries.back().carry_out = [completion, &program] {
        const ProgramFacts& facts = program.facts();
        facts.print(completion->shell == kWords ? completions(program, completion->words)
                                                : completion_script(facts.name, completion->shell));
        return int(ExitCode::done);
    };

    auto man = std::make_shared<ManArguments>();
    OptionList& man_options = add(
        {.name = "man",
         .doc = "Prints the manual page of the program or of a command",
         .place = 920,
         .declare = nullptr,
         .exits = {{ExitCode::failed}},
         .examples = {{fmt::format("{} man | man -l -", name), "reads it"},
                      {fmt::format("{} man -o share/man/man1", name), "a page for each command"}}});
    man_options.arguments("COMMAND", man->words, "One command; the program without it", false);
    man_options.text("-o,--output", man->output,
                     "Folder of all pages; - for standard output, which has one",
                     {.value = "FOLDER"});
    man_options.text("--format", man->format,
                     "Form of the page; of Markdown one page has all commands",
                     {.choices = {"troff", "markdown"}});
    entries.back().carry_out = [man, &program] { return write_pages(program, *man); };
}

}  // namespace dtnn::tools
