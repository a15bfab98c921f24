#pragma once
/// The help for a field that there is not.

#include <string>
#include <vector>

#include "compiler/frontend/read/value_reader.hpp"

namespace dtnn::compiler {

/// The help for the key: what it is called here, where it belongs, how it is written, or what it is
/// near; `names` are those of the fields that there are. Empty: nothing is known.
std::string help_of_unknown(const std::string& key, const std::vector<std::string>& names,
                            const FieldScope& scope);

}  // namespace dtnn::compiler
