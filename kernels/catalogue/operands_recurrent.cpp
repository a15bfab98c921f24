/// Recurrent cells over all steps.

#include "kernels/catalogue/operand_rule.hpp"
#include "kernels/workspace/recurrent.hpp"

namespace dtnn::kernels::operands {
namespace {

/// The operand is [N, steps, parts * units] as `like` is, row-major; false after a mistake.
bool rows_of(Rule& rule, const TensorType* tensor, const TensorType& like, std::int64_t numbers) {
    if (tensor == nullptr || rule.broken()) return !rule.broken();
    rule.shape(tensor, {like.dims[0], like.dims[1], numbers});
    rule.require(is_row_major(*tensor), "an operand is not stored row by row");
    return !rule.broken();
}

/// The units of cells whose operand is [N, steps, parts * units]; nothing after a mistake.
std::int64_t units_of(Rule& rule, const TensorType& tensor, std::int64_t parts) {
    if (rule.broken() || !rule.rank(tensor, 3)) return 0;
    rule.type(tensor, rule.problem().dtype);
    rule.require(tensor.dims[1] >= 1 && tensor.dims[2] >= parts && tensor.dims[2] % parts == 0 &&
                     is_row_major(tensor),
                 "an operand " + text_of(tensor.dims) + " has no steps of so many parts");
    return rule.broken() ? 0 : tensor.dims[2] / parts;
}

/// What begins in place of zeros: [N, 1, units].
bool state_of(Rule& rule, const TensorType* tensor, std::int64_t samples, std::int64_t units) {
    if (tensor == nullptr || rule.broken()) return !rule.broken();
    rule.shape(tensor, {samples, 1, units});
    rule.require(is_row_major(*tensor), "a state is not stored row by row");
    return !rule.broken();
}

void cell(Rule& rule, std::int64_t parts, std::int64_t first_parts, std::int64_t gates) {
    const TensorType& first = rule.first_source();
    const std::int64_t units = units_of(rule, first, first_parts);
    if (units == 0) return;
    const TensorType* const weights = rule.operand("weights");
    rule.shape(weights, {units, parts * units});
    rule.require(is_row_major(*weights), "its weights are not stored row by row");
    if (const TensorType* const bias = rule.operand("bias")) rule.elements(bias, units);
    for (const auto& [name, numbers] :
         {std::pair("src", parts), std::pair("dst", std::int64_t{1}),
          std::pair("diff_dst", std::int64_t{1}), std::pair("gates", gates),
          std::pair("cells", std::int64_t{1}), std::pair("diff_src", parts),
          std::pair("diff_hidden", parts)})
        if (!rows_of(rule, rule.operand(name), first, numbers * units)) return;
    for (const char* const name : {"state", "cells_before"})
        if (!state_of(rule, rule.operand(name), first.dims[0], units)) return;
}

}  // namespace

void rnn_steps(Rule& rule) {
    cell(rule, kRnnParts, kRnnParts, 0);
}
void lstm_steps(Rule& rule) {
    cell(rule, kLstmParts, kLstmParts, kLstmParts);
}
void gru_steps(Rule& rule) {
    cell(rule, kGruParts, kGruParts, kGruGates);
}
void gru_steps_backward(Rule& rule) {
    cell(rule, kGruParts, kGruGates, kGruGates);
}

}  // namespace dtnn::kernels::operands
