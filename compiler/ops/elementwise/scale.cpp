#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

OpDef define_scale() {
    return elementwise_operator(
               "scale",
               {number_field("factor", 1, "what every number is multiplied by"),
                number_field("offset", 0, "what is added to the product")},
               [](const Attributes& attributes) {
                   const bool moves = std::get<double>(attributes.at("offset")) != 0;
                   return ElementwiseForm{moves ? "factor * x + offset" : "factor * x"};
               })
        .does_nothing([](const Graph&, const Node& node) {
            return std::get<double>(node.attributes.at("factor")) == 1 &&
                   std::get<double>(node.attributes.at("offset")) == 0;
        })
        .doc("The same two constants for all numbers: factor * x + offset.")
        .layer("- scale: {factor: 0.5, offset: 1}");
}

}  // namespace dtnn::compiler
