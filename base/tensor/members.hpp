#pragma once
/// A node, a step or a problem may stand for several of its operator, its members, which a device
/// does in one launch: the attribute `members` says how many. Its other attributes are those of
/// each; its sources are the first member's, then the second's, and so on, and so are its
/// destinations.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/tensor/attributes.hpp"

namespace dtnn {

inline constexpr const char* kMembers = "members";

/// One where the attribute is not there; what it says otherwise, which may be anything.
inline std::int64_t member_count(const Attributes& attributes) {
    const auto found = attributes.find(kMembers);
    if (found == attributes.end()) return 1;
    const auto* count = std::get_if<std::int64_t>(&found->second);
    return count != nullptr ? *count : 0;
}

/// The part of a list that belongs to a member. The list divides into so many parts.
template <class V>
std::vector<V> of_member(const std::vector<V>& list, std::size_t member, std::size_t count) {
    const std::size_t each = list.size() / count;
    const auto first = list.begin() + std::ptrdiff_t(member * each);
    return {first, first + std::ptrdiff_t(each)};
}

}  // namespace dtnn
