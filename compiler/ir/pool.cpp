#include "compiler/ir/pool.hpp"

namespace dtnn::compiler {

std::size_t hash_of(const Type& type) {
    const auto mix = [](std::size_t seed, std::size_t value) {
        return (seed ^ value) * 0x9e3779b97f4a7c15ULL + (seed >> 32);
    };
    std::size_t h = mix(std::size_t(type.dtype), type.order.size());
    for (const std::int64_t extent : type.dims)
        h = mix(h, std::size_t(extent));
    for (const int axis : type.order)
        h = mix(h, std::size_t(axis));
    for (const AxisKind axis : type.axes)
        h = mix(h, std::size_t(axis));
    return h;
}

Name Pool::name(std::string_view text) {
    if (2 * (texts_.size() + 1) > slots_.size()) grow();
    const std::size_t full = std::hash<std::string_view>{}(text);
    const auto hash = std::uint32_t(full ^ (full >> 32));
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    for (; slots_[at].number != Name::kNone; at = (at + 1) & mask)
        if (slots_[at].hash == hash && texts_[slots_[at].number] == text)
            return {texts_[slots_[at].number], slots_[at].number};
    const auto number = std::uint32_t(texts_.size());
    slots_[at] = {hash, number};
    return {texts_.emplace_back(text), number};
}

void Pool::grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 4 * slots_.size());
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.number == Name::kNone) continue;
        std::size_t at = slot.hash & mask;
        while (slots_[at].number != Name::kNone)
            at = (at + 1) & mask;
        slots_[at] = slot;
    }
}

TypeRef Pool::type(const Type& type) {
    const std::size_t hash = hash_of(type);
    const auto [first, last] = type_of_hash_.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (it->second->type == type) return TypeRef(*it->second);
    const auto number = std::uint32_t(types_.size());
    types_.push_back({type, number});
    type_of_hash_.emplace(hash, &types_.back());
    return TypeRef(types_.back());
}

}  // namespace dtnn::compiler
