#include "plan/diff/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/json.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/summary/summary.hpp"

namespace dtnn::plan {

namespace {

constexpr std::size_t kMostNames = 4, kMostScopes = 8;

Json parsed(const std::string& json) {
    return json.empty() ? Json() : parse_json_or_discard(json);
}

bool all_integers(const Json& list) {
    return std::all_of(list.begin(), list.end(),
                       [](const Json& v) { return v.is_number_integer(); });
}

std::string words(const Json& value);

std::string field_words(const Json& fields) {
    std::string text;
    for (const auto& [name, value] : fields.items())
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, words(value));
    return text;
}

std::string words(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_array()) {
        const char* separator = !value.empty() && all_integers(value) ? "x" : ", ";
        std::string text;
        for (std::size_t i = 0; i < value.size(); ++i)
            text += (i ? separator : "") + words(value[i]);
        return text.empty() ? "nothing" : text;
    }
    if (value.is_object() && value.contains("type") && value.contains("fields")) {
        std::string fields = field_words(value["fields"]);
        return words(value["type"]) + (fields.empty() ? "" : " " + fields);
    }
    if (value.is_object()) return value.empty() ? "nothing" : field_words(value);
    return write_json(value);
}

// "7 conv2d, 7 batch_norm" of a list of layers.
std::string type_counts(const Json& layers) {
    std::vector<std::pair<std::string, std::size_t>> counts;
    for (const Json& layer : layers) {
        std::string type = words(layer["type"]);
        auto known = std::find_if(counts.begin(), counts.end(),
                                  [&](const auto& count) { return count.first == type; });
        if (known == counts.end())
            counts.emplace_back(type, 1);
        else
            ++known->second;
    }
    std::string text;
    for (const auto& [type, count] : counts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, type);
    return text;
}

std::string last_part(const std::string& path) {
    std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::string count_of_layers(std::size_t count) {
    return count_text(std::int64_t(count), "layer");
}

std::string type_of_layers(const Change& change) {
    return change.what.substr(0, change.what.find('.'));
}

std::string percent(const Change& change) {
    if (change.unit == Unit::none || change.before.empty() || change.after.empty()) return "";
    Json before = parsed(change.before), after = parsed(change.after);
    if (!before.is_number() || !after.is_number() || before.get<double>() == 0) return "";
    double growth = (after.get<double>() / before.get<double>() - 1) * 100;
    return std::abs(growth) < 0.05 ? "" : fmt::format(" ({:+.1f} %)", growth);
}

std::string came_or_went(const Change& change) {
    const bool added = change.action == Action::added;
    Json content = parsed(added ? change.after : change.before);
    std::string text = added ? "+ " : "- ";
    std::size_t run = content.is_array() ? content.size() : 1, times = change.members.size() / run;
    std::string names = member_words(change.members);
    // "stage_3/ (4): 4 layers" would say the number twice.
    const std::string count = fmt::format("/ ({})", change.members.size());
    if (times == 1 && names.ends_with(count)) names.resize(names.size() - count.size() + 1);
    text += names + ": ";
    if (times > 1) text += fmt::format("{} times ", times);
    if (run == 1) return text + words(content);
    return text + fmt::format("{} ({})", count_of_layers(run), type_counts(content));
}

// "dense_1.* -> head.*", of many the first two.
std::string renamed_weights(const Change& change) {
    const Json before = parsed(change.before), after = parsed(change.after);
    constexpr std::size_t kMostPairs = 2;
    std::string text;
    for (std::size_t i = 0; i < std::min(before.size(), kMostPairs); ++i)
        text += fmt::format("{}{} -> {}", i ? ", " : "", words(before[i]), words(after[i]));
    if (before.size() > kMostPairs) text += fmt::format(" and {} more", before.size() - kMostPairs);
    return text + "; --map reads files of the other";
}

std::string renamed(const Change& change) {
    if (change.section == Section::weight_files) return renamed_weights(change);
    std::string before = value_words(change.before, Unit::none);
    std::string after = value_words(change.after, Unit::none);
    if (change.section == Section::numbering && change.members.size() == 1)
        return fmt::format("{} is {} now", before, after);
    if (change.section == Section::numbering)
        return fmt::format("{} layers are numbered anew, from {} -> {} on", change.members.size(),
                           before, after);
    std::string text = before.empty()  ? fmt::format("layers are below {} now", after)
                       : after.empty() ? fmt::format("layers are not below {} any more", before)
                                       : fmt::format("{} renamed to {}", before, after);
    return change.members.size() == 1
               ? text
               : fmt::format("{} ({})", text, count_of_layers(change.members.size()));
}

std::string replaced(const Change& change) {
    std::string text = fmt::format("{} -> {}", value_words(change.before, Unit::none),
                                   value_words(change.after, Unit::none));
    return fmt::format("{}: {}", member_words(change.members), text);
}

// "filters of 54 conv2d layers", "output shape of relu_1", "training.batch_size".
std::string subject(const Change& change) {
    const std::size_t count = change.members.size();
    if (count == 0) return change.what;
    if (change.section == Section::layers)
        return count == 1 ? change.members.front() + "." + last_part(change.what)
                          : fmt::format("{} of {} {} layers", last_part(change.what), count,
                                        type_of_layers(change));
    if (change.section == Section::connections)
        return count == 1 ? change.members.front() + " reads"
                          : fmt::format("{} layers read", count);
    if (change.section == Section::fusion || change.section == Section::kernels)
        return fmt::format("{} in {}", change.what, fmt::join(change.programs, ", "));
    const char* many = change.section == Section::shapes ? "layers"
                       : change.programs.empty()         ? "parameters"
                                                         : "steps";
    return count == 1 ? fmt::format("{} of {}", change.what, change.members.front())
                      : fmt::format("{} of {} {}", change.what, count, many);
}

// The part of the two names that names a block around both: "stage_1/basic_2/".
std::string common_scope(const std::string& a, const std::string& b) {
    auto differing = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
    std::size_t slash = a.rfind('/', std::size_t(differing - a.begin()));
    return slash == std::string::npos ? "" : a.substr(0, slash + 1);
}

// How many names are below which blocks; empty when some are below none, or there are many.
std::string scope_words(const std::vector<std::string>& members) {
    std::vector<std::pair<std::string, std::size_t>> scopes;
    for (const std::string& name : members) {
        std::size_t slash = name.rfind('/');
        if (slash == std::string::npos) return "";
        std::string scope = scopes.empty() ? "" : common_scope(scopes.back().first, name);
        if (scope.empty()) {
            if (scopes.size() == kMostScopes) return "";
            scopes.emplace_back(name.substr(0, slash + 1), 0);
        } else {
            scopes.back().first = scope;
        }
        ++scopes.back().second;
    }
    std::string text;
    for (const auto& [scope, count] : scopes)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", scope, count);
    return text;
}

// A schedule or a metric as a whole, that came or went: "training.schedules[1].cosine".
bool is_member(const Change& change) {
    return change.section == Section::settings && change.what.find("].") != std::string::npos &&
           (change.what.starts_with("training.schedules[") ||
            change.what.starts_with("training.metrics[")) &&
           std::count(change.what.begin(), change.what.end(), '.') == 2;
}

std::string list_of(const Change& change) {
    return change.what.substr(0, change.what.find('['));
}

const std::string& one_side(const Change& change) {
    return change.action == Action::added ? change.after : change.before;
}

}  // namespace

