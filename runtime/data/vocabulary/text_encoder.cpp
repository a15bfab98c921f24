#include "runtime/data/vocabulary/text_encoder.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kMostKnown = std::size_t{1} << 17, kLongestKnown = 64;

}  // namespace

TextEncoder::TextEncoder(const Vocabulary& vocabulary)
    : vocabulary_(&vocabulary), pieces_(vocabulary) {
    if (!vocabulary.whole_pieces) return;
    for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i)
        if (!vocabulary.tokens[i].empty()) token_of_.emplace(vocabulary.tokens[i], std::int32_t(i));
    for (const std::int32_t token : vocabulary.added)
        token_of_.erase(vocabulary.tokens[std::size_t(token)]);
}

void TextEncoder::add(std::string_view part, bool last, std::vector<std::int32_t>& tokens) {
    tokens_ = &tokens;
    pieces_.add(part, last, *this);
}

void TextEncoder::added(std::int32_t token) {
    tokens_->push_back(token);
}

void TextEncoder::piece(std::string_view text) {
    std::vector<std::int32_t>& tokens = *tokens_;
    if (text.size() <= kLongestKnown) {
        if (const auto known = known_.find(text); known != known_.end()) {
            const auto begin = known_tokens_.begin() + std::ptrdiff_t(known->second.begin);
            tokens.insert(tokens.end(), begin, begin + std::ptrdiff_t(known->second.count));
            return;
        }
    }
    room_.clear();
    const auto whole = token_of_.find(text);
    if (whole != token_of_.end()) {
        room_.push_back(whole->second);
    } else {
        for (const char c : text)
            room_.push_back(vocabulary_->bytes[std::uint8_t(c)]);
        vocabulary_->pairs.merge(room_);
    }
    tokens.insert(tokens.end(), room_.begin(), room_.end());
    if (text.size() > kLongestKnown || known_.size() >= kMostKnown) return;
    known_.emplace(text, Known{known_tokens_.size(), room_.size()});
    known_tokens_.insert(known_tokens_.end(), room_.begin(), room_.end());
}

}  // namespace dtnn::runtime
