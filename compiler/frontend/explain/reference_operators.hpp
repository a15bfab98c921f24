#pragma once
/// Pages of the operators that users write. Private to reference_pages.

#include <vector>

#include "compiler/frontend/explain/reference_pages.hpp"

namespace dtnn::compiler {

std::vector<ReferencePage> operator_pages(const DescribeTraining& training);

}  // namespace dtnn::compiler
