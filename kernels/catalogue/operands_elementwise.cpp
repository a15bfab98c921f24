/// Operators that work element by element.

#include "kernels/catalogue/operand_rule.hpp"
#include "kernels/elementwise.hpp"

namespace dtnn::kernels::operands {

void dropout_apply(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !rule.rank(p.sources[0], 1, 4)) return;
    rule.elements(p.sources[1], 1, DType::i64);
    rule.type(p.sources[0], p.dtype);
    rule.shape(p.destinations[0], p.sources[0].dims);
    rule.same_place(p.destinations[0], p.sources[0]);
    const double rate = p.real("rate");
    rule.require(rate >= 0 && rate <= 1, "its rate is not from 0 to 1");
}

void elementwise(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(p.sources.size(), 1)) return;
    for (const TensorDesc& source : p.sources)
        rule.elements(source, p.destinations[0].elements());
    rule.type(p.destinations[0], p.dtype);
    Expression expression;
    std::string mistake;
    const bool read = parse_expression(p.text("expression"), expression, mistake);
    rule.require(read, "its expression cannot be read: " + mistake);
    rule.require(expression.sources <= int(p.sources.size()),
                 "its expression names more sources than there are");
}

}  // namespace dtnn::kernels::operands
