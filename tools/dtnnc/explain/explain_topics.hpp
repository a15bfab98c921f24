#pragma once
/// Everything that has a name, as `dtnnc explain` says it: from the tables that the compiler itself
/// works by.

#include <string>
#include <vector>

namespace dtnn::tools {

struct Topic {
    std::string name;   ///< "conv2d", "training.batch_size"
    std::string group;  ///< "an operator for layers", "a field", "a loss"
    std::string text;   ///< the whole explanation, its first line included
};

/// The topics that the word names: several when it is both an operator and a loss, say; empty when
/// nothing is named so. Diagnostics and passes may be written with dashes or underscores.
std::vector<Topic> topics_of(const std::string& word);

/// All there is, group by group: "operators", and their names.
struct TopicGroup {
    std::string title;
    std::vector<std::string> names;
};
std::vector<TopicGroup> topic_groups();

/// Every word that `topics_of` knows, fields by themselves and with their owners included, for
/// suggestions.
std::vector<std::string> topic_words();

}  // namespace dtnn::tools
