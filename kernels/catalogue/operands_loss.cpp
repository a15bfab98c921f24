/// Losses, metrics and their gradients.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// A matrix with a row for every label.
bool labelled(Rule& rule, const TensorDesc& matrix, const TensorDesc& labels) {
    if (!rule.rank(matrix, 2, 4)) return false;
    rule.type(matrix, rule.problem().dtype);
    rule.elements(labels, matrix.dims[0], DType::i32);
    return !rule.broken();
}

}  // namespace

void class_measure(Rule& rule) {
    const Problem& p = rule.problem();
    if (rule.counts(2, 1) && labelled(rule, p.sources[0], p.sources[1]))
        rule.elements(p.destinations[0], 1);
}

void class_gradient(Rule& rule) {
    const Problem& p = rule.problem();
    if (rule.counts(2, 1) && labelled(rule, p.sources[0], p.sources[1]))
        rule.elements(p.destinations[0], p.sources[0].elements());
}

void softmax_cross_entropy(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 2) || !labelled(rule, p.sources[0], p.sources[1])) return;
    rule.elements(p.destinations[0], 1);
    rule.elements(p.destinations[1], p.sources[0].elements());
}

void one_hot(Rule& rule) {
    const Problem& p = rule.problem();
    if (rule.counts(1, 1)) labelled(rule, p.destinations[0], p.sources[0]);
}

void mean_squared_error(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1)) return;
    rule.elements(p.sources[0], p.sources[1].elements());
    rule.type(p.sources[1], p.dtype);
    rule.elements(p.destinations[0],
                  p.op.ends_with("_backward") ? p.sources[0].elements() : std::int64_t{1});
}

}  // namespace dtnn::kernels::operands
