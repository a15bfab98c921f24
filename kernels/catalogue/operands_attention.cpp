#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// Queries, keys and values, whose heads are those of the attributes.
bool heads(Rule& rule, const TensorType& query, const TensorType* key, const TensorType* value) {
    const Problem& p = rule.problem();
    const std::int64_t count = p.integer("heads"), shared = p.integer("key_value_heads");
    const bool joined = p.flag("joined");
    rule.require(count >= 1 && shared >= 1 && count % shared == 0,
                 "its `key_value_heads` do not divide its `heads`");
    if (rule.broken() || !rule.rank(query, 3)) return false;
    rule.type(query, p.dtype);
    const std::int64_t parts = joined ? count + 2 * shared : count;
    rule.require(query.dims[2] >= parts && query.dims[2] % parts == 0,
                 "its heads do not divide " + text_of(query.dims));
    rule.require(query.dims[1] >= 1 && is_row_major(query), "its queries are not rows");
    if (rule.broken() || joined) return !rule.broken();
    if (!rule.rank(*key, 3)) return false;
    rule.shape(key, {query.dims[0], key->dims[1], query.dims[2] / count * shared});
    rule.shape(value, key->dims);
    rule.require(key->dims[1] >= 1 && is_row_major(*key) && is_row_major(*value),
                 "its keys and values are not rows");
    const bool placed = p.flag("placed");
    rule.require(
        placed ? key->dims[1] >= query.dims[1] : !p.flag("causal") || key->dims[1] == query.dims[1],
        "it is causal, and has not as many keys as queries");
    return !rule.broken();
}

/// [N, steps, heads * width] of the results.
Dims of_results(const Problem& p) {
    const Dims& query = p.sources[0].dims;
    const std::int64_t count = p.integer("heads"), shared = p.integer("key_value_heads");
    const std::int64_t width = query[2] / (p.flag("joined") ? count + 2 * shared : count);
    return {query[0], query[1], count * width};
}

/// How many keys each sample has, where that is said.
void lengths(Rule& rule) {
    rule.elements(rule.operand("lengths"), rule.first_source().dims[0], DType::i32);
}

/// What it draws by, where it drops.
void drawn_by(Rule& rule) {
    if (!rule.problem().flag("drops")) return;
    rule.elements(rule.operand("position"), 2, DType::i64);
    const double rate = rule.problem().real("dropout");
    rule.require(rate > 0 && rate < 1, "its `dropout` is not between 0 and 1");
}

void row_major_of(Rule& rule, const TensorType& tensor, const Dims& dims) {
    rule.shape(tensor, dims);
    rule.require(is_row_major(tensor), "an operand is not stored row by row");
}

}  // namespace

void attention(Rule& rule) {
    if (rule.broken() ||
        !heads(rule, rule.first_source(), rule.operand("key"), rule.operand("value")))
        return;
    const Dims results = of_results(rule.problem());
    row_major_of(rule, rule.first_result(), results);
    rule.elements(rule.operand("logsumexp"),
                  results[0] * results[1] * rule.problem().integer("heads"));
    lengths(rule);
    drawn_by(rule);
    rule.require(!rule.problem().flag("placed") || !rule.problem().flag("drops"),
                 "what it drops has no place");
    rule.elements(rule.operand("place"), 1, DType::i64);
}

void attention_backward(Rule& rule) {
    if (rule.broken() ||
        !heads(rule, rule.first_source(), rule.operand("key"), rule.operand("value")))
        return;
    const Problem& p = rule.problem();
    const Dims results = of_results(p);
    row_major_of(rule, *rule.operand("dst"), results);
    row_major_of(rule, *rule.operand("diff_dst"), results);
    rule.elements(rule.operand("logsumexp"), results[0] * results[1] * p.integer("heads"));
    lengths(rule);
    drawn_by(rule);
    for (std::size_t i = 0; i < p.destinations.size() && !rule.broken(); ++i)
        row_major_of(rule, p.destinations[i], p.sources[i].dims);
}

}  // namespace dtnn::kernels::operands
