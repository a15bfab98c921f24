#pragma once
/// Families of operators, by which drawings are coloured.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn::tools {

struct Family {
    std::string_view name;  ///< as in the legend: "convolution"
    std::string_view fill;  ///< "#rrggbb", light enough for black text
    std::string_view border;
};

const std::vector<Family>& families();  ///< in the order of the legend
/// Of a layer's or a step's operator; gradients belong to the family of what they are gradients of.
const Family& family_of(std::string_view op);
const Family& family_named(std::string_view name);

}  // namespace dtnn::tools
