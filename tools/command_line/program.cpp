#include "tools/command_line/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "compiler/support/diagnostics.hpp"
#include "tools/command_line/help.hpp"
#include "tools/command_line/other_commands.hpp"
#include "tools/command_line/shell_commands.hpp"

namespace dtnn::tools {

namespace {

using Words = std::vector<std::string>;

constexpr int kUsage = int(ExitCode::usage);

std::string first_word(const std::string& name) {
    return name.substr(0, name.find(' '));
}

std::string suggestion(const std::string& word, const Words& candidates) {
    if (const auto near = compiler::did_you_mean(word, candidates))
        return fmt::format("did you mean `{}`?", *near);
    return "";
}

/// The requests that a command's words make before they are read.
struct Scan {
    bool help = false, version = false;
    Words unknown;  ///< options that it does not have
};

/// Looks at options as the reading will: behind `--` there are none, and the value of one is no
/// option however it looks.
Scan scan(const OptionList& options, const Words& words) {
    Scan found;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") break;
        const bool is_long = word.starts_with("--");
        // "-1" is a number, "-" a file, and neither is `-#NAME` an option.
        const bool is_short =
            word.size() > 1 && word[0] == '-' &&
            ((word[1] >= 'a' && word[1] <= 'z') || (word[1] >= 'A' && word[1] <= 'Z'));
        if (!is_long && !is_short) continue;
        const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
        if (Program::asks_for_help(word)) {
            found.help = true;
        } else if (word == "--version") {
            found.version = true;
        } else if (const OptionInfo* option = options.find(name)) {
            if (option->takes_value() && name == word) ++i;
        } else {
            found.unknown.push_back(name);
        }
    }
    return found;
}

Words flags_of(const OptionList& options) {
    Words flags = {"--help", "--version"};
    for (const OptionInfo& option : options.options())
        flags.insert(flags.end(), option.flags.begin(), option.flags.end());
    std::erase_if(flags, [](const std::string& flag) { return !flag.starts_with("--"); });
    return flags;
}

}  // namespace

Program::Entry& add_entry(std::vector<Program::Entry>& entries, Command command) {
    Program::Entry& entry = entries.emplace_back();
    entry.command = std::move(command);
    entry.options = std::make_unique<OptionList>(entry.command.name);
    return entry;
}

Program::Program(ProgramFacts facts) : facts_(std::move(facts)) {
    for (Command& command : registered_commands()) {
        Entry& entry = add_entry(entries_, std::move(command));
        entry.carry_out = entry.command.declare(*entry.options);
    }
    add_shell_commands(*this, entries_);
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
        return a.command.purpose < b.command.purpose;
    });
}

Program::~Program() = default;

Program::Found Program::find(const Words& words) const {
    for (const std::size_t count : {2, 1}) {
        if (words.size() < count) continue;
        const std::string name = count == 2 ? words[0] + " " + words[1] : words[0];
        for (const Entry& entry : entries_)
            if (entry.command.name == name) return {&entry, count};
    }
    return {};
}

bool Program::is_group(const std::string& word) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return std::string_view(entry.command.name).starts_with(word + " ");
    });
}

