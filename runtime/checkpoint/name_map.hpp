#pragma once
/// How the names in a file of weights become the names of a plan's parameters.
///
/// A file of one JSON object; the first entry that matches a name counts:
///
///     {
///       "features.0.weight": "conv2d_1.weights",
///       "layer*.bn.*": "stage_*/batch_norm_1.*",
///       "num_batches_*": null
///     }
///
/// A `*` stands for any text, also an empty one, the first for as little as will do; a `*` on the
/// right is the text of the `*` in the same place on the left. null: the tensor is left out. Names
/// that no entry matches stay as they are.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dtnn::runtime {

class NameMap {
  public:
    NameMap() = default;

    /// What is wrong with the file is a RunError (exit 5) that names it and the entry.
    static NameMap read(const std::string& path);
    static NameMap parse(const std::string& text, const std::string& path);

    struct Target {
        bool dropped = false;
        std::string name;
    };
    /// Nothing: no entry matches. Entries that were used are remembered.
    std::optional<Target> find(const std::string& name);

    /// The entries that find() has never used, as written.
    std::vector<std::string> unused() const;

  private:
    struct Entry {
        std::string from;
        std::optional<std::string> to;
        bool used = false;
    };
    std::vector<Entry> entries_;
};

/// The texts that the `*` of the pattern stand for in `text`; nothing when it does not match.
std::optional<std::vector<std::string_view>> match_stars(std::string_view pattern,
                                                         std::string_view text);

}  // namespace dtnn::runtime
