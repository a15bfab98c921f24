#pragma once
/// The arguments and options of a command: each says what it is called, what its value is, and
/// where the value goes. Help, manual pages, completion and suggestions read what is said here; the
/// library that reads command lines is known to this folder only.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_names.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dtnn::tools {

/// An argument or an option, as people are told of it.
struct OptionInfo {
    std::string names;  ///< as declared: "SPEC", "-o,--output", "--requeue,!--no-requeue"
    std::vector<std::string> flags;  ///< "-o", "--output"; none of an argument
    std::string doc;                 ///< without a full stop
    /// The name of the value: one of choices, or a word whose parts (`SPEC|PLAN`) say what may be
    /// there: SPEC, PLAN, FILE, DATA, FOLDER, RUN, WORD; others say it to people alone. Empty: none
    /// is taken.
    std::string value;
    std::vector<std::string> choices;  ///< it must be one of these; empty: anything
    std::vector<std::string> offers;   ///< what it may be among other things
    std::string fallback;              ///< when it is not given; empty: the doc says it
    bool required = false;
    bool repeated = false;

    bool is_argument() const { return flags.empty(); }
    bool takes_value() const { return !value.empty(); }
    /// "-o, --output FILE"; of an argument "SPEC..."
    std::string term() const;
    /// The parts of `value`: "SPEC", "PLAN".
    std::vector<std::string> kinds() const;
};

/// How a text is read.
struct TextRule {
    bool required = false;
    bool shows_default = false;
    std::vector<std::string> choices = {};  ///< empty: any text
    const char* value = "TEXT";             ///< what people are told that it is
    std::vector<std::string> offers = {};   ///< for completion, where others are possible
};

struct NumberRule {
    int lowest = 0;
    std::optional<int> highest = {};
    bool shows_default = false;
};

/// The options of a command: each says where its value goes, whose place must outlive the reading.
/// The list itself lives until its command has been carried out.
class OptionList {
  public:
    /// `name` is the command's, as messages call it.
    explicit OptionList(const std::string& name);
    ~OptionList();
    OptionList(const OptionList&) = delete;
    OptionList& operator=(const OptionList&) = delete;

    /// Declares an argument, which stands on the command line by itself. `kind` is what may stand
    /// there, where the name does not say it: "SPEC|PLAN".
    void argument(const char* name, std::string& value, const std::string& doc,
                  bool required = true, const char* kind = "");
    void arguments(const char* name, std::vector<std::string>& values, const std::string& doc,
                   bool required = true, const char* kind = "");

    /// One of these words.
    void choice(const char* name, std::string& value, const std::string& doc,
                const std::vector<std::string>& choices);

    /// An option: one of these words, each with the value that it stands for.
    template <class Value>
    void one_of(const char* names, Value& value, const std::string& doc,
                const std::vector<std::pair<const char*, Value>>& words) {
        std::vector<std::string> choices;
        std::size_t standing = words.size();
        for (const auto& [word, means] : words) {
            if (means == value && standing == words.size()) standing = choices.size();
            choices.emplace_back(word);
        }
        add_choice(names, doc, choices, standing,
                   [&value, words](std::size_t chosen) { value = words[chosen].second; });
    }

    /// Likewise: one of these values of a set, by its name.
    template <NamedEnum Value>
    void one_of(const char* names, Value& value, const std::string& doc,
                const std::vector<Value>& among) {
        std::vector<std::pair<const char*, Value>> words;
        for (const Value one : among)
            words.emplace_back(name_of(one), one);
        one_of(names, value, doc, words);
    }

    void text(const char* names, std::string& value, const std::string& doc,
              const TextRule& rule = {});
    void number(const char* names, int& value, const std::string& doc, const NumberRule& rule);
    void number(const char* names, std::int64_t& value, const std::string& doc,
                const NumberRule& rule);
    void real(const char* names, double& value, const std::string& doc, double lowest,
              double highest);
    void flag(const char* names, bool& value, const std::string& doc);
    /// Given several times, a value each.
    void list(const char* names, std::vector<std::string>& values, const std::string& doc,
              const TextRule& rule = {});
    /// The same, and several values with commas between them.
    void words(const char* names, std::vector<std::string>& values, const std::string& doc,
               const TextRule& rule = {});
    /// All that stands behind it, up to the next option.
    void several(const char* names, std::vector<std::string>& values, const std::string& doc,
                 const TextRule& rule = {});

    /// Is called when the options have been read.
    void when_read(std::function<void()> action);

    /// Rules between options that have been declared: the one is refused with the other, or
    /// without it.
    void excludes(const char* name, const char* other);
    void needs(const char* name, const char* other);

    /// In the order in which they were declared.
    const std::vector<OptionInfo>& options() const { return options_; }
    /// Null where there is none of that name; with its dashes.
    const OptionInfo* find(std::string_view name) const;

    // ---- once the command line has been read

    /// The words that were given for it ("true" of a flag); empty: it was not given.
    std::vector<std::string> given(std::string_view name) const;
    bool has(std::string_view name) const { return !given(name).empty(); }

    /// Reads the words behind the command. An empty text, or what is wrong with them.
    std::string read(const std::vector<std::string>& words);
    /// The word that was one too many; empty: there was none.
    const std::string& superfluous() const { return superfluous_; }

    /// Arguments that may be standard input (SPEC, PLAN) and are `-` become `name`; how many there
    /// were.
    int name_standard_input(const std::string& name);

  private:
    CLI::Option& add(CLI::Option& option, OptionInfo info);
    /// `standing` is the choice that holds where none is given; beyond them: none does.
    void add_choice(const char* names, const std::string& doc,
                    const std::vector<std::string>& choices, std::size_t standing,
                    std::function<void(std::size_t)> take);
    template <class Number>
    void add_number(const char* names, Number& value, const std::string& doc,
                    const NumberRule& rule);
    CLI::Option& add_values(const char* names, std::vector<std::string>& values,
                            const std::string& doc, const TextRule& rule);

    std::unique_ptr<CLI::App> reader_;
    std::string superfluous_;
    std::vector<OptionInfo> options_;
    std::vector<CLI::Option*> read_;  ///< beside options_
    std::vector<std::string*> inputs_;
    std::vector<std::vector<std::string>*> input_lists_;
};

}  // namespace dtnn::tools