Words Program::names(const std::string& group) const {
    Words names;
    for (const Entry& entry : entries_) {
        std::string name = entry.command.name;
        if (!group.empty()) {
            if (!name.starts_with(group + " ")) continue;
            name.erase(0, group.size() + 1);
        }
        name = first_word(name);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

bool Program::implies(const std::string& first) const {
    return !facts_.implied.empty() && (facts_.implied_by_all || first == "-");
}

int Program::usage(const std::string& what, const std::string& help) const {
    facts_.complain(fmt::format("{}: {}\n", facts_.name, what));
    if (!help.empty()) facts_.complain(fmt::format("help: {}\n", help));
    return kUsage;
}

int Program::unknown_command(const std::string& word, const std::string& group) const {
    const std::string whole = group.empty() ? facts_.name : facts_.name + " " + group;
    const Words known = names(group);
    std::string help = group.empty() ? help_of_other_command(facts_.name, word) : "";
    if (help.empty()) help = suggestion(word, known);
    std::error_code ignored;
    if (help.empty() && group.empty() && !facts_.implied.empty() &&
        std::filesystem::is_regular_file(word, ignored))
        help = fmt::format("did you mean `{} {} {}`?", facts_.name, facts_.implied, word);
    if (help.empty())
        help = fmt::format("there are {}; `{} --help` says what they do", fmt::join(known, ", "),
                           whole);
    return usage(group.empty() ? fmt::format("no command is named `{}`", word)
                               : fmt::format("no command of `{}` is named `{}`", group, word),
                 help);
}

int Program::answer_help(const Words& words) const {
    if (words.empty()) {
        facts_.print(help_text(page_of(*this)));
        return int(ExitCode::done);
    }
    const Found found = find(words);
    if (found.entry == nullptr) {
        const bool group = is_group(words[0]);
        if (!group || words.size() > 1)
            return unknown_command(group ? words[1] : words[0], group ? words[0] : "");
        facts_.print(help_text(page_of_group(*this, words[0])));
        return int(ExitCode::done);
    }
    if (words.size() > found.words)
        return usage(fmt::format("`help {}` takes no more words", found.entry->command.name),
                     fmt::format("`{} help {}` is enough", facts_.name, found.entry->command.name));
    facts_.print(help_text(page_of(*this, *found.entry)));
    return int(ExitCode::done);
}

std::string Program::help_of_setting(const std::string& word, const OptionList& options) const {
    const bool sets = options.find("--set") != nullptr;
    if (word.find('=') != std::string::npos)
        return sets ? fmt::format("`--set {}` changes a field", word)
                    : help_of_other_option(facts_.name, "--set");
    const std::vector<std::string> given = options.given("--set");
    if (given.empty() || given.back().find('=') != std::string::npos) return "";
    return fmt::format("path and value are one word: `--set {}={}`", given.back(), word);
}

int Program::read(const Found& found, const Words& words) const {
    const Command& command = found.entry->command;
    OptionList& options = *found.entry->options;
    const Scan asked = scan(options, words);
    if (asked.help) {
        facts_.print(help_text(page_of(*this, *found.entry)));
        return int(ExitCode::done);
    }
    if (asked.version) {
        facts_.print(fmt::format("{} {}\n", facts_.name, facts_.version));
        return int(ExitCode::done);
    }
    const std::string how =
        fmt::format("`{} {} --help` lists what it takes", facts_.name, command.name);
    for (const std::string& option : asked.unknown) {
        std::string near = suggestion(option, flags_of(options));
        if (near.empty())
            near = help_of_other_option(facts_.name, option.substr(0, option.find('=')));
        // `--training.epochs=3`, as a path of a setting.
        if (near.empty() && option.find('.') != std::string::npos) {
            const auto whole =
                std::find_if(words.begin(), words.end(),
                             [&](const std::string& one) { return one.starts_with(option); });
            const std::string path = whole->substr(std::min(whole->size(), std::size_t{2}));
            near = help_of_setting(path.find('=') == path.npos ? path + "=VALUE" : path, options);
        }
        usage(fmt::format("`{}` is no option of `{} {}`", option, facts_.name, command.name),
              near.empty() && &option == &asked.unknown.back() ? how : near);
    }
    if (!asked.unknown.empty()) return kUsage;
    if (const std::string wrong = options.read(words); !wrong.empty()) {
        std::string help;
        if (const std::string extra = options.superfluous(); !extra.empty())
            help = help_of_setting(extra, options);
        else if (wrong.find(" requires ") != std::string::npos)
            help = help_of_other_option(facts_.name, first_word(wrong));
        if (help.empty()) help = how;
        return usage(fmt::format("{}: {}", command.name, wrong),
                     wrong.find("\nhelp: ") == std::string::npos ? help : "");
    }
    if (!facts_.standard_input.empty()) {
        const int count = options.name_standard_input(facts_.standard_input);
        if (count > 1)
            return usage(fmt::format("{}: standard input can be read once", command.name),
                         "write it to a file and name that");
        if (count == 1) facts_.read_standard_input();
    }
    if (facts_.around) return facts_.around(command, options, found.entry->carry_out);
    return found.entry->carry_out();
}

int Program::run(int argc, char** argv) {
    Words words(argv + std::min(argc, 1), argv + argc);
    if (words.empty())
        return usage(facts_.form.empty() ? "no command is named" : "nothing is named to work on",
                     fmt::format("`{} --help` lists the commands", facts_.name));
    const std::string first = words[0];
    if (asks_for_help(first)) {
        const Words behind(words.begin() + 1, words.end());
        return answer_help(
            !behind.empty() && (find(behind).entry || is_group(behind[0])) ? behind : Words());
    }
    if (first == "--version" || first == "-V") {
        facts_.print(fmt::format("{} {}\n", facts_.name, facts_.version));
        return int(ExitCode::done);
    }
    Found found = find(words);
    if (found.entry == nullptr && is_group(first)) {
        if (words.size() > 1 && asks_for_help(words[1])) return answer_help({first});
        if (words.size() > 1) return unknown_command(words[1], first);
        return usage(fmt::format("`{}` needs a command behind it", first),
                     fmt::format("there are {}", fmt::join(names(first), ", ")));
    }
    if (found.entry == nullptr && implies(first)) {
        // A misspelt command would be taken for the name of a file that is not there.
        std::error_code ignored;
        const bool could_be = !first.empty() && first.find_first_of("./-") == std::string::npos &&
                              !std::filesystem::exists(first, ignored);
        // Something stands behind it, too: the plan.
        const bool has_argument = words.size() > 1 && !words[1].starts_with('-');
        if (could_be && (has_argument || compiler::did_you_mean(first, names()) ||
                         !help_of_other_command(facts_.name, first).empty()))
            return unknown_command(first, "");
        words.insert(words.begin(), facts_.implied);
        found = find(words);
    }
    if (found.entry == nullptr) {
        if (!first.starts_with("-") || first == "-") return unknown_command(first, "");
        const std::string near = suggestion(first, {"--help", "--version"});
        return usage(fmt::format("`{}` is no option of {}", first, facts_.name),
                     near.empty()
                         ? fmt::format("options stand behind a command: `{} --help`", facts_.name)
                         : near);
    }
    words.erase(words.begin(), words.begin() + std::ptrdiff_t(found.words));
    return read(found, words);
}

}  // namespace dtnn::tools
