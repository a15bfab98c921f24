#pragma once
/// Commands of dtnnc. Each is a file in commands/ that registers itself, its options beside it;
/// main.cpp reads the command line and calls the one that is named.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace dtnn::tools {

/// How a text is read.
struct TextRule {
    bool required = false;
    bool shows_default = false;             ///< in --help
    std::vector<std::string> choices = {};  ///< empty: any text
};

struct NumberRule {
    int lowest = 0;
    std::optional<int> highest = {};
    bool shows_default = false;
};

/// The options of a command: each says where its value goes, whose place must outlive the reading.
/// The library that reads command lines is known to command.cpp and main.cpp only.
class OptionList {
  public:
    explicit OptionList(CLI::App& command) : command_(command) {}

    /// What stands on the command line by itself.
    void argument(const char* name, std::string& value, const char* doc, bool required = true);
    void arguments(const char* name, std::vector<std::string>& values, const char* doc);

    void text(const char* names, std::string& value, const std::string& doc,
              const TextRule& rule = {});
    void number(const char* names, int& value, const char* doc, const NumberRule& rule);
    void number(const char* names, std::int64_t& value, const char* doc, const NumberRule& rule);
    void real(const char* names, double& value, const char* doc, double lowest, double highest);
    void flag(const char* names, bool& value, const char* doc);
    /// Given several times, a value each.
    void list(const char* names, std::vector<std::string>& values, const char* doc);
    /// The same, and several values with commas between them.
    void words(const char* names, std::vector<std::string>& values, const std::string& doc);

    /// Is called when the options have been read.
    void when_read(std::function<void()> action);

  private:
    CLI::App& command_;
};

struct Command {
    const char* name;
    const char* doc;
    int place;  ///< in `dtnnc --help`, lowest first
    /// Lists the options; what it returns carries the command out once they have been read, and
    /// returns the exit code.
    std::function<int()> (*declare)(OptionList&);
    int failure = 1;  ///< exit code when an output cannot be written
};

struct RegisteredCommand {
    explicit RegisteredCommand(const Command& command);
};

/// All of them, by place.
std::vector<Command> registered_commands();

}  // namespace dtnn::tools
