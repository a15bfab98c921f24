#include "compiler/ops/exchange/exchange.hpp"

namespace dtnn::compiler {

/// Operand 0 is what the start has given; the others are the parameters that the stretch is made
/// of, whose new values the results are.
OpDef define_all_gather_wait() {
    OpDef def =
        OpBuilder(plan::operator_of(plan::kAllGatherWait))
            .family(Family::exchange)
            .kernel_class(KernelClass::memory)
            .doc("Ends an exchange: the results are parameters of which every rank has all parts.")
            .variadic(2)
            .inputs({"part", "parameter"})
            .outputs({"parameter"})
            .exchange(plan::kAllGatherWait)
            .shape([](ShapeContext& c) {
                if (!expect_exchanged(c, plan::operator_of(plan::kAllGatherWait))) return;
                if (c.inputs().size() < 2) c.fail("all_gather_wait: there are no parameters");
                for (std::size_t i = 1; i < c.inputs().size(); ++i)
                    c.result(c.input(i));
            })
            .no_gradient(kNotDifferentiated);
    def.cost = [](const auto&, const auto&, const Attributes&) { return Cost{}; };
    return def;
}

}  // namespace dtnn::compiler
