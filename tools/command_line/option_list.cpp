#include "tools/command_line/option_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "compiler/support/diagnostics.hpp"

namespace dtnn::tools {

namespace {

/// "a|b|c" -> a, b, c
std::vector<std::string> parts_of(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

// CLI11's own checks print the largest double as a bound that is not there, and all choices
// without saying which may have been meant.
CLI::Validator integer_rule(const NumberRule& rule) {
    const std::string range = rule.highest
                                  ? fmt::format("from {} to {}", rule.lowest, *rule.highest)
                                  : fmt::format("of at least {}", rule.lowest);
    const auto check = [rule, range](const std::string& text) {
        std::int64_t value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= rule.lowest &&
            (!rule.highest || value <= *rule.highest))
            return std::string();
        return fmt::format("{} is not an integer {}", text, range);
    };
    return {check, range, "integer"};
}

CLI::Validator real_rule(double lowest, double highest) {
    const auto check = [lowest, highest](const std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= lowest && value <= highest)
            return std::string();
        return fmt::format("{} is not a number from {} to {}", text, lowest, highest);
    };
    return {check, "number", "number"};
}

CLI::Validator choice_rule(std::vector<std::string> choices) {
    const auto check = [choices = std::move(choices)](const std::string& text) {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::string();
        std::string wrong = fmt::format("{} is none of {}", text, fmt::join(choices, ", "));
        if (const auto near = compiler::did_you_mean(text, choices))
            wrong += fmt::format("\nhelp: did you mean `{}`?", *near);
        return wrong;
    };
    return {check, "choice", "choice"};
}

OptionInfo info_of(const char* names, const std::string& doc) {
    OptionInfo info;
    info.names = names;
    info.doc = doc;
    return info;
}

OptionInfo info_of(const char* names, const std::string& doc, const TextRule& rule) {
    OptionInfo info = info_of(names, doc);
    info.value = rule.value;
    info.choices = rule.choices;
    info.offers = rule.offers;
    info.required = rule.required;
    return info;
}

}  // namespace

std::string OptionInfo::term() const {
    if (is_argument()) return names + (repeated ? "..." : "");
    // Long names are below each other, whether there is a short one or not.
    const std::string indent = flags.front().starts_with("--") ? "    " : "";
    return fmt::format("{}{}{}{}", indent, fmt::join(flags, ", "), value.empty() ? "" : " ", value);
}

std::vector<std::string> OptionInfo::kinds() const {
    return choices.empty() ? parts_of(value, '|') : std::vector<std::string>();
}

OptionList::OptionList(const std::string& name)
    : reader_(std::make_unique<CLI::App>(std::string(), name)) {
    // Help is ours: see program.cpp.
    reader_->set_help_flag();
}

OptionList::~OptionList() = default;

CLI::Option& OptionList::add(CLI::Option& option, OptionInfo info) {
    if (!option.get_positional()) {
        // "--requeue,!--no-requeue" has two flags, "!--no-step" one.
        for (std::string& name : parts_of(info.names, ','))
            info.flags.push_back(name.front() == '!' ? name.substr(1) : std::move(name));
    }
    option.required(info.required);
    if (!info.choices.empty()) {
        option.check(choice_rule(info.choices));
        info.value = fmt::format("{}", fmt::join(info.choices, "|"));
    }
    options_.push_back(std::move(info));
    read_.push_back(&option);
    return option;
}

void OptionList::argument(const char* name, std::string& value, const std::string& doc,
                          bool required, const char* kind) {
    OptionInfo info = info_of(name, doc);
    info.value = *kind == 0 ? name : kind;
    info.required = required;
    inputs_.push_back(&value);
    input_lists_.push_back(nullptr);
    add(*reader_->add_option(name, value), std::move(info));
}

void OptionList::arguments(const char* name, std::vector<std::string>& values,
                           const std::string& doc, bool required, const char* kind) {
    OptionInfo info = info_of(name, doc);
    info.value = *kind == 0 ? name : kind;
    info.required = required;
    info.repeated = true;
    inputs_.push_back(nullptr);
    input_lists_.push_back(&values);
    add(*reader_->add_option(name, values), std::move(info));
}

void OptionList::choice(const char* name, std::string& value, const std::string& doc,
                        const std::vector<std::string>& choices) {
    OptionInfo info = info_of(name, doc);
    info.choices = choices;
    info.required = true;
    inputs_.push_back(nullptr);
    input_lists_.push_back(nullptr);
    add(*reader_->add_option(name, value), std::move(info));
}

void OptionList::add_choice(const char* names, const std::string& doc,
                            const std::vector<std::string>& choices, std::size_t standing,
                            std::function<void(std::size_t)> take) {
    OptionInfo info = info_of(names, doc);
    info.choices = choices;
    if (standing < choices.size()) info.fallback = choices[standing];
    const auto chosen = [choices, take = std::move(take)](const CLI::results_t& words) {
        const auto found = std::find(choices.begin(), choices.end(), words.back());
        if (found == choices.end()) return false;
        take(std::size_t(found - choices.begin()));
        return true;
    };
    add(*reader_->add_option(names, chosen), std::move(info));
}

