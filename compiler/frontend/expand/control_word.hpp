#pragma once
/// The entries of a list of layers that are no layers: they say which layers there are.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/enum_names.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {

enum class ControlWord : std::uint8_t { repeat, condition };

constexpr auto names_of(ControlWord) {
    return std::to_array<const char*>({"repeat", "if"});
}

/// Nothing when the type is of a layer.
inline std::optional<ControlWord> control_word(std::string_view type) {
    ControlWord word = {};
    return parse_name(type, word) ? std::optional(word) : std::nullopt;
}

inline const FieldTable& table_of(ControlWord word) {
    return word == ControlWord::repeat ? repeat_table() : if_table();
}

/// Whether the field of that name, of an entry of one of these words, is a list of layers.
inline bool holds_layers(std::string_view field) {
    for (const ControlWord word : {ControlWord::repeat, ControlWord::condition})
        if (const Field* found = find_field(table_of(word), field))
            return found->type == FieldType::layers;
    return false;
}

}  // namespace dtnn::compiler
