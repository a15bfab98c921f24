#include "compiler/frontend/yaml/source_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dtnn::compiler {

SourceEntry* SourceNode::find(std::string_view key) {
    for (SourceEntry& entry : entries)
        if (entry.key == key) return &entry;
    return nullptr;
}

const SourceEntry* SourceNode::find(std::string_view key) const {
    for (const SourceEntry& entry : entries)
        if (entry.key == key) return &entry;
    return nullptr;
}

void SourceNode::erase(std::string_view key) {
    std::erase_if(entries, [&](const SourceEntry& entry) { return entry.key == key; });
}

std::vector<std::string> keys_of(const SourceNode& map) {
    std::vector<std::string> keys;
    for (const SourceEntry& entry : map.entries)
        keys.push_back(entry.key);
    return keys;
}

SourceNode make_scalar(std::string text, Span span) {
    SourceNode node;
    node.kind = SourceNode::Kind::scalar;
    node.text = std::move(text);
    node.span = std::move(span);
    return node;
}

SourceNode make_map(Span span) {
    SourceNode node;
    node.kind = SourceNode::Kind::map;
    node.span = std::move(span);
    return node;
}

std::string describe(const SourceNode& node) {
    switch (node.kind) {
        case SourceNode::Kind::null:
            return "empty";
        case SourceNode::Kind::list:
            return "a list";
        case SourceNode::Kind::map:
            return "a map";
        case SourceNode::Kind::scalar:
            break;
    }
    constexpr std::size_t kShown = 60;
    std::string shown = node.text.substr(0, kShown);
    // Never cut a character in two.
    while (node.text.size() > kShown && !shown.empty() &&
           (static_cast<unsigned char>(node.text[shown.size()]) & 0xC0U) == 0x80U)
        shown.pop_back();
    if (shown.size() < node.text.size()) shown += "...";
    std::replace(shown.begin(), shown.end(), '\n', ' ');
    return node.quoted ? fmt::format("the text \"{}\"", shown) : fmt::format("`{}`", shown);
}

}  // namespace dtnn::compiler
