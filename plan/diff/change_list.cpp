#include "plan/diff/change_list.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace dtnn::plan {

Change make_change(Section section, Action action, std::string what, std::string before,
                   std::string after, Meaning meaning, std::string_view reason) {
    return {.section = section,
            .action = action,
            .what = std::move(what),
            .before = std::move(before),
            .after = std::move(after),
            .meaning = meaning,
            .reason = std::string(reason)};
}

Change& ChangeList::add(Change change, const std::string& member) {
    std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", name_of(change.section), change.what,
                                  change.before, change.after, name_of(change.action));
    const auto [known, added] = index_.emplace(std::move(key), changes_.size());
    if (added) changes_.push_back(std::move(change));
    Change& result = changes_[known->second];
    if (members_[known->second].insert(member).second) result.members.push_back(member);
    return result;
}

void ChangeList::add(Change change) {
    if (change.before != change.after) changes_.push_back(std::move(change));
}

void ChangeList::move_to(std::vector<Change>& all) {
    std::move(changes_.begin(), changes_.end(), std::back_inserter(all));
    *this = {};
}

}  // namespace dtnn::plan
