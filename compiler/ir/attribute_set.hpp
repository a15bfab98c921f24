#pragma once
/// Attributes of which each is kept once: the nodes of a network are many, their attributes few.

#include <cstdint>
#include <unordered_map>

#include "base/tensor/attributes.hpp"

namespace dtnn::compiler {

class AttributeSet {
  public:
    struct Entry {
        Attributes attributes;
        std::uint32_t number;  ///< counted from 0 in the order that they appear
    };

    /// The same names and values, told apart to the sign of a zero. References hold as long as the
    /// set.
    const Entry& entry(const Attributes& attributes);
    /// The entry whose very map this is, or that it is known to equal; null when it must be looked
    /// up by its contents.
    const Entry* known(const Attributes& attributes) const {
        const auto found = by_map_.find(&attributes.map());
        return found == by_map_.end() ? nullptr : found->second;
    }
    /// From now on also this map is known to equal the entry. It is kept.
    void add_alias(const Attributes& attributes, const Entry& entry);

  private:
    std::unordered_multimap<std::size_t, Entry> entries_;  // by the hash of the contents
    std::unordered_map<const Attributes::Map*, const Entry*> by_map_;  // of maps that are kept
    std::unordered_map<const Attributes::Map*, Attributes> aliases_;
};

}  // namespace dtnn::compiler
