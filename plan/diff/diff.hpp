#pragma once
/// What differs between two plans, and what the difference means for the run.
///
/// Facts come in two sorts. **Chosen** ones are what somebody wrote otherwise: a setting, a layer,
/// a field, a connection, an option of the command line. **Consequences** are what the compiler
/// computed from them: shapes, parameters, memory, work, steps. Where a value was written (places,
/// origins) and how (1e-2 or 0.01) is no difference.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "plan/plan.hpp"

namespace dtnn::plan {

/// For the labels of consequences and layers.
inline constexpr Meaning kMath = Meaning::mathematics;
inline constexpr Meaning kSpeed = Meaning::performance;
inline constexpr Meaning kUnread = Meaning::unread;
inline constexpr Meaning kNames = Meaning::names;
/// "changes the mathematics", "performance only", "unknown until both are read", "names only".
const char* label_of(Meaning meaning);

enum class Action : std::uint8_t { changed, added, removed, moved, renamed, replaced };
constexpr auto names_of(Action) {
    return std::to_array<const char*>(
        {"changed", "added", "removed", "moved", "renamed", "replaced"});
}

/// What a fact is about, in the order in which facts are told. Chosen: up to `compiler`; settings,
/// target and passes may be consequences as well, and so are all others.
enum class Section : std::uint8_t {
    settings,
    layers,
    connections,
    target,
    passes,
    compiler,
    numbering,
    shapes,
    parameters,
    weight_files,
    first_values,
    data,
    schedule,
    fusion,
    kernels,
    layouts,
    work,
    communication,
    memory,
};
constexpr auto names_of(Section) {
    return std::to_array<const char*>({"settings", "layers", "connections", "target", "passes",
                                       "compiler", "numbering", "shapes", "parameters",
                                       "weight files", "first values", "data", "schedule", "fusion",
                                       "kernels", "layouts", "work", "communication", "memory"});
}

/// How a number is shown to people; JSON holds the plain number.
enum class Unit { none, count, bytes, flop, seconds };

struct Change {
    Section section;
    Action action = Action::changed;
    std::string what;         ///< "training.batch_size", "conv2d.filters", "arena"
    std::string before = {};  ///< JSON text; empty: was not there
    std::string after = {};   ///< JSON text; empty: is not there any more
    Meaning meaning = Meaning::performance;
    std::string reason = {};  ///< one sentence: why it means that
    bool chosen = false;
    Unit unit = Unit::none;
    /// The layers, parameters or steps that the fact is about, in the network's order, by their
    /// names in `b` (what is gone: in `a`); equal changes of many are one fact.
    std::vector<std::string> members = {};
    std::vector<std::string> programs = {};  ///< fusion and kernels: in which programs
};

/// Chosen facts first, those of the mathematics before the others, then the consequences, by
/// section in the order above.
std::vector<Change> diff(const Plan& a, const Plan& b);
/// Puts changes into that order again, after labels have been settled.
void sort_changes(std::vector<Change>& changes);

bool changes_mathematics(const std::vector<Change>& changes);

/// What matters, in one line: "batch 64 -> 128: mathematics; memory 1.1 -> 1.9 GiB; 3 kernels
/// changed". Empty when nothing differs.
std::string headline(const std::vector<Change>& changes);

struct DiffTextOptions {
    bool summary = false;  ///< the headline and the counts only
    bool color = false;    ///< with the terminal's colours
};
/// For people; `a` and `b` are what the user called the two sides. A line that says so where
/// nothing differs.
std::string diff_text(const std::vector<Change>& changes, const std::string& a,
                      const std::string& b, const DiffTextOptions& options = {});

/// {"version": 4, "same", "changes_the_mathematics", "headline", "counts": {"mathematics",
/// "unread", "performance", "names", "consequences"}, "chosen": [...], "consequences": [...]}, each
/// change
/// {"section", "action", "what", "before", "after", "meaning", "reason", "members", "programs"};
/// `before` and `after` are values, null where there is none; bytes and FLOP are plain numbers.
/// With `summary` the two lists are left out.
std::string diff_json(const std::vector<Change>& changes, bool summary = false);

}  // namespace dtnn::plan