std::string value_words(const std::string& json, Unit unit) {
    if (json.empty()) return "";
    Json value = parsed(json);
    if (value.is_discarded()) return json;
    if (value.is_number_integer() && unit != Unit::none) {
        auto number = value.get<std::int64_t>();
        return unit == Unit::bytes  ? bytes_text(number)
               : unit == Unit::flop ? flops_text(number)
                                    : grouped(number);
    }
    if (value.is_number() && unit == Unit::seconds) return seconds_text(value.get<double>());
    // Reals as they were written: the shortest text that reads back the same.
    return value.is_number() ? json : words(value);
}

std::string range_words(const Change& change) {
    if (change.before.empty() && change.after.empty()) return "";
    if (change.before.empty()) return "(none) -> " + value_words(change.after, change.unit);
    if (change.after.empty()) return value_words(change.before, change.unit) + " -> (none)";
    std::string before = value_words(change.before, change.unit);
    std::string after = value_words(change.after, change.unit);
    if (change.unit == Unit::bytes || change.unit == Unit::flop || change.unit == Unit::seconds) {
        std::size_t s = before.find(' '), t = after.find(' ');
        bool same_words = before == after;
        if (same_words && change.unit != Unit::seconds) {
            before = grouped(std::stoll(change.before));
            after = grouped(std::stoll(change.after)) +
                    (change.unit == Unit::bytes ? " bytes" : " FLOP");
        } else if (s != std::string::npos && t != std::string::npos &&
                   before.substr(s) == after.substr(t)) {
            before.resize(s);
        }
    }
    return before + " -> " + after;
}

std::string member_words(const std::vector<std::string>& members) {
    if (members.size() == kMostNames)
        if (std::string text = scope_words(members); !text.empty()) return text;
    if (members.size() <= kMostNames) return fmt::format("{}", fmt::join(members, ", "));
    if (std::string text = scope_words(members); !text.empty()) return text;
    return fmt::format("{}, {}, ... {}", members[0], members[1], members.back());
}

