#include "compiler/ops/exchange.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {

OpDef exchange_end(std::string name, std::string doc, bool counts_traffic) {
    OpDef def = OpBuilder(name)
                    .doc(std::move(doc))
                    .variadic(1)
                    .inputs({"src"})
                    .outputs({"dst"})
                    .exchange()
                    .shape([name](ShapeContext& c) {
                        if (c.text("collective").empty()) c.fail(name + " has no name");
                        for (const Type& type : c.inputs()) {
                            if (type.dtype != c.input(0).dtype ||
                                (type.dtype != DType::f32 && type.dtype != DType::f64)) {
                                c.fail(
                                    fmt::format("{}: all operands must be f32, or all f64, got "
                                                "{}",
                                                name, print(type)));
                                return;
                            }
                            c.result(type);
                        }
                    })
                    .no_gradient("gradients are exchanged, not differentiated");
    def.cost = [counts_traffic](const std::vector<Type>& inputs, const std::vector<Type>& outputs,
                                const Attributes&) {
        return counts_traffic ? traffic(inputs, outputs, 0) : Cost{};
    };
    return def;
}

}  // namespace dtnn::compiler
