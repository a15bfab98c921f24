#include "compiler/ir/attribute_set.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

namespace dtnn::compiler {
namespace {

std::size_t mix(std::size_t seed, std::size_t value) {
    return (seed ^ value) * 0x9e3779b97f4a7c15ULL + (seed >> 32);
}

std::size_t hash_of(const AttributeValue& value) {
    return std::visit(
        [](const auto& v) {
            using V = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<V, std::vector<std::int64_t>>) {
                std::size_t h = v.size();
                for (const std::int64_t element : v)
                    h = mix(h, std::size_t(element));
                return h;
            } else if constexpr (std::is_same_v<V, std::vector<double>>) {
                std::size_t h = v.size();
                for (const double element : v)
                    h = mix(h, std::hash<double>{}(element));
                return h;
            } else {
                return std::hash<V>{}(v);
            }
        },
        value);
}

std::size_t hash_of(const Attributes& attributes) {
    std::size_t h = attributes.size();
    for (const auto& [name, value] : attributes)
        h = mix(mix(h, std::hash<std::string>{}(name)), hash_of(value) + value.index());
    return h;
}

bool same_sign(double a, double b) {
    return std::signbit(a) == std::signbit(b);
}

// Equality takes the two zeros for one number; texts do not.
bool identical(const Attributes& a, const Attributes& b) {
    if (a != b) return false;
    return std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
        if (const auto* real = std::get_if<double>(&x.second))
            return same_sign(*real, std::get<double>(y.second));
        if (const auto* reals = std::get_if<std::vector<double>>(&x.second))
            return std::equal(reals->begin(), reals->end(),
                              std::get<std::vector<double>>(y.second).begin(), same_sign);
        return true;
    });
}

}  // namespace

const AttributeSet::Entry& AttributeSet::entry(const Attributes& attributes) {
    if (const Entry* found = known(attributes)) return *found;
    const std::size_t hash = hash_of(attributes);
    const auto [first, last] = entries_.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (identical(it->second.attributes, attributes)) return it->second;
    const auto number = std::uint32_t(entries_.size());
    const Entry& fresh = entries_.emplace(hash, Entry{attributes, number})->second;
    by_map_.emplace(&fresh.attributes.map(), &fresh);
    return fresh;
}

void AttributeSet::add_alias(const Attributes& attributes, const Entry& entry) {
    if (by_map_.emplace(&attributes.map(), &entry).second)
        aliases_.emplace(&attributes.map(), attributes);
}

}  // namespace dtnn::compiler
