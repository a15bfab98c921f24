#pragma once
/// The settings of a plan by their paths, and the members of fields that choose others: optimizers,
/// schedules, transforms.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "plan/diff/layer_meanings.hpp"
#include "plan/plan.hpp"

namespace dtnn::plan {

struct Setting {
    std::string value;  ///< JSON text
    bool written = false;
    Meaning meaning = Meaning::mathematics;
    std::string reason = std::string(kNoLabel);
};
using Settings = std::map<std::string, Setting>;

/// Whether a path is of a member, or a field of one, of what the other chooses.
bool is_below(const std::string& path, const std::string& owner);

/// A member, or the members of a list, as one value: a name, or name and fields.
std::string member_value(const Settings& settings, const std::string& owner,
                         const std::string& value);

/// One of a list of schedules or metrics.
struct ListMember {
    std::string name;  ///< "cosine"
    Settings fields;   ///< "epochs"
    bool matched = false;

    /// Its whole as one setting: of the mathematics if one of its fields is; without fields as the
    /// list is.
    Setting whole(const Setting& list_setting, bool written) const;

    std::string value() const;
    bool operator==(const ListMember& other) const { return value() == other.value(); }
};

std::string member_path(const std::string& owner, std::size_t place, const std::string& name);

/// The members of a list, which leave the settings.
std::vector<ListMember> take_members(Settings& settings, const std::string& owner);

/// Which of `a` is which of `b`: equal ones first, then those of one name, each in their order.
std::map<std::size_t, std::size_t> paired(const std::vector<ListMember>& a,
                                          const std::vector<ListMember>& b);

}  // namespace dtnn::plan
