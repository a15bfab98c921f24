#pragma once
/// The colours of drawings: one for each family of operators (compiler/ops/op.hpp), for inputs and
/// for blocks.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn::tools {

struct FamilyStyle {
    std::string_view name;  ///< as in the legend: "convolution"
    std::string_view fill;  ///< "#rrggbb", light enough for black text
    std::string_view border;
};

const std::vector<FamilyStyle>& families();  ///< in the order of the legend
/// The family of a layer's or a step's operator.
const FamilyStyle& family_of(std::string_view op);
const FamilyStyle& family_named(std::string_view name);

}  // namespace dtnn::tools
