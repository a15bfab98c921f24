#pragma once
/// Plain scalars as numbers, and what to tell people whose YAML would mean something else
/// elsewhere.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dtnn::compiler {

/// The text without the quotes of printed books around it, which word processors make.
std::string without_printed_quotes(std::string_view text);

struct ParsedInteger {
    std::optional<std::int64_t> value;
    bool overflow = false;
    std::string help;  ///< when it is nearly an integer: how to write it
};
/// Decimal digits with an optional minus; no leading zeros (YAML 1.1 reads 012 as ten), no point,
/// no exponent.
ParsedInteger parse_integer(std::string_view text);

struct ParsedReal {
    std::optional<double> value;
    bool overflow = false;
    std::string help;
};
/// Decimal with optional point and exponent; finite.
ParsedReal parse_real(std::string_view text);

/// Whether it is `true` or `false`; nothing when it is neither.
std::optional<bool> parse_boolean(std::string_view text);

/// For yes, no, on, off and other capitals: which of true and false to write; else empty.
std::string boolean_help(std::string_view text);

/// "4GiB", "512 MiB", "1.5GB", "1000": bytes; nothing when it is none of these or more than 2^62.
std::optional<std::int64_t> parse_memory_size(std::string_view text);

}  // namespace dtnn::compiler
