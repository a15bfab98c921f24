#pragma once
/// The words that stand for the values of a closed set in plans, specs and messages. An enum has
/// them beside it, in a function `names_of(Enum)`: an array in the order of the values, which count
/// from 0. They are written and read here and nowhere else.

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace dtnn {

template <class Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
    names_of(value);
};

template <NamedEnum Enum>
constexpr const char* name_of(Enum value) {
    return names_of(value)[std::size_t(value)];
}

/// Sets `value` to the one of this name; false, and nothing is set, when there is none.
template <NamedEnum Enum>
constexpr bool parse_name(std::string_view name, Enum& value) {
    const auto names = names_of(value);
    for (std::size_t i = 0; i < names.size(); ++i)
        if (name == names[i]) {
            value = static_cast<Enum>(i);
            return true;
        }
    return false;
}

}  // namespace dtnn
