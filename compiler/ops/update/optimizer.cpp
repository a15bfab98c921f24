#include "compiler/ops/update/optimizer.hpp"

#include <fmt/format.h>

#include "base/tensor/signature.hpp"
#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {

double real_or_zero(const Attributes& attributes, const char* name) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return 0;
    if (const auto* whole = std::get_if<std::int64_t>(&found->second)) return double(*whole);
    return std::get<double>(found->second);
}

bool expect_single(ShapeContext& c, std::size_t i, const char* operand, DType dtype) {
    const Type& type = c.input(i);
    if (type.elements() == 1 && type.dtype == dtype) return true;
    c.fail(fmt::format("{}: {} must be one {}, got {}", c.op().name, operand, plan::name_of(dtype),
                       print(type)));
    return false;
}

bool expect_single(ShapeContext& c, const char* operand, DType dtype) {
    const auto place = c.place_of(operand);
    return !place || expect_single(c, *place, operand, dtype);
}

namespace {

void shape_by_signature(ShapeContext& c) {
    const Signature& signature = *c.op().signature;
    const PresentOperands sources(signature.sources, c.attributes());
    for (const Operand* source : sources.list()) {
        const char* name = source->name.c_str();
        const bool counts = source->kind == Operand::Kind::count;
        const bool fits = source->kind == Operand::Kind::plain
                              ? expect_dims(c, name, c.input(0).dims)
                              : expect_single(c, name, counts ? DType::i64 : c.input(0).dtype);
        if (!fits) return;
    }
    const PresentOperands results(signature.destinations, c.attributes());
    for (const Operand* result : results.list())
        result_like(c, sources.place_of(result->name, c.inputs().size()).value_or(0));
}

}  // namespace

OpBuilder operator_by_signature(const char* name) {
    return OpBuilder(name).shape(shape_by_signature);
}

OpBuilder update_operator(const char* name) {
    OpBuilder builder = operator_by_signature(name);
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
