#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {

void matmul(Rule& rule) {
    if (rule.broken()) return;
    const Problem& p = rule.problem();
    const TensorType &first = *rule.operand("first"), &second = *rule.operand("second"),
                     &dst = *rule.operand("dst");
    for (const TensorType* tensor : {&first, &second, &dst}) {
        if (!rule.rank(*tensor, 3)) return;
        rule.type(*tensor, p.dtype);
        rule.require(is_row_major(*tensor), "an operand is not stored row by row");
    }
    const std::size_t inner = p.flag("transpose_first") ? 1 : 2;
    const std::int64_t summed = first.dims[inner], rows = first.dims[3 - inner];
    const std::int64_t batch = dst.dims[0], columns = dst.dims[2];
    rule.shape(dst, {batch, rows, columns});
    rule.require(first.dims[0] == batch, "its operands are not of as many samples");
    rule.shape(second, p.flag("transpose_second") ? Dims{batch, columns, summed}
                                                  : Dims{batch, summed, columns});
}

}  // namespace dtnn::kernels::operands
