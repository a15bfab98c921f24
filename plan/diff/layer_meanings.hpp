#pragma once
/// Which field of a layer changes what is trained, and which only how it is carried out. What
/// settings mean stands in their tables' rows and in plans (ResolvedValue).

#include <string_view>
#include <vector>

#include "plan/enums.hpp"

namespace dtnn::plan {

/// The meaning of an operator's field; type "*" is the rule for the field of that name in every
/// operator without a rule of its own.
struct LayerMeaning {
    std::string_view type;
    std::string_view field;
    Meaning meaning;
    std::string_view reason;
};

const std::vector<LayerMeaning>& layer_meanings();

/// The meaning of a layer's field, `name` and `from` included. A field without an entry is taken to
/// change the mathematics, which is the safe side.
const LayerMeaning& meaning_of_layer_field(std::string_view type, std::string_view field);
/// Null when there is no entry for the field.
const LayerMeaning* find_layer_meaning(std::string_view type, std::string_view field);

/// Why what nothing is said of is taken to change the mathematics.
inline constexpr std::string_view kNoLabel = "nothing says that it leaves the mathematics alone";

}  // namespace dtnn::plan
