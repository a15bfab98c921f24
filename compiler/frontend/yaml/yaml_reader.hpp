#pragma once
/// YAML text to a source tree. What YAML allows and specs do not (duplicate keys, tags, several
/// documents, merge keys, tabs, anything beyond the limits below) is a diagnostic at its place.

#include <optional>
#include <string>

#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

/// A resolved network of thousands of layers, with a comment on every value, is some MiB.
inline constexpr std::size_t kMaximumFileBytes = std::size_t{4} << 20;
inline constexpr int kMaximumDepth = 64;
inline constexpr int kMaximumNodes = 100'000;  ///< values of one file, aliases expanded
inline constexpr int kMaximumAliases = 100;

/// The tree of the one document in `text`, with places in the file `name`. Registers the text with
/// `diagnostics`. Nothing when an error was found: a tree with holes would only cause errors that
/// follow from the first.
std::optional<SourceNode> read_yaml(const std::string& name, const std::string& text,
                                    Diagnostics& diagnostics);

/// A document that the compiler itself wrote, of as many values as there are.
std::optional<SourceNode> read_own_yaml(const std::string& text);

/// The value that begins at byte `offset` of the one-line `text`, which places call `name`.
/// Nothing written is null.
std::optional<SourceNode> read_yaml_value(const std::string& name, const std::string& text,
                                          std::size_t offset, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
