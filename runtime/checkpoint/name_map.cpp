#include "runtime/checkpoint/name_map.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/file_limits.hpp"
#include "base/json.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/checkpoint/weight_layout.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kMostEntries = 20'000, kMostSteps = 16;

/// Throws about one map.
class MapReader {
  public:
    explicit MapReader(const std::string& path) : path_(path) {}

    [[noreturn]] void refuse(const std::string& fact) const {
        throw RunError(Exit::mismatch, fmt::format("the map {} {}", path_, fact),
                       "it is one JSON object: {\"NAME IN THE FILE\": \"NAME IN THE PLAN\", ...}, "
                       "with * for any text, {x} for a number, and null for what is left out");
    }

    NamePattern pattern(const std::string& text) const {
        std::string fault;
        auto pattern = NamePattern::parse(text, fault);
        if (!pattern) refuse(fmt::format("has an entry `{}`: {}", text, fault));
        return std::move(*pattern);
    }

    /// The right side of the entry `from`.
    NamePattern target(const NamePattern& from, const std::string& text) const {
        NamePattern to = pattern(text);
        if (to.stars() > from.stars())
            refuse(fmt::format("has more * in `{}` than in `{}`", text, from.text()));
        if (const std::string number = to.number_not_in(from); !number.empty())
            refuse(fmt::format("has a number {{{}}} in `{}` that `{}` has not", number, text,
                               from.text()));
        return to;
    }

    std::string text(const Json& value, const std::string& name) const {
        if (!value.is_string()) refuse(fmt::format("gives `{}` something that is no text", name));
        return value.get<std::string>();
    }

  private:
    const std::string& path_;
};

}  // namespace

NameMap NameMap::parse(const std::string& text, const std::string& path) {
    const MapReader reader(path);
    // A name that comes twice would silently be the last one; parse_json() refuses it.
    Json json;
    try {
        json = parse_json(text);
    } catch (const Json::exception& error) {
        reader.refuse(fmt::format("is no JSON: {}", error.what()));
    }
    if (!json.is_object()) reader.refuse("is no JSON object");
    NameMap map;
    map.path_ = path;
    std::size_t count = 0;
    const auto add_step = [&](const Json& entries) {
        if (!entries.is_object()) reader.refuse("has `names` that are no JSON object");
        count += entries.size();
        if (count > kMostEntries || map.steps_.size() == kMostSteps)
            reader.refuse(fmt::format("has more than {} entries, or more than {} steps",
                                      kMostEntries, kMostSteps));
        Step& step = map.steps_.emplace_back();
        for (const auto& item : entries.items()) {
            NamePattern from = reader.pattern(item.key());
            std::optional<NamePattern> to;
            if (!item.value().is_null())
                to = reader.target(from, reader.text(item.value(), item.key()));
            step.push_back({std::move(from), std::move(to)});
        }
    };
    const auto names = json.find("names");
    map.family_ = names != json.end() && names->is_structured();
    if (!map.family_) {
        add_step(json);
        return map;
    }
    for (const auto& item : json.items()) {
        if (item.key() == "names") continue;
        if (item.key() == "models" && item.value().is_object()) {
            for (const auto& model : item.value().items())
                map.models_[model.key()] = reader.text(model.value(), model.key());
        } else if (item.key() == "layout") {
            map.layout_ = reader.text(item.value(), item.key());
            if (!parse_layout(map.layout_))
                reader.refuse(fmt::format("has the unknown layout `{}`", map.layout_));
        } else if (item.key() == "description") {
            static_cast<void>(reader.text(item.value(), item.key()));
        } else {
            reader.refuse(
                fmt::format("has `{}` beside `names`; a family's map has description, "
                            "models, layout and names",
                            item.key()));
        }
    }
    if (names->is_object()) {
        add_step(*names);
    } else {
        for (const Json& entries : *names)
            add_step(entries);
    }
    return map;
}

NameMap NameMap::read(const std::string& path) {
    return parse(read_file(path, kMostSmallFileBytes, "a map", Exit::mismatch), path);
}

std::optional<NamePattern::Found> NameMap::match(const NamePattern& pattern,
                                                 const std::string& name) const {
    // The map of the largest networks takes a hundredth of this.
    constexpr std::int64_t kMostTried = 200'000'000;
    if (tried_ > kMostTried)
        MapReader(path_).refuse("has patterns that take too long to look for among so many names");
    return pattern.match(name, tried_);
}

std::optional<NameMap::Match> NameMap::first_match(const Step& step,
                                                   const std::string& name) const {
    stop_before("finding names by " + path_);
    for (std::size_t i = 0; i < step.size(); ++i) {
        const auto found = match(step[i].from, name);
        if (!found) continue;
        if (!step[i].to) return Match{i, std::nullopt};
        if (auto filled = step[i].to->fill(*found)) return Match{i, std::move(filled)};
    }
    return std::nullopt;
}

std::optional<std::string> NameMap::applied(const Step& step, const std::string& name) const {
    const auto match = first_match(step, name);
    return match ? match->name : name;
}

std::optional<NameMap::Target> NameMap::find(const std::string& name, const std::string& wrapper) {
    auto target = find_as_it_is(name);
    if (target || wrapper.empty()) return target;
    return find_as_it_is(name.substr(wrapper.size()));
}

std::optional<NameMap::Target> NameMap::find_as_it_is(const std::string& name) {
    Target target{false, name};
    bool any = false;
    for (Step& step : steps_) {
        const auto match = first_match(step, target.name);
        if (!match) continue;
        any = true;
        step[match->entry].used = true;
        if (!match->name) return Target{true, {}};
        target.name = *match->name;
    }
    if (!any) return std::nullopt;
    return target;
}

std::optional<std::string> NameMap::origin(const std::string& target) const {
    std::string name = target;
    bool any = false;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        for (const Entry& entry : *step) {
            if (!entry.to) continue;
            const auto found = match(*entry.to, name);
            const auto from = found ? entry.from.fill(*found) : std::nullopt;
            if (!from || applied(*step, *from) != name) continue;
            name = *from;
            any = true;
            break;
        }
    }
    if (!any) return std::nullopt;
    std::string forward = name;
    for (const Step& step : steps_) {
        auto next = applied(step, forward);
        if (!next) return std::nullopt;
        forward = std::move(*next);
    }
    return forward == target ? std::optional(name) : std::nullopt;
}

std::vector<std::string> NameMap::unused() const {
    std::vector<std::string> result;
    if (family_) return result;
    for (const Step& step : steps_) {
        for (const Entry& entry : step) {
            if (!entry.used) result.push_back(entry.from.text());
        }
    }
    return result;
}

}  // namespace dtnn::runtime
