#include "compiler/ops/optimizer.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {

double real_or_zero(const Attributes& attributes, const char* name) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return 0;
    if (const auto* whole = std::get_if<std::int64_t>(&found->second))
        return static_cast<double>(*whole);
    return std::get<double>(found->second);
}

bool expect_like_weights(ShapeContext& c, const char* op, std::size_t i, const char* operand) {
    return expect_dims(c, op, i, operand, c.input(0).dims);
}

bool expect_single(ShapeContext& c, const char* op, std::size_t i, const char* operand,
                   DType dtype) {
    const Type& type = c.input(i);
    if (type.elements() == 1 && type.dtype == dtype) return true;
    c.fail(fmt::format("{}: {} must be one {}, got {}", op, operand, plan::name_of(dtype),
                       print(type)));
    return false;
}

}  // namespace dtnn::compiler
