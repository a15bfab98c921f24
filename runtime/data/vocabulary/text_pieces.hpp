#pragma once
/// Text that comes in parts is taken apart as a vocabulary says: the same pieces whatever the
/// parts.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/data/vocabulary/text_pattern.hpp"
#include "runtime/data/vocabulary/vocabulary.hpp"

namespace dtnn::runtime {

/// For one thread. The vocabulary outlives it.
class TextPieces {
  public:
    /// Told of what the text is made of, in its order.
    class Taker {
      public:
        virtual ~Taker() = default;
        virtual void piece(std::string_view text) = 0;
        virtual void added(std::int32_t token) = 0;
    };

    explicit TextPieces(const Vocabulary& vocabulary);

    /// Takes the text's next part apart as far as what comes behind it cannot change the pieces;
    /// with `last` the text ends, and another may begin. A RunError for bytes that are no UTF-8,
    /// which says where in the text, and for a piece of more than 64 MiB.
    void add(std::string_view part, bool last, Taker& taker);

  private:
    struct Rule {
        TextPattern pattern;
        bool gaps;
    };

    std::size_t characters_end(bool last) const;
    std::size_t take_apart(std::string_view text, bool whole, std::size_t rule, Taker& taker);

    bool space_before_;
    std::vector<Rule> rules_;
    std::optional<TextPattern> added_;
    std::unordered_map<std::string_view, std::int32_t> added_tokens_;
    std::string text_;        ///< what is not taken apart yet
    std::int64_t taken_ = 0;  ///< bytes of the text before it
    bool begins_ = true;      ///< text_ begins a text, or stands behind an added token
};

}  // namespace dtnn::runtime
