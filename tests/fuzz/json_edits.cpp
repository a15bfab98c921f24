#include "tests/fuzz/json_edits.hpp"

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace dtnn::fuzz {
namespace {

struct Place {
    Json* node;
    Json* parent;
};

void collect(Json& node, Json* parent, std::vector<Place>& places) {
    places.push_back({&node, parent});
    if (!node.is_structured()) return;
    for (Json& child : node)
        collect(child, &node, places);
}

Json other_integer(const Json& value, Choices& choices) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    static constexpr std::array<std::int64_t, 16> kNumbers = {
        0,      1,           -1,          2,       3,
        7,      64,          4096,        1 << 16, 1 << 24,
        kLeast, (1LL << 31), (1LL << 32), kMost,   kMost / 8 + 1,
        -4096};
    const std::size_t which = choices.below(2 * kNumbers.size());
    if (which < kNumbers.size()) return kNumbers[which];
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t(kMost)) return 0;
    // A step to the side, or a multiple.
    const std::int64_t before = value.get<std::int64_t>();
    const std::int64_t by = std::int64_t(which - kNumbers.size()) - 7;
    std::int64_t after = 0;
    const bool over = by == 0 ? __builtin_mul_overflow(before, 2, &after)
                              : __builtin_add_overflow(before, by, &after);
    return over ? 0 : after;
}

Json other_real(Choices& choices) {
    static constexpr std::array<double, 10> kNumbers = {0.0,   -0.0,   1.0,    -1.0, 0.5,
                                                        1e300, -1e300, 1e-320, 1e9,  2.5};
    const std::size_t which = choices.below(kNumbers.size() + 3);
    if (which < kNumbers.size()) return kNumbers[which];
    Json special = Json::object();
    special["real"] = std::array{"inf", "-inf", "nan"}[which - kNumbers.size()];
    return special;
}

Json of_another_type(Choices& choices) {
    switch (choices.below(8)) {
        case 0:
            return nullptr;
        case 1:
            return true;
        case 2:
            return false;
        case 3:
            return "";
        case 4:
            return Json::array();
        case 5:
            return Json::object();
        case 6:
            return -1;
        default:
            return 0.5;
    }
}

bool is_number(const Json& value) {
    return value.is_number();
}

/// A value of elsewhere that is of the same kind.
const Json* like(const Json& value, const std::vector<Place>& places, Choices& choices) {
    const std::size_t begin = choices.below(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Json& other = *places[(begin + i) % places.size()].node;
        if (&other != &value && (other.type() == value.type() ||
                                 (other.is_number_integer() && value.is_number_integer())))
            return &other;
    }
    return nullptr;
}

void erase(const Place& place) {
    for (auto i = place.parent->begin(); i != place.parent->end(); ++i) {
        if (&*i != place.node) continue;
        place.parent->erase(i);
        return;
    }
}

/// Doubled, or exchanged with another one of its list.
void rearrange(const Place& place, Choices& choices) {
    Json& list = *place.parent;
    const std::size_t index = std::size_t(place.node - &list[0]);
    if (choices.below(2) == 0) {
        const Json copy = *place.node;
        list.insert(list.begin() + std::ptrdiff_t(index), copy);
    } else {
        std::swap(list[index], list[choices.below(list.size())]);
    }
}

void edit_once(Json& document, Choices& choices) {
    std::vector<Place> places;
    collect(document, nullptr, places);
    if (places.size() < 2) return;
    const Place place = places[1 + choices.below(places.size() - 1)];
    Json& value = *place.node;
    const std::size_t what = choices.below(16);
    if (what == 0) return erase(place);
    if (what == 1) return void(value = of_another_type(choices));
    if (what <= 3 && place.parent->is_array()) return rearrange(place, choices);
    if (what <= 9 && is_number(value)) {
        value = value.is_number_float() ? other_real(choices) : other_integer(value, choices);
        return;
    }
    if (value.is_boolean()) return void(value = !value.get<bool>());
    // A copy: what is copied may hold the place, or lie in it.
    if (const Json* other = like(value, places, choices)) {
        Json copy = *other;
        value = std::move(copy);
    }
}

}  // namespace

void edit(Json& document, Choices& choices, int most) {
    for (; most > 0 && !choices.over(); --most)
        edit_once(document, choices);
}

}  // namespace dtnn::fuzz
