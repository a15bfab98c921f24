#include "compiler/frontend/read/scalars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "compiler/frontend/read/quantity.hpp"

namespace dtnn::compiler {

std::string without_printed_quotes(std::string_view text) {
    constexpr std::array<std::string_view, 8> kQuotes = {"\u201C", "\u201D", "\u201E", "\u2018",
                                                         "\u2019", "\u00AB", "\u00BB", "\u201A"};
    for (const std::string_view quote : kQuotes) {
        if (text.starts_with(quote)) text.remove_prefix(quote.size());
        if (text.ends_with(quote)) text.remove_suffix(quote.size());
    }
    return std::string(text);
}
namespace {

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool all_digits_or(std::string_view text, char other) {
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return (c >= '0' && c <= '9') || c == other; });
}

/// `1,024` and `10,`: commas with three digits behind each, or none at all behind the last.
bool has_thousands(std::string_view text) {
    for (std::size_t comma = text.find(','); comma != std::string_view::npos;) {
        const std::size_t next = std::min(text.find(',', comma + 1), text.size());
        const std::size_t behind = next - comma - 1;
        if (behind != 3 && !(behind == 0 && next == text.size())) return false;
        comma = text.find(',', comma + 1);
    }
    return true;
}

/// How to write what other readers of YAML or people take for an integer.
std::string integer_help(std::string_view text) {
    const bool negative = text.starts_with('-');
    std::string_view digits = text;
    if (negative || text.starts_with('+')) digits.remove_prefix(1);
    if (all_digits(digits)) {
        const std::size_t first = digits.find_first_not_of('0');
        const std::string_view rest = first == std::string_view::npos ? "0" : digits.substr(first);
        return fmt::format("write {}{}, without {}", negative ? "-" : "", rest,
                           digits.starts_with('0') ? "leading zeros" : "a plus");
    }
    if (digits.starts_with("0x") || digits.starts_with("0o")) {
        std::int64_t value = 0;
        const int base = digits[1] == 'x' ? 16 : 8;
        const auto [end, error] =
            std::from_chars(digits.data() + 2, digits.data() + digits.size(), value, base);
        if (error == std::errc() && end == digits.data() + digits.size() && digits.size() > 2)
            return fmt::format("write {}{}", negative ? "-" : "", value);
        return "";
    }
    if (digits.find(',') != std::string_view::npos && !has_thousands(digits))
        return all_digits_or(digits, ',') ? "write one; `--sweep PATH=1,2` compiles several" : "";
    if (digits.find_first_of("_,") != std::string_view::npos) {
        std::string plain(text);
        std::erase_if(plain, [](char c) { return c == '_' || c == ','; });
        if (parse_integer(plain).value) return fmt::format("write {}", plain);
    }
    const ParsedReal real = parse_real(text);
    if (real.value && std::floor(*real.value) == *real.value && std::fabs(*real.value) < 1e15)
        return fmt::format("write {}", std::int64_t(*real.value));
    return "";
}

}  // namespace

ParsedInteger parse_integer(std::string_view text) {
    ParsedInteger result;
    std::string_view digits = text;
    if (digits.starts_with('-')) digits.remove_prefix(1);
    if (!all_digits(digits) || (digits.size() > 1 && digits.starts_with('0'))) {
        result.help = integer_help(text);
        return result;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
        result.overflow = true;
    else
        result.value = value;
    return result;
}

ParsedReal parse_real(std::string_view text) {
    ParsedReal result;
    const std::string_view body = text.starts_with('-') ? text.substr(1) : text;
    // from_chars also reads "inf" and "nan", which no field takes.
    if (body.empty() || (!std::isdigit(static_cast<unsigned char>(body[0])) && body[0] != '.')) {
        const std::string word = lower(body);
        if (word == "inf" || word == "nan") result.help = "write a finite number";
        return result;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size()) {
        const std::string word = lower(body);
        if (word == ".inf" || word == ".nan") result.help = "write a finite number";
        if (body.ends_with('%')) {
            const ParsedReal percent = parse_real(text.substr(0, text.size() - 1));
            if (percent.value) result.help = fmt::format("write {}", *percent.value / 100);
        }
        return result;
    }
    if (error == std::errc::result_out_of_range) {
        // Too small for a double is zero for every purpose; too large is refused.
        const bool tiny = lower(body).find("e-") != std::string::npos;
        if (tiny)
            result.value = 0.0;
        else
            result.overflow = true;
        return result;
    }
    result.value = value;
    return result;
}

std::optional<bool> parse_boolean(std::string_view text) {
    const bool value = text == "true";
    return value || text == "false" ? std::optional(value) : std::nullopt;
}

std::string boolean_help(std::string_view text) {
    const std::string word = lower(text);
    if (word == "yes" || word == "on" || word == "y" || word == "true" || word == "1")
        return "write true, without quotes or capitals";
    if (word == "no" || word == "off" || word == "n" || word == "false" || word == "0")
        return "write false, without quotes or capitals";
    return "";
}

std::optional<std::int64_t> parse_memory_size(std::string_view text) {
    const ParsedQuantity parsed = parse_quantity(text, "bytes");
    if (!parsed.value) return std::nullopt;
    const double bytes = std::floor(*parsed.value);
    if (bytes < 1 || bytes > 4611686018427387904.0) return std::nullopt;
    return std::int64_t(bytes);
}

}  // namespace dtnn::compiler
