#pragma once
/// Changes as they are found: equal ones of several layers, parameters or steps are one.

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plan/diff/diff.hpp"

namespace dtnn::plan {

/// A change of no unit, which is of no member yet.
Change make_change(Section section, Action action, std::string what, std::string before,
                   std::string after, Meaning meaning, std::string_view reason);

class ChangeList {
  public:
    /// Adds the member to the change of this section, action, subject and values, or to a new one.
    Change& add(Change change, const std::string& member);
    /// A change that is none of members; left out where its two sides are equal.
    void add(Change change);

    bool empty() const { return changes_.empty(); }
    /// Appends them to `all`; nothing is left.
    void move_to(std::vector<Change>& all);

  private:
    std::vector<Change> changes_;
    std::unordered_map<std::string, std::size_t> index_;
    std::unordered_map<std::size_t, std::unordered_set<std::string>> members_;  ///< by change
};

}  // namespace dtnn::plan
