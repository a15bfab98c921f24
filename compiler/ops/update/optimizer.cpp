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

bool expect_single(ShapeContext& c, const char* op, std::size_t i, const char* operand,
                   DType dtype) {
    const Type& type = c.input(i);
    if (type.elements() == 1 && type.dtype == dtype) return true;
    c.fail(fmt::format("{}: {} must be one {}, got {}", op, operand, plan::name_of(dtype),
                       print(type)));
    return false;
}

namespace {

std::vector<std::string> names_of_operands(const OperandList& operands) {
    std::vector<std::string> names;
    for (const Operand& operand : operands)
        names.push_back(operand.name + (operand.attribute.empty() ? "" : "?"));
    return names;
}

void shape_by_signature(ShapeContext& c) {
    const char* op = c.op().name.c_str();
    const Signature& signature = *find_signature(op);
    const OperandList sources = present(signature.sources, c.attributes());
    if (!expect_operands(c, op, sources.size())) return;
    for (std::size_t i = 1; i < sources.size(); ++i) {
        const char* name = sources[i].name.c_str();
        const bool fits =
            sources[i].kind == Operand::Kind::like_first
                ? expect_dims(c, op, i, name, c.input(0).dims)
                : expect_single(
                      c, op, i, name,
                      sources[i].kind == Operand::Kind::count ? DType::i64 : c.input(0).dtype);
        if (!fits) return;
    }
    for (const Operand& result : present(signature.destinations, c.attributes()))
        result_like(c, place_of(signature.sources, result.name, c.attributes()).value_or(0));
}

}  // namespace

OpBuilder operator_by_signature(const char* name) {
    const Signature& signature = *find_signature(name);
    OpBuilder builder(name);
    builder.inputs(names_of_operands(signature.sources))
        .outputs(names_of_operands(signature.destinations))
        .shape(shape_by_signature);
    return builder;
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
