#pragma once
/// Text that comes in parts becomes tokens of a vocabulary: the same ones whatever the parts.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/data/vocabulary/text_pieces.hpp"

namespace dtnn::runtime {

/// For one thread. The vocabulary outlives it.
class TextEncoder : private TextPieces::Taker {
  public:
    explicit TextEncoder(const Vocabulary& vocabulary);

    /// Adds the tokens of the text's next part, as TextPieces::add takes it apart.
    void add(std::string_view part, bool last, std::vector<std::int32_t>& tokens);

  private:
    struct Known {
        std::size_t begin;  ///< in known_tokens_
        std::size_t count;
    };
    /// Finds texts by views of them.
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };

    void piece(std::string_view text) override;
    void added(std::int32_t token) override;

    const Vocabulary* vocabulary_;
    TextPieces pieces_;
    std::unordered_map<std::string_view, std::int32_t> token_of_;
    /// Pieces that have come before.
    std::unordered_map<std::string, Known, TextHash, std::equal_to<>> known_;
    std::vector<std::int32_t> known_tokens_, room_;
    std::vector<std::int32_t>* tokens_ = nullptr;  ///< of the call
};

}  // namespace dtnn::runtime
