#include "compiler/ops/batch_statistics.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {

bool expect_channels(ShapeContext& c, const char* op) {
    const std::size_t rank = c.input(0).dims.size();
    if (rank == 2 || rank == 4) return true;
    c.fail(fmt::format("{} works on images or rows of numbers, got {}", op,
                       shape_text(c.input(0).dims)));
    return false;
}

bool expect_per_channel(ShapeContext& c, const char* op, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i)
        if (!expect_dims(c, op, i, fmt::format("operand {}", i).c_str(), {c.input(0).dims[1]}))
            return false;
    return true;
}

std::int64_t bit_mask_bytes(std::int64_t elements) {
    return (elements + 7) / 8;
}

}  // namespace dtnn::compiler
