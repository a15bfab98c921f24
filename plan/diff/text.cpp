#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "plan/diff/words.hpp"

namespace dtnn::plan {

namespace {

constexpr const char* kRed = "\x1b[1;31m";
constexpr const char* kGreen = "\x1b[1;32m";
constexpr const char* kYellow = "\x1b[1;33m";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kPlain = "\x1b[0m";

constexpr std::size_t kMostInHeadline = 3;
constexpr std::size_t kMostOfLayers = 2;

struct Counts {
    std::size_t mathematics = 0, unread = 0, performance = 0, names = 0, consequences = 0;
};

Counts count(const std::vector<Change>& changes) {
    Counts counts;
    for (const Change& change : changes)
        ++(!change.chosen                           ? counts.consequences
           : change.meaning == Meaning::mathematics ? counts.mathematics
           : change.meaning == Meaning::unread      ? counts.unread
           : change.meaning == Meaning::names       ? counts.names
                                                    : counts.performance);
    return counts;
}

bool is_of_layers(const Change& change) {
    return change.section == Section::layers || change.section == Section::connections;
}

// "+ 24 layers, - 3 layers, 5 layers changed": many facts about layers in one.
std::string layers_in_short(const std::vector<const Change*>& facts) {
    std::size_t added = 0, removed = 0;
    std::set<std::string> changed, renamed;
    for (const Change* change : facts) {
        if (change->action == Action::added)
            added += change->members.size();
        else if (change->action == Action::removed)
            removed += change->members.size();
        else if (change->action == Action::renamed)
            renamed.insert(change->members.begin(), change->members.end());
        else
            changed.insert(change->members.begin(), change->members.end());
    }
    std::vector<std::string> parts;
    auto part = [&](const char* form, std::size_t count) {
        if (count > 0)
            parts.push_back(
                fmt::format(fmt::runtime(form), count_text(std::int64_t(count), "layer")));
    };
    part("+ {}", added);
    part("- {}", removed);
    part("{} changed", changed.size());
    part("{} renamed", renamed.size());
    return fmt::format("{}", fmt::join(parts, ", "));
}

// The first chosen facts of one label, then how many more.
std::string chosen_part(const std::vector<Change>& changes, Meaning meaning) {
    std::vector<const Change*> layers;
    for (const Change& change : changes)
        if (change.chosen && change.meaning == meaning && is_of_layers(change))
            layers.push_back(&change);
    const bool many = layers.size() > kMostOfLayers;
    std::string text;
    std::size_t told = 0, more = 0;
    for (const Change& change : changes) {
        if (!change.chosen || change.meaning != meaning) continue;
        if (many && is_of_layers(change)) continue;
        if (told == kMostInHeadline)
            ++more;
        else
            text += (told++ ? ", " : "") + short_words(change);
    }
    if (more > 0) text += fmt::format(" and {} more", more);
    if (many) text += (text.empty() ? "" : ", ") + layers_in_short(layers);
    if (text.empty()) return "";
    return text + ": " + (meaning == Meaning::mathematics ? "mathematics" : label_of(meaning));
}

const Change* find(const std::vector<Change>& changes, Section section, const char* what) {
    auto found = std::find_if(changes.begin(), changes.end(), [&](const Change& change) {
        return !change.chosen && change.section == section && change.what == what;
    });
    return found == changes.end() ? nullptr : &*found;
}

// Steps of one section, each once however many programs have it.
std::size_t count_steps(const std::vector<Change>& changes, Section section) {
    std::size_t steps = 0;
    for (const Change& change : changes)
        if (change.section == section) steps += change.members.size();
    return steps;
}

class Text {
  public:
    Text(const std::vector<Change>& changes, const DiffTextOptions& options)
        : changes_(changes), options_(options), counts_(count(changes)) {}

    std::string run(const std::string& a, const std::string& b) {
        std::string text;
        if (!options_.summary) text += fmt::format("--- {}\n+++ {}\n", shown(a), shown(b));
        text += paint(kBold, shown(headline(changes_))) + "\n";
        if (!options_.summary) {
            text += chosen();
            text += consequences();
            text += "\n";
        }
        return text + totals();
    }

  private:
    std::string paint(const char* color, const std::string& text) const {
        return options_.color ? color + text + kPlain : text;
    }

    std::string label(Meaning meaning) const {
        return paint(meaning == Meaning::mathematics ? kRed
                     : meaning == Meaning::unread    ? kYellow
                                                     : kGreen,
                     label_of(meaning));
    }

    std::string chosen() const {
        std::string text;
        for (const Change& change : changes_)
            if (change.chosen)
                text += fmt::format("\n{}\n    {}: {}\n", shown_lines(change_words(change)),
                                    label(change.meaning), change.reason);
        return text;
    }

