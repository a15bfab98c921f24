#pragma once
/// A program of commands: reads the command line, answers `--help`, `--version` and `help COMMAND`,
/// says what a misspelt word may mean, and carries out the command that is named.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/command.hpp"

namespace dtnn::tools {

struct EnvironmentVariable {
    const char* name;
    const char* doc;
};

struct ProgramFacts {
    std::string name;
    std::string version;
    std::string doc;   ///< what it does, a sentence
    std::string form;  ///< how it is called without the name of a command; empty: it is not
    /// The command that `form` stands for. Of first words that are no command, all mean it, or only
    /// `-`, where nothing else would be meant by that.
    std::string implied;
    bool implied_by_all = false;
    /// The file that `-` becomes where a spec or a plan is named, and what then reads it, before
    /// the command is carried out; empty: `-` is the name of a file.
    std::string standard_input = {};
    std::function<void()> read_standard_input = {};
    std::vector<Example> examples;
    std::vector<EnvironmentVariable> environment;
    /// The words that may stand for SPEC or WORD, for completion.
    std::function<std::vector<std::string>(const std::string& kind)> names = {};
    /// Text for standard output, for standard error (lines), and for a file, in the program's way.
    std::function<void(std::string_view text)> print;
    std::function<void(std::string_view text)> complain;
    std::function<void(const std::string& path, std::string_view text)> write;
    /// Carries the command out, once its options have been read; where it is not set, `carry_out`
    /// is called and nothing else.
    std::function<int(const Command& command, const OptionList& options,
                      const std::function<int()>& carry_out)>
        around = {};
};

class Program {
  public:
    /// With the commands that have been registered, and those that every program has (help,
    /// completion, man).
    explicit Program(ProgramFacts facts);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// The exit code.
    int run(int argc, char** argv);

    struct Entry {
        Command command;
        std::unique_ptr<OptionList> options;
        std::function<int()> carry_out;
    };

    const ProgramFacts& facts() const { return facts_; }
    const std::vector<Entry>& entries() const { return entries_; }

    /// The command that the words begin with and how many of them name it; null: none.
    struct Found {
        const Entry* entry = nullptr;
        std::size_t words = 0;
    };
    Found find(const std::vector<std::string>& words) const;
    /// Whether commands of two words begin with this one.
    bool is_group(const std::string& word) const;
    /// The first words of commands, in the order of `--help`, each once; of a group the second.
    std::vector<std::string> names(const std::string& group = "") const;
    /// Whether a first word that is no command stands for the implied command.
    bool implies(const std::string& first) const;

    static bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

    /// Prints what `help` says of these words: a command, a group of them, or none, the program.
    /// Gives the exit code.
    int answer_help(const std::vector<std::string>& words) const;

  private:
    int unknown_command(const std::string& word, const std::string& group) const;
    int usage(const std::string& what, const std::string& help) const;
    /// The help for a word that a `--set` should have: `training.epochs=3`, or a value that stands
    /// behind a path by itself. Empty: it is none.
    std::string help_of_setting(const std::string& word, const OptionList& options) const;
    int read(const Found& found, const std::vector<std::string>& words) const;

    ProgramFacts facts_;
    std::vector<Entry> entries_;
};

/// Adds a command, whose options are still to be declared.
Program::Entry& add_entry(std::vector<Program::Entry>& entries, Command command);

}  // namespace dtnn::tools
