#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// Integers, a row of `rows` for each, and the table that they are of.
void looked_up(Rule& rule, const TensorType& rows, const TensorType& table) {
    const TensorType& indices = rule.first_source();
    rule.type(indices, DType::i32);
    rule.type(table, rule.problem().dtype);
    if (!rule.rank(table, 2)) return;
    rule.elements(rows, indices.elements() * table.dims[1]);
    rule.require(is_row_major(indices) && is_row_major(rows) && is_row_major(table),
                 "its rows are not stored one after the other");
}

}  // namespace

void embedding(Rule& rule) {
    if (!rule.broken()) looked_up(rule, rule.first_result(), *rule.operand("weights"));
}

void embedding_backward(Rule& rule) {
    if (!rule.broken()) looked_up(rule, *rule.operand("diff_dst"), rule.first_result());
}

}  // namespace dtnn::kernels::operands
