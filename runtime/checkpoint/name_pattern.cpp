#include "runtime/checkpoint/name_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/file_limits.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kMostDigits = 9;

/// A number of digits alone that is written in the one way there is.
std::optional<std::int64_t> plain_number(std::string_view digits) {
    if (digits.empty() || digits.size() > kMostDigits ||
        !std::all_of(digits.begin(), digits.end(), is_digit))
        return std::nullopt;
    if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

}  // namespace

/// Reads `x`, `x+2`, `x:3-7`, as they stand between braces.
std::optional<NamePattern::Piece> NamePattern::number_of(std::string_view text,
                                                         std::string& fault) {
    const auto bad = [&]() -> std::optional<Piece> {
        fault =
            fmt::format("{{{}}} is no number: it is {{x}}, {{x+2}}, {{x-2}} or {{x:3-7}}", text);
        return std::nullopt;
    };
    Piece piece;
    const std::size_t colon = text.find(':');
    std::string_view value = text.substr(0, colon);
    const std::size_t sign = value.find_first_of("+-");
    piece.number = value.substr(0, sign);
    const bool letters =
        !piece.number.empty() && std::all_of(piece.number.begin(), piece.number.end(), [](char c) {
            return std::isalpha(static_cast<unsigned char>(c)) != 0;
        });
    if (!letters) return bad();
    if (sign != std::string_view::npos) {
        const auto offset = plain_number(value.substr(sign + 1));
        if (!offset) return bad();
        piece.offset = value[sign] == '-' ? -*offset : *offset;
    }
    if (colon != std::string_view::npos) {
        const std::string_view range = text.substr(colon + 1);
        const std::size_t dash = range.find('-');
        if (dash == std::string_view::npos) return bad();
        const auto least = plain_number(range.substr(0, dash)),
                   most = plain_number(range.substr(dash + 1));
        if (!least || !most || *least > *most) return bad();
        piece.least = *least;
        piece.most = *most;
    }
    return piece;
}

std::optional<NamePattern> NamePattern::parse(std::string_view text, std::string& fault) {
    if (text.size() > kMostTensorName) {
        fault = fmt::format("it has {} bytes, and a name at most {}", text.size(), kMostTensorName);
        return std::nullopt;
    }
    const auto stars = std::count(text.begin(), text.end(), '*');
    if (stars > std::ptrdiff_t(kMostStars)) {
        fault = fmt::format("it has {} *, and a pattern at most {}", stars, kMostStars);
        return std::nullopt;
    }
    NamePattern pattern;
    pattern.text_ = text;
    pattern.segments_.emplace_back();
    for (std::size_t at = 0; at < text.size();) {
        Segment& segment = pattern.segments_.back();
        if (text[at] == '*') {
            pattern.segments_.emplace_back();
            ++at;
        } else if (text[at] == '{') {
            const std::size_t end = text.find('}', at);
            if (end == std::string_view::npos) {
                fault = "it has a { without a }";
                return std::nullopt;
            }
            auto piece = number_of(text.substr(at + 1, end - at - 1), fault);
            if (!piece) return std::nullopt;
            const auto adjacent = [&] {
                return !segment.empty() && !segment.back().number.empty();
            };
            if (adjacent()) {
                fault = "it has a number right behind a number";
                return std::nullopt;
            }
            segment.push_back(std::move(*piece));
            at = end + 1;
        } else {
            const std::size_t end = std::min(text.find_first_of("*{", at), text.size());
            segment.push_back({std::string(text.substr(at, end - at)), {}});
            at = end;
        }
    }
    return pattern;
}

/// Moves `at` behind what the segment matches there.
bool NamePattern::take(const Segment& segment, std::string_view text, std::size_t& at,
                       Found& found) {
    for (const Piece& piece : segment) {
        if (piece.number.empty()) {
            if (!text.substr(at).starts_with(piece.literal)) return false;
            at += piece.literal.size();
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && is_digit(text[end]))
            ++end;
        const auto digits = plain_number(text.substr(at, end - at));
        if (!digits) return false;
        const std::int64_t value = *digits - piece.offset;
        if (value < piece.least || value > piece.most) return false;
        if (found.numbers.emplace(piece.number, value).first->second != value) return false;
        at = end;
    }
    return true;
}

/// The first place from `at` where the segment matches, as a star's text and what the segment has
/// found; the place behind it.
std::optional<std::size_t> NamePattern::first_place(const Segment& segment, std::string_view text,
                                                    std::size_t at, bool to_end,
                                                    std::int64_t& tried, Found& found) {
    const bool literal = !segment.empty() && segment.front().number.empty();
    const bool numbers = std::any_of(segment.begin(), segment.end(),
                                     [](const Piece& piece) { return !piece.number.empty(); });
    for (std::size_t begin = at; begin <= text.size(); ++begin) {
        const std::size_t from = begin;
        if (literal) begin = std::min(text.find(segment.front().literal, begin), text.size());
        tried += std::int64_t(begin - from) + 1;
        std::optional<decltype(found.numbers)> before;
        if (numbers) before = found.numbers;
        std::size_t end = begin;
        if (take(segment, text, end, found) && (!to_end || end == text.size())) {
            found.stars.emplace_back(text.substr(at, begin - at));
            return end;
        }
        if (before) found.numbers = std::move(*before);
    }
    return std::nullopt;
}

std::optional<NamePattern::Found> NamePattern::match(std::string_view text) const {
    std::int64_t tried = 0;
    return match(text, tried);
}

std::optional<NamePattern::Found> NamePattern::match(std::string_view text,
                                                     std::int64_t& tried) const {
    Found found;
    ++tried;
    std::size_t at = 0;
    if (!take(segments_.front(), text, at, found)) return std::nullopt;
    if (segments_.size() == 1) return at == text.size() ? std::optional(found) : std::nullopt;
    // Taking each segment where it comes first leaves the most room for those behind it.
    for (std::size_t i = 1; i < segments_.size(); ++i) {
        const bool last = i + 1 == segments_.size();
        const std::optional<std::size_t> end =
            first_place(segments_[i], text, at, last, tried, found);
        if (!end) return std::nullopt;
        at = *end;
    }
    return found;
}

std::optional<std::string> NamePattern::fill(const Found& found) const {
    std::string result;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        if (i > 0) {
            if (i > found.stars.size()) return std::nullopt;
            result += found.stars[i - 1];
        }
        for (const Piece& piece : segments_[i]) {
            if (piece.number.empty()) {
                result += piece.literal;
                continue;
            }
            const auto number = found.numbers.find(piece.number);
            if (number == found.numbers.end()) return std::nullopt;
            const std::int64_t value = number->second, shown = value + piece.offset;
            if (value < piece.least || value > piece.most || shown < 0) return std::nullopt;
            result += std::to_string(shown);
        }
    }
    return result;
}

std::string NamePattern::number_not_in(const NamePattern& other) const {
    const auto has = [&](const std::string& number) {
        return std::any_of(
            other.segments_.begin(), other.segments_.end(), [&](const Segment& segment) {
                return std::any_of(segment.begin(), segment.end(),
                                   [&](const Piece& piece) { return piece.number == number; });
            });
    };
    for (const Segment& segment : segments_) {
        for (const Piece& piece : segment) {
            if (!piece.number.empty() && !has(piece.number)) return piece.number;
        }
    }
    return "";
}

}  // namespace dtnn::runtime
