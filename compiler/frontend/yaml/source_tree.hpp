#pragma once
/// A spec file as a tree of plain values, each with its place: what the YAML reader makes,
/// composition merges and validation reads. No YAML library's types pass beyond yaml_reader.cpp.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.hpp"

namespace dtnn::compiler {

struct SourceEntry;

struct SourceNode {
    enum class Kind { null, scalar, list, map };
    Kind kind = Kind::null;
    std::string text;     ///< scalars
    bool quoted = false;  ///< scalars: written in quotes, so never a number or a boolean
    /// Scalars: commas stand in it, which inside braces and brackets end a value. What it says was
    /// read as one, so that it is refused once; nothing takes it.
    bool parted = false;
    Span span;                         ///< an empty file: made by the compiler
    std::vector<SourceNode> items;     ///< lists
    std::vector<SourceEntry> entries;  ///< maps, in the order written

    bool is_null() const { return kind == Kind::null; }
    bool is_scalar() const { return kind == Kind::scalar; }
    bool is_list() const { return kind == Kind::list; }
    bool is_map() const { return kind == Kind::map; }

    SourceEntry* find(std::string_view key);
    const SourceEntry* find(std::string_view key) const;
    void erase(std::string_view key);
};

struct SourceEntry {
    std::string key;
    Span key_span;
    SourceNode value;
    /// How many steps of `extends` away the spec is that says it; 0: this one.
    int generation = 0;
    /// Of a list: how many values the list had that it took the place of, of a spec that this one
    /// extends.
    std::size_t replaced = 0;
};

/// The keys of a map, in the order written.
std::vector<std::string> keys_of(const SourceNode& map);

SourceNode make_scalar(std::string text, Span span = {});
SourceNode make_map(Span span = {});

/// How a message names a value: "`3.5`", "the text \"3\"", "a list", "a map", "empty".
std::string describe(const SourceNode& node);

}  // namespace dtnn::compiler