    // Consequences have the label of what was chosen; where nothing was, each says its own.
    std::string consequences() const {
        if (counts_.consequences == 0) return "";
        const bool labels = counts_.mathematics == 0;
        std::size_t widest = 0;
        for (const Change& change : changes_)
            if (!change.chosen)
                widest = std::max(widest, std::string_view(name_of(change.section)).size());
        std::string text = "\nconsequences\n", section;
        for (const Change& change : changes_) {
            if (change.chosen) continue;
            const std::string own = name_of(change.section), first = own == section ? "" : own;
            section = own;
            text += paint(kDim, fmt::format("  {:<{}}  ", first, widest)) +
                    shown_lines(change_words(change));
            if (labels && change.meaning == Meaning::mathematics)
                text += ", " + label(change.meaning);
            text += "\n";
        }
        return text;
    }

    std::string totals() const {
        std::size_t chosen =
            counts_.mathematics + counts_.unread + counts_.performance + counts_.names;
        std::string text = count_text(std::int64_t(chosen), "chosen difference");
        if (counts_.mathematics > 0)
            text += fmt::format(", {} of the mathematics", counts_.mathematics);
        if (counts_.unread > 0) text += fmt::format(", {} unknown", counts_.unread);
        if (counts_.performance > 0)
            text += fmt::format(", {} of performance only", counts_.performance);
        if (counts_.names > 0) text += fmt::format(", {} of names only", counts_.names);
        return text + "; " + count_text(std::int64_t(counts_.consequences), "consequence") + "\n";
    }

    const std::vector<Change>& changes_;
    const DiffTextOptions& options_;
    const Counts counts_;
};

std::string value_or_null(const std::string& json) {
    return json.empty() ? "null" : json;
}

std::string change_json(const Change& change) {
    return fmt::format(
        "{{\"section\": {}, \"action\": {}, \"what\": {}, \"before\": {}, \"after\": {}, "
        "\"meaning\": {}, \"reason\": {}, \"members\": {}, \"programs\": {}}}",
        json_text(name_of(change.section)), json_text(name_of(change.action)),
        json_text(change.what), value_or_null(change.before), value_or_null(change.after),
        json_text(label_of(change.meaning)), json_text(change.reason), json_text(change.members),
        json_text(change.programs));
}

std::string list_json(const std::vector<Change>& changes, bool chosen) {
    std::string list;
    for (const Change& change : changes)
        if (change.chosen == chosen)
            list += (list.empty() ? "\n  " : ",\n  ") + change_json(change);
    return list;
}

}  // namespace

std::string headline(const std::vector<Change>& changes) {
    if (changes.empty()) return "";
    std::vector<std::string> parts;
    for (Meaning meaning :
         {Meaning::mathematics, Meaning::unread, Meaning::performance, Meaning::names})
        if (std::string part = chosen_part(changes, meaning); !part.empty()) parts.push_back(part);
    if (parts.empty())
        parts.push_back(fmt::format("nothing chosen differs: {}", changes_mathematics(changes)
                                                                      ? "mathematics"
                                                                      : "performance only"));
    if (const Change* change = find(changes, Section::parameters, "total"))
        parts.push_back("parameters " + range_words(*change));
    // The difference does not matter where the rounded numbers are the same.
    auto cost = [&](Section section, const char* what) {
        const Change* change = find(changes, section, what);
        if (change &&
            value_words(change->before, change->unit) != value_words(change->after, change->unit))
            parts.push_back(std::string(name_of(section)) + " " + range_words(*change));
    };
    cost(Section::work, "forward per sample");
    cost(Section::memory, "arena");
    if (std::size_t steps = count_steps(changes, Section::kernels))
        parts.push_back(count_text(std::int64_t(steps), "kernel") + " changed");
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string diff_text(const std::vector<Change>& changes, const std::string& a,
                      const std::string& b, const DiffTextOptions& options) {
    if (changes.empty()) return fmt::format("{} and {}: no difference\n", shown(a), shown(b));
    return Text(changes, options).run(a, b);
}

std::string diff_json(const std::vector<Change>& changes, bool summary) {
    Counts counts = count(changes);
    std::string text = fmt::format(
        "{{\"version\": 4, \"same\": {}, \"changes_the_mathematics\": {},\n \"headline\": {},\n "
        "\"counts\": {{\"mathematics\": {}, \"unread\": {}, \"performance\": {}, "
        "\"names\": {}, \"consequences\": {}}}",
        changes.empty(), changes_mathematics(changes), json_text(headline(changes)),
        counts.mathematics, counts.unread, counts.performance, counts.names, counts.consequences);
    if (!summary)
        text += fmt::format(",\n \"chosen\": [{}],\n \"consequences\": [{}]",
                            list_json(changes, true), list_json(changes, false));
    return text + "}\n";
}

}  // namespace dtnn::plan
