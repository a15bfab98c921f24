#include "runtime/checkpoint/name_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/file_limits.hpp"
#include "base/json.hpp"
#include "runtime/base/regular_file.hpp"

namespace dtnn::runtime {
namespace {

std::ptrdiff_t stars(std::string_view text) {
    return std::count(text.begin(), text.end(), '*');
}

/// The pattern's literal pieces between its stars.
std::vector<std::string_view> pieces_of(std::string_view pattern) {
    std::vector<std::string_view> pieces;
    while (true) {
        const std::size_t star = pattern.find('*');
        pieces.push_back(pattern.substr(0, star));
        if (star == std::string_view::npos) return pieces;
        pattern.remove_prefix(star + 1);
    }
}

}  // namespace

std::optional<std::vector<std::string_view>> match_stars(std::string_view pattern,
                                                         std::string_view text) {
    const std::vector<std::string_view> pieces = pieces_of(pattern);
    if (pieces.size() == 1) {
        if (pattern != text) return std::nullopt;
        return std::vector<std::string_view>{};
    }
    const std::string_view first = pieces.front(), last = pieces.back();
    if (text.size() < first.size() + last.size() || !text.starts_with(first) ||
        !text.ends_with(last))
        return std::nullopt;
    text.remove_prefix(first.size());
    text.remove_suffix(last.size());
    // Taking each piece where it comes first leaves the most room for those behind it.
    std::vector<std::string_view> found;
    for (std::size_t i = 1; i + 1 < pieces.size(); ++i) {
        const std::size_t at = text.find(pieces[i]);
        if (at == std::string_view::npos) return std::nullopt;
        found.push_back(text.substr(0, at));
        text.remove_prefix(at + pieces[i].size());
    }
    found.push_back(text);
    return found;
}

NameMap NameMap::parse(const std::string& text, const std::string& path) {
    const auto bad = [&](const std::string& fact) {
        return RunError(Exit::mismatch, fmt::format("the map {} {}", path, fact),
                        "it is one JSON object: {\"NAME IN THE FILE\": \"NAME IN THE PLAN\", ...}, "
                        "with * for any text, and null for what is left out");
    };
    // A name that comes twice would silently be the last one; parse_json() refuses it.
    Json json;
    try {
        json = parse_json(text);
    } catch (const Json::exception& error) {
        throw bad(fmt::format("is no JSON: {}", error.what()));
    }
    if (!json.is_object()) throw bad("is no JSON object");
    NameMap map;
    for (const auto& item : json.items()) {
        if (item.value().is_null()) {
            map.entries_.push_back({item.key(), std::nullopt});
            continue;
        }
        if (!item.value().is_string())
            throw bad(fmt::format("gives `{}` something that is no text", item.key()));
        std::string to = item.value().get<std::string>();
        if (stars(to) > stars(item.key()))
            throw bad(fmt::format("has more * in `{}` than in `{}`", to, item.key()));
        map.entries_.push_back({item.key(), std::move(to)});
    }
    return map;
}

NameMap NameMap::read(const std::string& path) {
    return parse(read_file(path, kMostSmallFileBytes, "a map", Exit::mismatch), path);
}

std::optional<NameMap::Target> NameMap::find(const std::string& name) {
    for (Entry& entry : entries_) {
        const auto found = match_stars(entry.from, name);
        if (!found) continue;
        entry.used = true;
        if (!entry.to) return Target{true, {}};
        std::string result;
        std::size_t star = 0;
        for (const char c : *entry.to) {
            if (c == '*') {
                result += (*found)[star++];
            } else {
                result += c;
            }
        }
        return Target{false, std::move(result)};
    }
    return std::nullopt;
}

std::vector<std::string> NameMap::unused() const {
    std::vector<std::string> result;
    for (const Entry& entry : entries_) {
        if (!entry.used) result.push_back(entry.from);
    }
    return result;
}

}  // namespace dtnn::runtime
