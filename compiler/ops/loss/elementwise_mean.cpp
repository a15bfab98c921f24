#include <fmt/format.h>

#include "compiler/ops/elementwise/elementwise.hpp"
#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {
namespace {

void elementwise_mean_shape(ShapeContext& c) {
    if (c.inputs().empty() || c.input(0).dims.empty()) {
        c.fail("elementwise_mean needs operands with a batch");
        return;
    }
    try {
        if (!expect_operands_of(c, "elementwise_mean", parse_postfix(c.text("expression")))) return;
        for (const char* name : {"expression", "derivative"}) {
            if (!c.attributes().contains(name)) continue;
            const Expression expression = parse_postfix(c.text(name));
            if (input_count(expression) > int(c.inputs().size()))
                c.fail(fmt::format("elementwise_mean: its {} reads more operands than there are",
                                   name));
        }
    } catch (const ExpressionError& error) {
        c.fail(fmt::format("elementwise_mean: {}", error.what()), error.help(), "expression");
    }
    if (c.error()) return;
    if (flag(c.attributes(), "sum"))
        result_sum(c);
    else
        result_scalar(c);
}

/// diff_i = the expression's derivative by x_i over D; by x0 the one that is given.
void elementwise_mean_gradient(GradientContext& g) {
    const Attributes& attributes = g.node().attributes;
    const Expression forward = parse_postfix(std::get<std::string>(attributes.at("expression")));
    const Type type = g.graph().type(g.input(0));
    const std::int64_t divisor = flag(attributes, "rows") ? type.dims[0] : type.elements();
    for (std::size_t i = 0; i < g.node().inputs.size(); ++i) {
        if (!g.wants(i)) continue;
        const auto given = attributes.find("derivative");
        const bool known = i == 0 && given != attributes.end();
        const Expression slope = known ? parse_postfix(std::get<std::string>(given->second))
                                       : differentiate(forward, int(i));
        const Expression scaled = product(slope, Expression::constant(1 / double(divisor)));
        ValueList inputs;
        std::vector<Expression> renamed(g.node().inputs.size());
        for (std::size_t j = 0; j < renamed.size(); ++j) {
            if (!reads(scaled, int(j))) continue;
            renamed[j] = Expression::input_at(int(inputs.size()));
            inputs.push_back(g.input(j));
        }
        if (inputs.empty()) inputs.push_back(g.input(0));  // for its shape
        g.set(i, g.emit("elementwise", std::move(inputs),
                        {{"expression", to_postfix(substitute(scaled, renamed))}},
                        "diff_predictions")[0]);
    }
}

}  // namespace

/// loss = sum of expression(x0[i], x1[i], ...) over D: the number of elements, or with `rows` the
/// first extent. `derivative`: by x0, where it is simpler, or exact where symbols are not, than
/// what follows from the expression. With `sum` the sum itself, f64.
OpDef define_elementwise_mean() {
    return OpBuilder("elementwise_mean")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .doc("Mean of an expression, element by element: the pointwise losses.")
        .sums_expression()
        .variadic(1)
        .shape(elementwise_mean_shape)
        .gradient(elementwise_mean_gradient)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (1 + flops(parse_postfix(text_or(a, "expression", "0")))) * in[0].elements();
        });
}

}  // namespace dtnn::compiler
