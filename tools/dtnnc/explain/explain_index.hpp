#pragma once
/// The index of words that people look for (docs/words.md), which the program has inside.

#include <optional>
#include <string>
#include <vector>

#include "tools/dtnnc/explain/explain_topics.hpp"

namespace dtnn::tools {

/// Where the pages are that tell of the word; nothing: the index does not have it. Capitals, blanks
/// and dashes do not count.
std::optional<Topic> index_topic(const std::string& word);

/// Every word of the index.
std::vector<std::string> index_words();

}  // namespace dtnn::tools
