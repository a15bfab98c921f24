#pragma once
/// Patterns over names: `*` stands for any characters, none and `/` among them, `?` for exactly
/// one; every other character for itself.

#include <string_view>

namespace dtnn {

bool matches_pattern(std::string_view name, std::string_view pattern);

}  // namespace dtnn
