#pragma once
/// Learns a vocabulary of byte pairs from text (Sennrich and others, 2016): again and again the two
/// neighbours that stand together most often become one token.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/data/vocabulary/text_pieces.hpp"

namespace dtnn::runtime {

/// What a training learns. Tokens are the bytes, in the order of their letters, then what the
/// merges make, then the added ones.
struct LearnedPairs {
    std::vector<std::string> tokens;
    struct Merge {
        std::int32_t left, right;
    };
    std::vector<Merge> merges;  ///< by rank
    std::size_t added = 0;      ///< how many of the tokens, at the end, are added ones
};

class VocabularyTrainer : private TextPieces::Taker {
  public:
    /// Text is taken apart as GPT-2's is; added tokens belong to no piece.
    explicit VocabularyTrainer(std::vector<std::string> added);

    /// The text's next part, as TextPieces::add takes it. A RunError where there are more different
    /// pieces than memory should hold.
    void add(std::string_view part, bool last) { pieces_.add(part, last, *this); }

    /// At most so many tokens, 256 and the added ones at least; two that stand together in fewer
    /// than `least` places stay two. Of pairs that stand as often that of the lower numbers is
    /// first. Called once. Takes time in proportion to the text's different pieces and what is
    /// merged in them.
    LearnedPairs train(std::int64_t size, std::int64_t least);

  private:
    void piece(std::string_view text) override;
    void added(std::int32_t) override {}

    std::vector<std::string> added_;
    Vocabulary rules_;
    TextPieces pieces_;
    std::unordered_map<std::string, std::int64_t> counts_;
};

/// As tokenizer.json of Hugging Face's tokenizers.
std::string huggingface_text(const LearnedPairs& learned);

}  // namespace dtnn::runtime
