/// Operators that work element by element.

#include "kernels/arguments/elementwise.hpp"
#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {

void dropout_apply(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !rule.rank(p.sources[0], 1, 4)) return;
    rule.elements(p.sources[1], 2, DType::i64);
    rule.type(p.sources[0], p.dtype);
    rule.shape(p.destinations[0], p.sources[0].dims);
    rule.same_place(p.destinations[0], p.sources[0]);
    const double rate = p.real("rate");
    rule.require(rate >= 0 && rate <= 1, "its rate is not from 0 to 1");
}

namespace {

/// [N,C] or [N,C,1,1] of the image [N,C,H,W], in either case stored sample by sample.
void gate(Rule& rule, const TensorDesc& tensor, const TensorDesc& image) {
    rule.type(image, rule.problem().dtype);
    if (!rule.rank(image, 4, 4) || !rule.rank(tensor, 2, 4)) return;
    Dims wanted = {image.dims[0], image.dims[1]};
    if (tensor.dims.size() == 4) wanted.resize(4, 1);
    rule.shape(tensor, wanted);
    rule.require(strides_of(tensor)[0] == image.dims[1] || image.dims[0] == 1,
                 "its gates are not stored sample by sample");
}

}  // namespace

void channel_scale(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1)) return;
    gate(rule, p.sources[1], p.sources[0]);
    rule.shape(p.destinations[0], p.sources[0].dims);
    rule.same_place(p.destinations[0], p.sources[0]);
}

void channel_scale_backward_gate(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1)) return;
    gate(rule, p.destinations[0], p.sources[0]);
    rule.shape(p.sources[1], p.sources[0].dims);
}

namespace {

void expression(Rule& rule) {
    const Problem& p = rule.problem();
    Expression expression;
    std::string mistake;
    const bool read = parse_expression(p.text("expression"), expression, mistake);
    rule.require(read, "its expression cannot be read: " + mistake);
    rule.require(expression.sources <= int(p.sources.size()),
                 "its expression names more sources than there are");
}

}  // namespace

void elementwise(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(p.sources.size(), 1)) return;
    for (const TensorDesc& source : p.sources)
        rule.elements(source, p.destinations[0].elements());
    rule.type(p.destinations[0], p.dtype);
    expression(rule);
}

void elementwise_mean(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(std::max<std::size_t>(p.sources.size(), 1), 1)) return;
    if (!rule.rank(p.sources[0], 1, 4)) return;
    for (const TensorDesc& source : p.sources) {
        rule.shape(source, p.sources[0].dims);
        rule.same_place(source, p.sources[0]);
    }
    rule.elements(p.destinations[0], 1, p.flag("sum") ? DType::f64 : p.dtype);
    expression(rule);
}

}  // namespace dtnn::kernels::operands
