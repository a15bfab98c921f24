#include "compiler/ops/update/optimizer.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {

double real_or_zero(const Attributes& attributes, const char* name) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return 0;
    if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return double(*whole);
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

void update_shape(ShapeContext& c, const char* op, const std::vector<UpdateOperand>& others) {
    const bool scaled = flag(c.attributes(), "scaled");
    if (!expect_operands(c, op, 3 + others.size() + (scaled ? 1 : 0))) return;
    const DType dtype = c.input(0).dtype;
    if (!expect_like_weights(c, op, 1, "diff")) return;
    if (!expect_single(c, op, 2, "learning_rate", dtype)) return;
    for (std::size_t i = 0; i < others.size(); ++i) {
        const UpdateOperand& other = others[i];
        const std::size_t at = 3 + i;
        if (other.kind == UpdateOperand::state && !expect_like_weights(c, op, at, other.name))
            return;
        if (other.kind == UpdateOperand::number && !expect_single(c, op, at, other.name, dtype))
            return;
        if (other.kind == UpdateOperand::count && !expect_single(c, op, at, other.name, DType::i64))
            return;
    }
    if (scaled && !expect_single(c, op, 3 + others.size(), "scale", dtype)) return;
    result_like(c, 0);
    for (std::size_t i = 0; i < others.size(); ++i)
        if (others[i].kind != UpdateOperand::count) result_like(c, 3 + i);
}

OpBuilder update_operator(const char* name) {
    OpBuilder builder(name);
    builder.family(Family::update)
        .kernel_class(KernelClass::updates)
        .attribute("learning_rate_scale", 1.0)
        .attribute("weight_decay", 0.0)
        .attribute("clip_value", 0.0)
        .no_gradient(kUpdatesAreFinal);
    return builder;
}

std::int64_t common_update_flops(const Attributes& attributes) {
    return (real_or_zero(attributes, "weight_decay") > 0 ? 2 : 0) +
           (flag(attributes, "scaled") ? 1 : 0) +
           (real_or_zero(attributes, "clip_value") > 0 ? 2 : 0);
}

}  // namespace dtnn::compiler
