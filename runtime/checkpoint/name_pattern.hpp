#pragma once
/// Patterns of names, with places that stand for any text and for numbers.
///
///     *          any text, also an empty one, the first for as little as will do
///     {x}        a number: all digits that stand together, without zeros in front
///     {x+2}      x + 2, and {x-2} likewise; x itself is never below 0
///     {x:3-7}    x, which is from 3 to 7; {x+2:3-7} likewise
///
/// `layer{s}.{b}.conv{n}.*` matches `layer1.0.conv2.weight`: s 1, b 0, n 2, and `weight`.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dtnn::runtime {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

class NamePattern {
  public:
    static constexpr std::size_t kMostStars = 16;

    /// Reads a pattern of at most kMostTensorName bytes and kMostStars `*`; nothing: the text is
    /// none, and `fault` says why.
    static std::optional<NamePattern> parse(std::string_view text, std::string& fault);

    /// The texts that the places of a pattern stand for.
    struct Found {
        std::vector<std::string> stars;
        std::map<std::string, std::int64_t, std::less<>> numbers;
    };
    /// Matches a text; nothing: it does not. Takes time in proportion to the text's and the
    /// pattern's lengths multiplied. Adds to `tried` the places of the text that it looked at.
    std::optional<Found> match(std::string_view text, std::int64_t& tried) const;
    std::optional<Found> match(std::string_view text) const;

    /// The text in which the places stand for what was found with another pattern; nothing where a
    /// number is out of its range, or was not found.
    std::optional<std::string> fill(const Found& found) const;

    const std::string& text() const { return text_; }
    std::size_t stars() const { return segments_.size() - 1; }
    /// The first number that the other pattern does not have; empty: there is none.
    std::string number_not_in(const NamePattern& other) const;

  private:
    struct Piece {
        std::string literal;  ///< the text, where `number` is empty
        std::string number;   ///< its name
        std::int64_t offset = 0;
        std::int64_t least = 0, most = kMostNumber;
    };
    /// The pieces between two stars.
    using Segment = std::vector<Piece>;
    static constexpr std::int64_t kMostNumber = 999'999'999;

    static std::optional<Piece> number_of(std::string_view text, std::string& fault);
    static std::optional<std::size_t> first_place(const Segment& segment, std::string_view text,
                                                  std::size_t at, bool to_end, std::int64_t& tried,
                                                  Found& found);
    static bool take(const Segment& segment, std::string_view text, std::size_t& at, Found& found);

    std::string text_;
    std::vector<Segment> segments_;
};

}  // namespace dtnn::runtime
