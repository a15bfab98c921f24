#pragma once
/// The origins of values, as JSON.

#include <string>

#include "plan/plan.hpp"

namespace dtnn::tools {

/// "file", "command_line" or "default".
std::string origin_name(const plan::ResolvedValue& value);

/// {"file":...,"line":...,"column":...}, {"argument":"--set ..."}, or null for defaults.
std::string place_json(const plan::ResolvedValue& value);

}  // namespace dtnn::tools
