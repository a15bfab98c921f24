#include "plan/meaning.hpp"

#include <fmt/format.h>

namespace dtnn::plan {

namespace {

constexpr FieldMeaning kUnknown = {Meaning::mathematics,
                                   "no entry says that it leaves the mathematics alone"};

FieldMeaning found(const MeaningEntry* entry) {
    return entry ? FieldMeaning{entry->meaning, entry->reason} : kUnknown;
}

bool take_prefix(std::string_view& path, std::string_view prefix) {
    if (!path.starts_with(prefix)) return false;
    path.remove_prefix(prefix.size());
    return true;
}

template <class Entry>
void append_table(std::string& text, const std::vector<Entry>& entries, const char* first,
                  std::string_view Entry::*group) {
    text += fmt::format("| {} | field | label | reason |\n|---|---|---|---|\n", first);
    for (const Entry& entry : entries)
        text += fmt::format("| {} | `{}` | {} | {} |\n",
                            entry.*group == "*" ? "every operator" : entry.*group, entry.field,
                            label_of(entry.meaning), entry.reason);
}

}  // namespace

const MeaningEntry* find_meaning(std::string_view kind, std::string_view field) {
    for (const MeaningEntry& entry : setting_meanings())
        if (entry.kind == kind && entry.field == field) return &entry;
    return nullptr;
}

const LayerMeaningEntry* find_layer_meaning(std::string_view type, std::string_view field) {
    const LayerMeaningEntry* common = nullptr;
    for (const LayerMeaningEntry& entry : layer_meanings()) {
        if (entry.field != field) continue;
        if (entry.type == type) return &entry;
        if (entry.type == "*") common = &entry;
    }
    return common;
}

FieldMeaning meaning_of(std::string_view path) {
    std::string_view rest = path;
    std::string kind = "job";
    if (take_prefix(rest, "training.optimizer.")) {
        std::size_t dot = rest.find('.');
        if (dot == std::string_view::npos) return found(find_meaning("training", "optimizer"));
        kind = fmt::format("optimizer.{}", rest.substr(0, dot));
        rest.remove_prefix(dot + 1);
    } else if (take_prefix(rest, "model.input.")) {
        kind = "model.input";
    } else {
        for (const char* prefix : {"model.", "dataset.", "training.", "target.", "compiler."})
            if (take_prefix(rest, prefix)) {
                kind = std::string_view(prefix, std::string_view(prefix).size() - 1);
                break;
            }
    }
    // Below a field: "model.parameters.depth", "training.metrics[0]".
    return found(find_meaning(kind, rest.substr(0, rest.find_first_of(".["))));
}

FieldMeaning meaning_of_layer_field(std::string_view type, std::string_view field) {
    if (const LayerMeaningEntry* entry = find_layer_meaning(type, field))
        return {entry->meaning, entry->reason};
    return found(find_meaning("layer", field));
}

std::string meanings_markdown() {
    std::string text = "### Settings\n\n";
    append_table(text, setting_meanings(), "kind", &MeaningEntry::kind);
    text += "\n### Fields of layers\n\n";
    append_table(text, layer_meanings(), "operator", &LayerMeaningEntry::type);
    return text;
}

}  // namespace dtnn::plan
