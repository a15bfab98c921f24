#include "compiler/ir/name_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {
namespace {

std::uint32_t hash_of(std::string_view name) {
    const std::size_t hash = std::hash<std::string_view>{}(name);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

void NameTable::grow(std::size_t values) {
    const std::size_t size = std::bit_ceil(2 * values + 16);
    if (size <= slots_.size()) return;
    std::vector<Slot> old(size);
    old.swap(slots_);
    for (const Slot& slot : old) {
        if (slot.index == kFree) continue;
        std::size_t at = slot.hash & (size - 1);
        while (slots_[at].index != kFree)
            at = (at + 1) & (size - 1);
        slots_[at] = slot;
    }
}

bool NameTable::insert(const std::vector<Value>& values, std::size_t index) {
    grow(used_ + 1);
    return insert(values, index, hash_of(values[index].name));
}

bool NameTable::insert(const std::vector<Value>& values, std::size_t index, std::uint32_t hash) {
    const std::string& name = values[index].name;
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    bool fresh = true;
    for (; slots_[at].index != kFree; at = (at + 1) & mask)
        if (slots_[at].hash == hash && values[slots_[at].index].name == name) fresh = false;
    slots_[at] = {hash, static_cast<std::uint32_t>(index)};
    ++used_;
    return fresh;
}

bool NameTable::update(const std::vector<Value>& values, std::vector<std::size_t>* twice) {
    grow(used_ + values.size() - known_);
    bool unique = true;
    // The slots of a large table are in no cache: those of a few names are fetched together.
    std::array<std::uint32_t, 16> hashes{};
    while (known_ < values.size()) {
        const std::size_t count = std::min(hashes.size(), values.size() - known_);
        for (std::size_t i = 0; i < count; ++i) {
            hashes[i] = hash_of(values[known_ + i].name);
            __builtin_prefetch(&slots_[hashes[i] & (slots_.size() - 1)], 1);
        }
        for (std::size_t i = 0; i < count; ++i, ++known_)
            if (!insert(values, known_, hashes[i])) {
                unique = false;
                if (twice) twice->push_back(known_);
            }
    }
    return unique;
}

bool NameTable::add_last(const std::vector<Value>& values) {
    const std::size_t last = values.size() - 1;
    for (; known_ < last; ++known_)
        insert(values, known_);
    grow(used_ + 1);
    const std::string& name = values[last].name;
    const std::uint32_t hash = hash_of(name);
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    for (; slots_[at].index != kFree; at = (at + 1) & mask)
        if (slots_[at].hash == hash && values[slots_[at].index].name == name) return false;
    slots_[at] = {hash, static_cast<std::uint32_t>(last)};
    ++used_;
    ++known_;
    return true;
}

bool NameTable::contains(const std::vector<Value>& values, std::string_view name) const {
    if (slots_.empty()) return false;
    const std::uint32_t hash = hash_of(name);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask; slots_[at].index != kFree; at = (at + 1) & mask)
        if (slots_[at].hash == hash && values[slots_[at].index].name == name) return true;
    return false;
}

void NameTable::renamed(const std::vector<Value>& values, std::size_t index) {
    if (index < known_) insert(values, index);
}

std::string NameTable::unique(const std::vector<Value>& values, const std::string& wanted,
                              bool taken) {
    update(values);
    if (!contains(values, wanted)) return wanted;
    int& next = next_.try_emplace(wanted, 1).first->second;
    for (;; ++next) {
        std::string name = fmt::format("{}.{}", wanted, next);
        if (contains(values, name)) continue;
        next += taken ? 1 : 0;
        return name;
    }
}

}  // namespace dtnn::compiler
