#pragma once
/// The text of a plan, from a file or from standard input.

#include <string>

namespace dtnn::runtime {

/// The content of the file; of kStandardInput what came that way, whenever it is asked for. A
/// RunError (exit 5) where it cannot be read.
std::string plan_text(const std::string& path);

}  // namespace dtnn::runtime
