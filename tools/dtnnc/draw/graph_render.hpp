#pragma once
/// Graphviz, as a program beside ours.

#include <string>

namespace dtnn::tools {

/// The picture that the program `dot` makes of the text: `form` is svg, png or pdf. Throws
/// OutputError when it is not installed (naming the package), fails (with its words), or does not
/// end within `limit_seconds`.
std::string render(const std::string& dot, const std::string& form, int limit_seconds);

}  // namespace dtnn::tools
