#include "runtime/data/sources/date_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "base/text.hpp"

namespace dtnn::runtime {
namespace {

/// The digits at the beginning, at most so many, taken off the text; nothing: there is none.
std::optional<int> take_number(std::string_view& text, std::size_t most) {
    std::size_t digits = 0;
    int number = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
        if (++digits > most) return std::nullopt;
        number = number * 10 + (text[digits - 1] - '0');
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
    return number;
}

/// The name of a month at the beginning, or its first three letters.
bool take_month(std::string_view& text) {
    constexpr std::array kMonths = {"january",   "february", "march",    "april",
                                    "may",       "june",     "july",     "august",
                                    "september", "october",  "november", "december"};
    std::size_t letters = 0;
    while (letters < text.size() && std::isalpha(static_cast<unsigned char>(text[letters])) != 0)
        ++letters;
    const std::string word = lower(text.substr(0, letters));
    const bool month =
        letters >= 3 && std::any_of(kMonths.begin(), kMonths.end(), [&](const char* name) {
            return word == name || word == std::string(name).substr(0, 3);
        });
    if (month) text.remove_prefix(letters);
    return month;
}

/// A time of the day, or nothing, and then the end.
bool ends_as_date(std::string_view text) {
    if (text.empty()) return true;
    if (text[0] != ' ' && text[0] != 'T') return false;
    text.remove_prefix(1);
    const auto hour = take_number(text, 2);
    return hour && *hour <= 24 && text.starts_with(':') &&
           text.find_first_not_of("0123456789:.+-ZzAaPpMm ") == text.npos;
}

}  // namespace

bool is_date(std::string_view text) {
    const auto first = take_number(text, 4);
    if (!first || text.empty()) return false;
    const char between = text[0];
    if (std::string_view("-/. ").find(between) == std::string_view::npos) return false;
    text.remove_prefix(1);
    int second = 1;
    if (!take_month(text)) {
        const auto number = take_number(text, 2);
        if (!number || between == ' ') return false;
        second = *number;
    }
    if (!text.starts_with(between)) return false;
    text.remove_prefix(1);
    const auto third = take_number(text, 4);
    if (!third) return false;
    const bool year_first = *first > 31;
    const int day = year_first ? *third : *first;
    // Of a day and a month, either may come first.
    return day >= 1 && day <= 31 && second >= 1 && second <= 31 && std::min(day, second) <= 12 &&
           ends_as_date(text);
}

}  // namespace dtnn::runtime
