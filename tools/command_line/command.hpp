#pragma once
/// Commands of a program. Each is a source that registers itself, its options beside it;
/// program.hpp reads the command line and carries out the one that is named.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/exit_codes.hpp"
#include "tools/command_line/option_list.hpp"

namespace dtnn::tools {

/// The wishes that bring people to a command; `--help` groups by them, in this order.
enum class Purpose { prepare, look, compare, measure, run, use, learn, shell };
std::string_view title_of(Purpose purpose);
/// Those that programs have, in order.
std::vector<Purpose> all_purposes();

/// A command line that works as it stands, where the files are.
struct Example {
    std::string command;  ///< "dtnnc check job.yaml"
    std::string what;     ///< what it does, without a full stop
};

/// An exit code that can occur, with what it means where that is not what it means elsewhere.
struct ExitOf {
    ExitCode code;
    const char* meaning = nullptr;
};

struct Command {
    const char* name;  ///< one word, or two: "weights list"
    const char* doc;   ///< one line
    int place;         ///< among those of its purpose, lowest first
    /// Lists the options; what it returns carries the command out once they have been read, and
    /// returns the exit code.
    std::function<int()> (*declare)(OptionList&);
    Purpose purpose = Purpose::prepare;
    /// Beside `done`, `usage` and `internal`, which any command can end with.
    std::vector<ExitOf> exits = {};
    std::vector<Example> examples = {};
    const char* details = "";  ///< what is behind the one line, sentences; may be empty
    int failure = 1;           ///< exit code when an output cannot be written
};

struct RegisteredCommand {
    explicit RegisteredCommand(const Command& command);
};

/// All of them, by purpose and place.
std::vector<Command> registered_commands();

/// The codes that the command can end with, the lowest first, each with its meaning.
std::vector<ExitOf> exits_of(const Command& command);

}  // namespace dtnn::tools