std::string change_words(const Change& change) {
    switch (change.action) {
        case Action::added:
        case Action::removed:
            if (change.section == Section::layers) return came_or_went(change);
            if (is_member(change))
                return fmt::format("{} {}: {}", change.action == Action::added ? "+" : "-",
                                   list_of(change), value_words(one_side(change), Unit::none));
            if (change.section == Section::fusion)
                return fmt::format("{} {} in {}: {}", change.action == Action::added ? "+" : "-",
                                   change.what, fmt::join(change.programs, ", "),
                                   member_words(change.members));
            break;
        case Action::moved:
            return fmt::format("{} moved: reads {} -> {}", member_words(change.members),
                               value_words(change.before, Unit::none),
                               value_words(change.after, Unit::none));
        case Action::renamed:
            return renamed(change);
        case Action::replaced:
            return replaced(change);
        case Action::changed:
            break;
    }
    std::string text = subject(change), range = range_words(change);
    if (!range.empty()) text += ": " + range + percent(change);
    bool steps = change.section == Section::fusion || change.section == Section::kernels;
    if (change.members.size() > 1 || steps)
        text += fmt::format("{}{}",
                            range.empty() ? ": "
                            : steps       ? ": "
                                          : " in ",
                            member_words(change.members));
    if (steps && change.members.size() > kMostNames)
        text += fmt::format(" ({} steps)", change.members.size());
    return text;
}

namespace {

/// Whether a setting is one of a set with its fields, or a list of such.
bool has_members(const Json& value) {
    if (value.is_array()) return std::any_of(value.begin(), value.end(), has_members);
    return value.is_object() && value.contains("type") && value.contains("fields");
}

Json names_only(const Json& value) {
    if (value.is_array()) {
        Json names = Json::array();
        for (const Json& item : value)
            names.push_back(names_only(item));
        return names;
    }
    return value.is_object() && value.contains("type") ? value["type"] : value;
}

/// "batch_size"; of what stands inside a setting both names: "clip norm", "warm_up epochs".
std::string short_setting(const std::string& path) {
    std::string last = last_part(path);
    const bool inside =
        (path.starts_with("training.") && !path.starts_with("training.optimizer.")) ||
        path.starts_with("dataset.") || path.starts_with("machine.");
    // Fields of a job's own tables say little without the table: "kernels prefer".
    const bool of_job = path.starts_with("parallel.") || path.starts_with("kernels.");
    if (!of_job && (!inside || std::count(path.begin(), path.end(), '.') < 2)) return last;
    const std::string owner = last_part(path.substr(0, path.size() - last.size() - 1));
    return owner.substr(0, owner.find('[')) + " " + last;
}

}  // namespace

std::string short_words(const Change& change) {
    const std::size_t count = change.members.size();
    auto name = [&] { return count == 1 ? change.members.front() : count_of_layers(count); };
    switch (change.action) {
        case Action::added:
        case Action::removed:
            if (change.section == Section::layers)
                return (change.action == Action::added ? "+ " : "- ") + name();
            if (is_member(change))
                return fmt::format("{} {}", change.action == Action::added ? "+" : "-",
                                   last_part(change.what));
            break;
        case Action::moved:
            return name() + " moved";
        case Action::renamed:
            return change.before == "\"\"" || change.after == "\"\"" ? name() + " renamed"
                                                                     : renamed(change);
        case Action::replaced: {
            Json before = parsed(change.before), after = parsed(change.after);
            std::string types =
                fmt::format("{} -> {}", words(before["type"]), words(after["type"]));
            return count == 1 ? types + " at " + name() : types + " in " + name();
        }
        case Action::changed:
            break;
    }
    if (change.section == Section::connections)
        return count == 1 ? fmt::format("{} reads {}", name(), range_words(change))
                          : fmt::format("{} read others", name());
    if (change.section == Section::layers)
        return count == 1
                   ? fmt::format("{}.{} {}", name(), last_part(change.what), range_words(change))
                   : fmt::format("{} of {} {} layers {}", last_part(change.what), count,
                                 type_of_layers(change), range_words(change));
    std::string what = change.what == "training.batch_size" ? "batch" : short_setting(change.what);
    // Names that stand in several specs keep the spec's.
    if (what == "name" || what == "type" || what == "seed" || what == "shape") what = change.what;
    std::replace(what.begin(), what.end(), '_', ' ');
    const Json before = parsed(change.before), after = parsed(change.after);
    if (has_members(before) || has_members(after))
        return fmt::format("{} {} -> {}", what,
                           change.before.empty() ? "(none)" : words(names_only(before)),
                           change.after.empty() ? "(none)" : words(names_only(after)));
    return what + " " + range_words(change);
}

}  // namespace dtnn::plan
