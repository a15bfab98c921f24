#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// [N, steps, features], row-major.
bool sequence(Rule& rule, const TensorType& tensor) {
    if (rule.broken() || !rule.rank(tensor, 3)) return false;
    rule.type(tensor, rule.problem().dtype);
    rule.require(is_row_major(tensor), "an operand is not stored row by row");
    return !rule.broken();
}

/// A row for each position, of which there are as many as steps or more.
void positions(Rule& rule, const TensorType& table, const TensorType& steps) {
    if (!rule.rank(table, 2)) return;
    rule.shape(table, {table.dims[0], steps.dims[2]});
    rule.require(table.dims[0] >= steps.dims[1] && is_row_major(table),
                 "its table has fewer positions than there are steps");
}

/// Where the steps come in their text.
void place(Rule& rule) {
    rule.elements(rule.operand("place"), 1, DType::i64);
}

void base(Rule& rule) {
    rule.require(rule.problem().real("base") > 0, "its `base` is not positive");
}

}  // namespace

void class_token(Rule& rule) {
    const TensorType& src = rule.first_source();
    if (!sequence(rule, src) || !sequence(rule, rule.first_result())) return;
    rule.shape(rule.first_result(), {src.dims[0], src.dims[1] + 1, src.dims[2]});
    rule.shape(rule.operand("weights"), {src.dims[2]});
}

void position_embedding(Rule& rule) {
    if (!sequence(rule, rule.first_source())) return;
    rule.alike(rule.first_result(), rule.first_source());
    base(rule);
    place(rule);
    if (const TensorType* table = rule.operand("weights"))
        positions(rule, *table, rule.first_source());
}

void position_embedding_backward(Rule& rule) {
    if (sequence(rule, rule.first_source()))
        positions(rule, rule.first_result(), rule.first_source());
}

void rotary_embedding(Rule& rule) {
    const TensorType& src = rule.first_source();
    if (!sequence(rule, src)) return;
    rule.alike(rule.first_result(), src);
    base(rule);
    place(rule);
    const std::int64_t heads = rule.problem().integer("heads");
    rule.require(heads >= 1 && src.dims[2] % (2 * std::max<std::int64_t>(1, heads)) == 0,
                 "its heads are not pairs of numbers");
}

void mask_steps(Rule& rule) {
    if (rule.broken()) return;
    const TensorType& src = rule.first_source();
    rule.require(src.dims.size() >= 2 && src.elements() > 0 && is_row_major(src),
                 "its steps are not rows of samples");
    if (rule.broken()) return;
    rule.type(src, rule.problem().dtype);
    rule.alike(rule.first_result(), src);
    rule.elements(rule.operand("lengths"), src.dims[0], DType::i32);
}

void keep_steps(Rule& rule) {
    const TensorType &kept = rule.first_source(), *src = rule.operand("src");
    if (!sequence(rule, kept) || !sequence(rule, *src)) return;
    rule.alike(rule.first_result(), kept);
    place(rule);
    const std::int64_t begin = rule.problem().integer("begin");
    rule.require(src->dims[0] == kept.dims[0] && src->dims[1] <= kept.dims[1] && begin >= 0 &&
                     begin <= src->dims[2] - kept.dims[2],
                 "its steps do not fit those that are kept");
}

}  // namespace dtnn::kernels::operands
