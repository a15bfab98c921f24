#pragma once
/// What a network's tokens are in text.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plan/dataset.hpp"

namespace dtnn::runtime {

/// For one thread.
class TextTokens {
  public:
    virtual ~TextTokens() = default;

    /// The tokens of a text; none of an empty one. What the network does not know is a RunError
    /// (exit 2) that names it and its place.
    virtual std::vector<std::int32_t> tokens_of(std::string_view text) = 0;

    /// What the token adds to the text before it: bytes that need not end with a character. They
    /// are there until the next call.
    virtual std::string_view bytes_of(std::int32_t token) = 0;
};

/// A vocabulary, as read_vocabulary takes it.
struct VocabularyFile {
    std::string path;  ///< empty: there is none
    std::string pattern;
};

/// By the dataset that the network was trained on, whose files are not looked at:
///     text     bytes, or characters, which are the classes' `names`
///     grammar  words, with a space before each
///     others   those of the vocabulary; without one, numbers with a space before each
/// RunError: there are not as many names as classes (exit 5), the vocabulary has more tokens (5),
/// or the dataset needs none (2).
std::unique_ptr<TextTokens> open_text_tokens(const plan::Dataset& dataset,
                                             std::vector<std::string> names,
                                             const VocabularyFile& vocabulary);

}  // namespace dtnn::runtime
