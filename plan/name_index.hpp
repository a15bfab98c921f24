#pragma once
/// Finds entries of a list by their names, in constant time. The index holds no text: it asks the
/// list for the names of the few entries that it compares with, so it costs eight to sixteen bytes
/// an entry however long the names are, and the list may grow and move.

#include <cstdint>
#include <string_view>
#include <vector>

namespace dtnn::plan {

class NameIndex {
  public:
    /// With room for so many entries.
    explicit NameIndex(std::size_t expected = 0);

    /// The entry that has this name; where none has it, `number` is entered for it and returned.
    /// `name_of(n)` gives the name of an entry that was entered before. `number` < 2^32 - 1.
    template <class NameOf>
    std::uint32_t find_or_add(std::string_view name, std::uint32_t number, NameOf&& name_of) {
        if (4 * (used_ + 1) > 3 * slots_.size()) grow(used_ + 1);
        const std::uint32_t hash = hash_of(name);
        for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
            Slot& slot = slots_[at];
            if (slot.number == kFree) {
                slot = {hash, number};
                ++used_;
                return number;
            }
            if (slot.hash == hash && std::string_view(name_of(slot.number)) == name)
                return slot.number;
        }
    }

  private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t number = kFree;
    };
    static constexpr std::uint32_t kFree = ~std::uint32_t{0};

    static std::uint32_t hash_of(std::string_view name);
    std::size_t mask() const { return slots_.size() - 1; }
    void grow(std::size_t entries);

    std::vector<Slot> slots_;  // open addressing, a power of two of them, at most 3/4 full
    std::size_t used_ = 0;
};

}  // namespace dtnn::plan
