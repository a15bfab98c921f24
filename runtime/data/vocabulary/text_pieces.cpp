#include "runtime/data/vocabulary/text_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kLongestPiece = std::size_t{64} << 20;

/// An expression that matches the texts as they are, the longest where several begin at a place.
std::string any_of(std::vector<std::string_view> texts) {
    std::stable_sort(texts.begin(), texts.end(),
                     [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
    std::string expression;
    for (const std::string_view text : texts) {
        if (!expression.empty()) expression += '|';
        for (const char c : text) {
            if (std::strchr("\\^$.|?*+()[]{}#-", c) != nullptr && c != '\0') expression += '\\';
            expression += c;
        }
    }
    return expression;
}

}  // namespace

TextPieces::TextPieces(const Vocabulary& vocabulary) : space_before_(vocabulary.space_before) {
    for (const PieceRule& rule : vocabulary.rules)
        rules_.push_back({TextPattern(rule.expression, vocabulary.path), rule.gaps});
    std::vector<std::string_view> added;
    for (const std::int32_t token : vocabulary.added) {
        added.push_back(vocabulary.tokens[std::size_t(token)]);
        added_tokens_.emplace(added.back(), token);
    }
    if (!added.empty()) added_.emplace(any_of(std::move(added)), vocabulary.path);
}

/// Behind the last whole character of text_; bytes that are none are a RunError.
std::size_t TextPieces::characters_end(bool last) const {
    std::size_t at = 0;
    while (at < text_.size()) {
        if (std::uint8_t(text_[at]) < 0x80) {
            ++at;
            continue;
        }
        const std::size_t length = utf8_length(std::string_view(text_).substr(at));
        if (length == 0) {
            constexpr std::size_t kLongestCharacter = 4;
            if (!last && text_.size() - at < kLongestCharacter) break;
            throw RunError(Exit::failed,
                           fmt::format("byte {}: no character of UTF-8 begins there",
                                       taken_ + std::int64_t(at)),
                           "iconv -t UTF-8 makes UTF-8 of other texts");
        }
        at += length;
    }
    return at;
}

void TextPieces::add(std::string_view part, bool last, Taker& taker) {
    text_ += part;
    std::size_t end = characters_end(last), at = 0;
    for (;;) {
        const std::string_view rest = std::string_view(text_).substr(0, end);
        TextPattern::Match next{TextPattern::Found::none, end, end};
        if (added_) next = added_->find(rest, at, last);
        if (begins_ && next.begin > at) {
            begins_ = false;
            if (space_before_ && text_[at] != ' ') {
                text_.insert(at, 1, ' ');
                ++end;
                --taken_;  // bytes of the text
                continue;
            }
        }
        const bool found = next.found == TextPattern::Found::match;
        const bool whole = found || (last && next.found == TextPattern::Found::none);
        at += take_apart(rest.substr(at, next.begin - at), whole, 0, taker);
        if (!found) break;
        taker.added(added_tokens_.at(rest.substr(next.begin, next.end - next.begin)));
        at = next.end;
        begins_ = true;
    }
    taken_ += std::int64_t(at);
    text_.erase(0, at);
    if (last) {
        taken_ = 0;
        begins_ = true;
    } else if (text_.size() > kLongestPiece) {
        throw RunError(Exit::failed,
                       fmt::format("byte {}: a piece of more than {} MiB begins there, which no "
                                   "space and no other character ends",
                                   taken_, kLongestPiece >> 20),
                       "is it a text?");
    }
}

/// Takes the text apart by rules_[rule] and those behind it; returns how much of it the pieces are:
/// all, if it is whole.
std::size_t TextPieces::take_apart(std::string_view text, bool whole, std::size_t rule,
                                   Taker& taker) {
    if (rule == rules_.size()) {
        if (!whole) return 0;
        if (!text.empty()) taker.piece(text);
        return text.size();
    }
    const auto piece = [&](std::size_t begin, std::size_t end) {
        if (begin < end) take_apart(text.substr(begin, end - begin), true, rule + 1, taker);
    };
    const Rule& by = rules_[rule];
    std::size_t at = 0, search = 0;
    while (search < text.size()) {
        const TextPattern::Match match = by.pattern.find(text, search, whole);
        if (match.found == TextPattern::Found::unsure) return at;
        if (match.found == TextPattern::Found::none) break;
        if (match.end == match.begin) {  // it takes nothing: go on behind the next character
            search = match.begin + std::max<std::size_t>(1, utf8_length(text.substr(match.begin)));
            continue;
        }
        if (by.gaps) piece(at, match.begin);
        piece(match.begin, match.end);
        at = search = match.end;
    }
    if (!whole) return at;
    if (by.gaps) piece(at, text.size());
    return text.size();
}

}  // namespace dtnn::runtime
