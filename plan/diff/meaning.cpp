#include "plan/diff/meaning.hpp"

#include <fmt/format.h>

#include <utility>

namespace dtnn::plan {

namespace {

constexpr FieldMeaning kUnknown = {
    Meaning::mathematics, "no entry says that it leaves the mathematics alone", Unit::none};

FieldMeaning found(const MeaningEntry* entry) {
    return entry ? FieldMeaning{entry->meaning, entry->reason, entry->unit} : kUnknown;
}

bool take_prefix(std::string_view& path, std::string_view prefix) {
    if (!path.starts_with(prefix)) return false;
    path.remove_prefix(prefix.size());
    return true;
}

/// Fields that choose from a set, and the set's name in the labels' kinds.
constexpr std::pair<std::string_view, std::string_view> kSets[] = {
    {"training.optimizer", "optimizer"}, {"training.loss", "loss"},
    {"training.metrics", "metric"},      {"training.schedules", "schedule"},
    {"dataset.transforms", "transform"}, {"dataset.augmentations", "augmentation"},
};

/// The meaning of a member that came or went as a whole: the mathematics if one of its fields is of
/// the mathematics. Null when it has no fields.
const MeaningEntry* meaning_of_member(std::string_view set, std::string_view member) {
    const std::string kind = fmt::format("{}.{}", set, member);
    const MeaningEntry* first = nullptr;
    for (const MeaningEntry& entry : setting_meanings()) {
        if (entry.kind != kind) continue;
        if (entry.meaning == Meaning::mathematics) return &entry;
        if (first == nullptr) first = &entry;
    }
    return first;
}

/// The label of the field inside a path such as "optimizer.adam.beta1",
/// "schedules[0].cosine.epochs", "clip.norm" or "parameters.depth"; null when it has none.
const MeaningEntry* meaning_below(std::string_view kind, std::string_view path) {
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return nullptr;
    std::string owner = fmt::format("{}.{}", kind, path.substr(0, path.find_first_of(".[")));
    std::string_view rest = path.substr(dot + 1);
    for (const auto& [field, set] : kSets) {
        if (field != owner) continue;
        const std::size_t inner = rest.find('.');
        if (inner == std::string_view::npos) return meaning_of_member(set, rest);
        return find_meaning(fmt::format("{}.{}", set, rest.substr(0, inner)),
                            rest.substr(inner + 1));
    }
    // Tables inside tables: "parallel.synchronise.every".
    for (std::size_t inner = rest.find('.'); inner != std::string_view::npos;
         inner = rest.find('.')) {
        owner += "." + std::string(rest.substr(0, inner));
        rest.remove_prefix(inner + 1);
    }
    return find_meaning(owner, rest);
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
    if (take_prefix(rest, "model.input.")) {
        kind = "model.input";
    } else {
        for (const char* prefix :
             {"model.", "dataset.", "training.", "machine.", "target.", "compiler."})
            if (take_prefix(rest, prefix)) {
                kind = std::string_view(prefix, std::string_view(prefix).size() - 1);
                break;
            }
    }
    const MeaningEntry* field = find_meaning(kind, rest.substr(0, rest.find_first_of(".[")));
    const MeaningEntry* below = meaning_below(kind, rest);
    return found(below ? below : field);
}

FieldMeaning meaning_of_layer_field(std::string_view type, std::string_view field) {
    if (const LayerMeaningEntry* entry = find_layer_meaning(type, field))
        return {entry->meaning, entry->reason, Unit::none};
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
