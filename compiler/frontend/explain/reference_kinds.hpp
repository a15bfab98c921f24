#pragma once
/// Pages of the kinds of specs and of the standard blocks. Private to reference_pages.

#include <vector>

#include "compiler/frontend/explain/reference_pages.hpp"

namespace dtnn::compiler {

std::vector<ReferencePage> kind_pages();
std::vector<ReferencePage> block_pages();

}  // namespace dtnn::compiler