void OptionList::text(const char* names, std::string& value, const std::string& doc,
                      const TextRule& rule) {
    OptionInfo info = info_of(names, doc, rule);
    const bool chosen =
        std::find(rule.choices.begin(), rule.choices.end(), value) != rule.choices.end();
    if (rule.shows_default || chosen) info.fallback = value;
    add(*reader_->add_option(names, value), std::move(info));
}

template <class Number>
void OptionList::add_number(const char* names, Number& value, const std::string& doc,
                            const NumberRule& rule) {
    OptionInfo info = info_of(names, doc);
    info.value = "N";
    if (rule.shows_default) info.fallback = fmt::to_string(value);
    add(*reader_->add_option(names, value), std::move(info)).check(integer_rule(rule));
}

void OptionList::number(const char* names, int& value, const std::string& doc,
                        const NumberRule& rule) {
    add_number(names, value, doc, rule);
}

void OptionList::number(const char* names, std::int64_t& value, const std::string& doc,
                        const NumberRule& rule) {
    add_number(names, value, doc, rule);
}

void OptionList::real(const char* names, double& value, const std::string& doc, double lowest,
                      double highest) {
    OptionInfo info = info_of(names, doc);
    info.value = "X";
    info.fallback = fmt::format("{}", value);
    add(*reader_->add_option(names, value), std::move(info)).check(real_rule(lowest, highest));
}

void OptionList::flag(const char* names, bool& value, const std::string& doc) {
    OptionInfo info = info_of(names, doc);
    add(*reader_->add_flag(names, value), std::move(info));
}

CLI::Option& OptionList::add_values(const char* names, std::vector<std::string>& values,
                                    const std::string& doc, const TextRule& rule) {
    OptionInfo info = info_of(names, doc, rule);
    info.repeated = true;
    return add(*reader_->add_option(names, values), std::move(info));
}

void OptionList::list(const char* names, std::vector<std::string>& values, const std::string& doc,
                      const TextRule& rule) {
    add_values(names, values, doc, rule).allow_extra_args(false)->take_all();
}

void OptionList::words(const char* names, std::vector<std::string>& values, const std::string& doc,
                       const TextRule& rule) {
    add_values(names, values, doc, rule).delimiter(',')->allow_extra_args(false)->take_all();
}

void OptionList::several(const char* names, std::vector<std::string>& values,
                         const std::string& doc, const TextRule& rule) {
    add_values(names, values, doc, rule).expected(1, -1);
}

void OptionList::when_read(std::function<void()> action) {
    reader_->callback(std::move(action));
}

void OptionList::excludes(const char* name, const char* other) {
    reader_->get_option(name)->excludes(reader_->get_option(other));
}

void OptionList::needs(const char* name, const char* other) {
    reader_->get_option(name)->needs(reader_->get_option(other));
}

const OptionInfo* OptionList::find(std::string_view name) const {
    for (const OptionInfo& option : options_)
        if (std::find(option.flags.begin(), option.flags.end(), name) != option.flags.end())
            return &option;
    return nullptr;
}

std::vector<std::string> OptionList::given(std::string_view name) const {
    for (std::size_t i = 0; i < options_.size(); ++i) {
        const OptionInfo& option = options_[i];
        if (option.names != name &&
            std::find(option.flags.begin(), option.flags.end(), name) == option.flags.end())
            continue;
        return read_[i]->count() == 0 ? std::vector<std::string>() : read_[i]->results();
    }
    return {};
}

std::string OptionList::read(const std::vector<std::string>& words) {
    try {
        reader_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ArgumentMismatch& error) {
        // "--resume: 1 required TEXT missing"
        std::string text = error.what();
        const OptionInfo* option = find(text.substr(0, text.find(':')));
        if (option == nullptr || text.find("required") == std::string::npos) return text;
        return fmt::format("{} needs a value: {} {}", text.substr(0, text.find(':')),
                           text.substr(0, text.find(':')), option->value);
    } catch (const CLI::ExtrasError&) {
        superfluous_ = reader_->remaining().front();
        return fmt::format("nothing more is expected at `{}`", reader_->remaining().front());
    } catch (const CLI::RequiredError& error) {
        std::string text = error.what();
        // The library says of an option: "--weights is required"
        return text.substr(0, text.find(" is required")) + " is missing";
    } catch (const CLI::ParseError& error) {
        return error.what();
    }
    return "";
}

int OptionList::name_standard_input(const std::string& name) {
    int count = 0;
    const auto rename = [&](std::string& value) {
        if (value != "-") return;
        value = name;
        ++count;
    };
    std::size_t at = 0;
    for (const OptionInfo& option : options_) {
        if (!option.is_argument()) continue;
        const std::vector<std::string> kinds = option.kinds();
        const bool input = std::any_of(kinds.begin(), kinds.end(), [](const std::string& kind) {
            return kind == "SPEC" || kind == "PLAN";
        });
        if (input && inputs_[at] != nullptr) rename(*inputs_[at]);
        if (input && input_lists_[at] != nullptr)
            for (std::string& value : *input_lists_[at])
                rename(value);
        ++at;
    }
    return count;
}

}  // namespace dtnn::tools
