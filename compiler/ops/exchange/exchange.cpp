#include "compiler/ops/exchange/exchange.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {

bool expect_exchanged(ShapeContext& c, const std::string& op) {
    if (c.text("collective").empty()) c.fail(op + " has no name");
    for (const Type& type : c.inputs()) {
        if (type.dtype == c.input(0).dtype &&
            (type.dtype == DType::f32 || type.dtype == DType::f64))
            continue;
        c.fail(fmt::format("{}: all operands must be f32, or all f64, got {}", op, print(type)));
    }
    return !c.error();
}

OpDef exchange_end(plan::ExchangeEnd end, std::string doc, bool counts_traffic) {
    const std::string name = plan::operator_of(end);
    OpDef def = OpBuilder(name)
                    .family(Family::exchange)
                    .kernel_class(KernelClass::memory)
                    .doc(std::move(doc))
                    .variadic(1)
                    .inputs({"src"})
                    .outputs({"dst"})
                    .exchange(end)
                    .shape([name](ShapeContext& c) {
                        if (!expect_exchanged(c, name)) return;
                        for (const Type& type : c.inputs())
                            c.result(type);
                    })
                    .no_gradient(kNotDifferentiated);
    def.cost = [counts_traffic](const std::vector<Type>& inputs, const std::vector<Type>& outputs,
                                const Attributes&) {
        return counts_traffic ? traffic(inputs, outputs, 0) : Cost{};
    };
    return def;
}

OpDef own_part_of(const std::string& name, std::string doc) {
    OpDef def =
        OpBuilder(name)
            .family(Family::exchange)
            .kernel_class(KernelClass::memory)
            .doc(std::move(doc))
            .variadic(1)
            .inputs({"src"})
            .outputs({"part"})
            .shape([name](ShapeContext& c) {
                if (!expect_exchanged(c, name)) return;
                const std::int64_t part = c.integer("part");
                const DType dtype = c.input(0).dtype;
                if (part < 1 || part * size_of(dtype) % plan::kAlignment != 0)
                    c.fail(fmt::format("{}: parts of {} {} do not begin at multiples of {} bytes",
                                       name, part, plan::name_of(dtype), plan::kAlignment));
                else
                    c.result({dtype, {part}, {}});
            })
            .no_gradient(kNotDifferentiated);
    def.cost = [](const auto&, const auto&, const Attributes&) { return Cost{}; };
    return def;
}

}  // namespace dtnn::compiler
