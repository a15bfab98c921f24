#include "tools/dtnnc/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace dtnn::tools {

namespace {

std::vector<Command>& commands() {
    static std::vector<Command> list;
    return list;
}

// CLI11's own checks of one bound print the largest double as the other.
CLI::Validator at_least(int lowest) {
    const auto check = [lowest](const std::string& text) {
        int value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= lowest) return std::string();
        return fmt::format("{} is not an integer of at least {}", text, lowest);
    };
    return {check, fmt::format("at least {}", lowest), "at_least"};
}

template <class Number>
void add_number(CLI::App& command, const char* names, Number& value, const char* doc,
                const NumberRule& rule) {
    CLI::Option* option = command.add_option(names, value, doc);
    option->check(rule.highest ? CLI::Range(rule.lowest, *rule.highest) : at_least(rule.lowest));
    if (rule.shows_default) option->capture_default_str();
}

}  // namespace

void OptionList::argument(const char* name, std::string& value, const char* doc, bool required) {
    command_.add_option(name, value, doc)->required(required);
}

void OptionList::arguments(const char* name, std::vector<std::string>& values, const char* doc) {
    command_.add_option(name, values, doc)->required();
}

void OptionList::text(const char* names, std::string& value, const std::string& doc,
                      const TextRule& rule) {
    CLI::Option* option = command_.add_option(names, value, doc)->required(rule.required);
    if (!rule.choices.empty()) option->check(CLI::IsMember(rule.choices));
    if (rule.shows_default) option->capture_default_str();
}

void OptionList::number(const char* names, int& value, const char* doc, const NumberRule& rule) {
    add_number(command_, names, value, doc, rule);
}

void OptionList::number(const char* names, std::int64_t& value, const char* doc,
                        const NumberRule& rule) {
    add_number(command_, names, value, doc, rule);
}

void OptionList::real(const char* names, double& value, const char* doc, double lowest,
                      double highest) {
    command_.add_option(names, value, doc)
        ->check(CLI::Range(lowest, highest))
        ->capture_default_str();
}

void OptionList::flag(const char* names, bool& value, const char* doc) {
    command_.add_flag(names, value, doc);
}

void OptionList::list(const char* names, std::vector<std::string>& values, const char* doc) {
    command_.add_option(names, values, doc)->allow_extra_args(false)->take_all();
}

void OptionList::words(const char* names, std::vector<std::string>& values,
                       const std::string& doc) {
    command_.add_option(names, values, doc)->delimiter(',')->allow_extra_args(false)->take_all();
}

void OptionList::when_read(std::function<void()> action) {
    command_.callback(std::move(action));
}

RegisteredCommand::RegisteredCommand(const Command& command) {
    commands().push_back(command);
}

std::vector<Command> registered_commands() {
    std::vector<Command> list = commands();
    std::sort(list.begin(), list.end(),
              [](const Command& a, const Command& b) { return a.place < b.place; });
    return list;
}

}  // namespace dtnn::tools
