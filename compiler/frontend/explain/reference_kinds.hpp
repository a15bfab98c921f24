#pragma once
/// Pages of the kinds of specs, of the sets that their fields choose from, and of the standard
/// blocks. Private to reference_pages.

#include <vector>

#include "compiler/frontend/explain/reference_pages.hpp"

namespace dtnn::compiler {

std::vector<ReferencePage> kind_pages();
std::vector<ReferencePage> set_pages();
std::vector<ReferencePage> block_pages();

}  // namespace dtnn::compiler
