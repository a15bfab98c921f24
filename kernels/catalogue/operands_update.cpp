/// Updates of parameters.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {

void sgd_update(Rule& rule) {
    const Problem& p = rule.problem();
    const bool velocity = p.real("momentum") > 0;
    if (!rule.counts(3u + velocity, 1u + velocity)) return;
    const std::int64_t count = p.sources[0].elements();
    rule.type(p.sources[0], p.dtype);
    rule.elements(p.sources[1], count);
    rule.elements(p.sources[2], 1);
    if (velocity) rule.elements(p.sources[3], count);
    for (const TensorDesc& destination : p.destinations)
        rule.elements(destination, count);
}

void adam_update(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(6, 3)) return;
    const std::int64_t count = p.sources[0].elements();
    rule.elements(p.sources[2], 1);
    rule.elements(p.sources[3], 1, DType::i64);
    for (const std::size_t i : {0u, 1u, 4u, 5u})
        rule.elements(p.sources[i], count);
    for (const TensorDesc& destination : p.destinations)
        rule.elements(destination, count);
}

}  // namespace dtnn::kernels::operands
