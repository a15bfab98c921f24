#include "plan/name_index.hpp"

// The functions themselves instead of calls into the library: names are short.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dtnn::plan {

NameIndex::NameIndex(std::size_t expected) {
    grow(expected);
}

std::uint32_t NameIndex::hash_of(std::string_view name) {
    const std::uint64_t hash = XXH3_64bits(name.data(), name.size());
    return std::uint32_t(hash ^ (hash >> 32));
}

void NameIndex::grow(std::size_t entries) {
    std::size_t size = slots_.empty() ? 16 : slots_.size();
    while (4 * entries > 3 * size)
        size *= 2;
    if (size == slots_.size()) return;
    std::vector<Slot> old(size);
    old.swap(slots_);
    for (const Slot& slot : old) {
        if (slot.number == kFree) continue;
        std::size_t at = slot.hash & mask();
        while (slots_[at].number != kFree)
            at = (at + 1) & mask();
        slots_[at] = slot;
    }
}

}  // namespace dtnn::plan
