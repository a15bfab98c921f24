#include "plan/diff/setting_members.hpp"

#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "base/json_text.hpp"

namespace dtnn::plan {

bool is_below(const std::string& path, const std::string& owner) {
    return path.size() > owner.size() && path.starts_with(owner) &&
           (path[owner.size()] == '.' || path[owner.size()] == '[');
}

std::string member_value(const Settings& settings, const std::string& owner,
                         const std::string& value) {
    // "schedules[1].cosine.epochs": by what is between the owner and the field.
    std::map<std::string, std::string> fields;
    for (auto item = settings.upper_bound(owner); item != settings.end(); ++item) {
        if (!item->first.starts_with(owner)) break;
        if (!is_below(item->first, owner)) continue;
        const std::string rest = item->first.substr(owner.size());
        const std::size_t dot = rest.rfind('.');
        // A group's pattern is its name.
        if (rest.substr(dot) == ".parameters") continue;
        std::string& list = fields[rest.substr(0, std::min(rest.find(']'), dot))];
        list += (list.empty() ? "" : ", ") + json_text(rest.substr(dot + 1)) + ": " +
                item->second.value;
    }
    auto member = [&](const std::string& name, const std::string& key) {
        auto found = fields.find(key);
        if (found == fields.end()) return name;
        return "{" + json_text("type") + ": " + name + ", " + json_text("fields") + ": {" +
               found->second + "}}";
    };
    if (!value.starts_with("["))
        return fields.empty() ? value : member(value, fields.begin()->first);
    // The names are JSON texts, in which a bracket or a comma may stand.
    std::string text;
    std::size_t index = 0;
    for (std::size_t at = 1; at < value.size();) {
        if (value[at] != '"') {
            ++at;
            continue;
        }
        std::size_t end = at + 1;
        while (end < value.size() && value[end] != '"')
            end += value[end] == '\\' ? 2 : 1;
        text += (text.empty() ? "" : ", ") +
                member(value.substr(at, end + 1 - at), "[" + std::to_string(index++));
        at = end + 1;
    }
    return "[" + text + "]";
}

Setting ListMember::whole(const Setting& list_setting, bool written) const {
    const Setting* label = fields.empty() ? &list_setting : &fields.begin()->second;
    for (const auto& [field, setting] : fields)
        if (setting.meaning == Meaning::mathematics) {
            label = &setting;
            break;
        }
    return {value(), written, label->meaning, label->reason};
}

std::string ListMember::value() const {
    if (fields.empty()) return json_text(name);
    std::string list;
    for (const auto& [field, setting] : fields)
        list += (list.empty() ? "" : ", ") + json_text(field) + ": " + setting.value;
    return "{" + json_text("type") + ": " + json_text(name) + ", " + json_text("fields") + ": {" +
           list + "}}";
}

std::string member_path(const std::string& owner, std::size_t place, const std::string& name) {
    return owner + "[" + std::to_string(place) + "]." + name;
}

std::vector<ListMember> take_members(Settings& settings, const std::string& owner) {
    std::vector<ListMember> members;
    const Json names = parse_json_or_discard(settings.at(owner).value);
    for (const Json& name : names.is_array() ? names : Json::array({names})) {
        ListMember member{name.is_string() ? name.get<std::string>() : write_json(name), {}};
        const std::string prefix = member_path(owner, members.size(), member.name) + ".";
        // A list of one may be written as the member itself.
        const std::string alone = owner + "." + member.name + ".";
        for (const auto& [path, setting] : settings)
            for (const std::string& start : {prefix, alone})
                if (path.starts_with(start)) member.fields[path.substr(start.size())] = setting;
        members.push_back(std::move(member));
    }
    std::erase_if(settings, [&](const auto& item) {
        return item.first == owner || is_below(item.first, owner);
    });
    return members;
}

std::map<std::size_t, std::size_t> paired(const std::vector<ListMember>& a,
                                          const std::vector<ListMember>& b) {
    std::map<std::size_t, std::size_t> pairs;
    std::set<std::size_t> taken;
    const auto pair = [&](auto&& alike) {
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < b.size() && !pairs.contains(i); ++j)
                if (!taken.contains(j) && alike(a[i], b[j])) {
                    pairs[i] = j;
                    taken.insert(j);
                }
    };
    pair([](const ListMember& s, const ListMember& t) { return s == t; });
    pair([](const ListMember& s, const ListMember& t) { return s.name == t.name; });
    return pairs;
}

}  // namespace dtnn::plan
