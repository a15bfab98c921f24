#include <fmt/format.h>

#include "compiler/ops/axis.hpp"
#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// dst[c] = the sum of expression(x0, x1, ...), whose operands are those of elementwise, over
/// everything but the channels of x0; without `by_channel` dst has one number, the sum over all.
/// Never in 16 bits.
OpDef define_elementwise_sums() {
    return OpBuilder("elementwise_sums")
        .family(Family::activation)
        .kernel_class(KernelClass::expressions)
        .doc(
            "Sums of an expression by channel, or one over all: the gradient of an elementwise "
            "operator by its trained parameters.")
        .sums_expression()
        .attribute("by_channel", false)
        .variadic(1)
        .shape([](ShapeContext& c) {
            const char* const name = "elementwise_sums";
            if (!settle_features(c, name)) return;
            fallback(c, "by_channel");
            try {
                const Expression expression = parse_postfix(c.text("expression"));
                if (input_count(expression) > int(c.inputs().size())) {
                    c.fail(
                        fmt::format("{}: its expression reads more operands than there are", name));
                    return;
                }
                if (!expect_operands_of(c, name, expression)) return;
            } catch (const ExpressionError& error) {
                c.fail(fmt::format("{}: {}", name, error.what()), error.help(), "expression");
                return;
            }
            const std::int64_t channels = c.flag("by_channel") ? features_of(c.input(0)) : 1;
            c.result(Type{wide_of(c.input(0).dtype), {channels}, {}});
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (1 + flops(parse_postfix(text_or(a, "expression", "0")))) * in[0].elements();
        });
}

}  // namespace dtnn::compiler
