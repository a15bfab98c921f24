#include "compiler/ops/loss.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {

bool expect_rows_and_labels(ShapeContext& c, const char* op) {
    if (!expect_operands(c, op, 2)) return false;
    const Type& rows = c.input(0);
    if (rows.dims.size() != 2) {
        c.fail(
            fmt::format("{} compares one row of numbers per sample with a label, but predictions "
                        "are {}",
                        op, sample_text(rows)),
            "end the model with `flatten` and `dense`");
        return false;
    }
    if (c.input(1).dtype != DType::i32) {
        c.fail(fmt::format("{}: labels must be i32, got {}", op, print(c.input(1))));
        return false;
    }
    return expect_dims(c, op, 1, "labels", {rows.dims[0]});
}

void result_scalar(ShapeContext& c) {
    c.result(Type{c.input(0).dtype, {}, {}});
}

}  // namespace dtnn::compiler
