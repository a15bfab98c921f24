#include "compiler/ops/elementwise.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {
namespace {

constexpr int kInPlaceOperands = 16;

void shape(ShapeContext& c) {
    Expression expression;
    try {
        expression = parse_postfix(c.text("expression"));
    } catch (const ExpressionError& error) {
        c.fail(fmt::format("elementwise: {}", error.what()), "", "expression");
        return;
    }
    const auto operands = static_cast<std::size_t>(input_count(expression));
    if (operands > c.inputs().size()) {
        c.fail(fmt::format("elementwise: the expression reads {} operands of {}", operands,
                           c.inputs().size()),
               "", "expression");
        return;
    }
    if (expect_same_types(c, "elementwise")) result_like(c);
}

/// diff_i = diff * (derivative of the expression by x_i), over diff and those inputs that the
/// derivative reads.
void gradient(GradientContext& g) {
    const Expression forward =
        parse_postfix(std::get<std::string>(g.node().attributes.at("expression")));
    const auto operands = g.node().inputs.size();
    for (std::size_t i = 0; i < operands; ++i) {
        if (!g.wants(i)) continue;
        const Expression d = differentiate(forward, static_cast<int>(i));
        std::vector<ValueId> inputs{g.diff(0)};
        std::vector<Expression> renamed(operands);
        for (std::size_t j = 0; j < operands; ++j) {
            if (!reads(d, static_cast<int>(j))) continue;
            renamed[j] = Expression::input_at(static_cast<int>(inputs.size()));
            inputs.push_back(g.input(j));
        }
        const Expression backward =
            simplify(Expression::of(Term::mul, {Expression::input_at(0), substitute(d, renamed)}));
        if (backward == Expression::input_at(0)) {
            g.set(i, g.diff(0));
        } else {
            g.set(i, g.emit("elementwise", std::move(inputs),
                            {{"expression", to_postfix(backward)}}, "diff_src")[0]);
        }
    }
}

}  // namespace

bool expect_same_types(ShapeContext& c, const char* op) {
    for (std::size_t i = 1; i < c.inputs().size(); ++i) {
        if (c.input(i) == c.input(0)) continue;
        c.fail(
            fmt::format("{} needs operands of one shape, but operand 1 is {} and operand {} is {}",
                        op, print(c.input(0)), i + 1, print(c.input(i))));
        return false;
    }
    return true;
}

void in_place_over_all(OpBuilder& builder) {
    for (int i = 0; i < kInPlaceOperands; ++i)
        builder.in_place(0, i);
}

OpBuilder elementwise_operator(const std::string& name, const char* infix, const char* derivative) {
    const Expression forward = parse_infix(infix);
    // Over (diff, y).
    const Expression slope = substitute(parse_infix(derivative, {"y"}), {Expression::input_at(1)});
    const std::string backward =
        to_postfix(simplify(Expression::of(Term::mul, {Expression::input_at(0), slope})));
    const std::int64_t operations = flops(forward);
    OpBuilder builder(name);
    builder.inputs({"src"})
        .outputs({"dst"})
        .expression(to_postfix(forward))
        .shape([name](ShapeContext& c) {
            if (expect_operands(c, name.c_str(), 1)) result_like(c);
        })
        .gradient([backward](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("elementwise", {g.diff(0), g.output(0)}, {{"expression", backward}},
                            "diff_src")[0]);
        })
        .flops([operations](const std::vector<Type>&, const std::vector<Type>& out,
                            const Attributes&) { return operations * out[0].elements(); })
        .in_place(0, 0);
    return builder;
}

/// dst = expression(x0, x1, ...), element by element; all operands have one type.
OpDef define_elementwise() {
    OpBuilder builder("elementwise");
    builder.doc("An arithmetic expression of its operands, element by element.")
        .inputs({"x0"})
        .outputs({"dst"})
        .variadic(1)
        .shape(shape)
        .gradient(gradient)
        .flops([](const std::vector<Type>&, const std::vector<Type>& out, const Attributes& a) {
            return flops(parse_postfix(text_or(a, "expression", "0"))) * out[0].elements();
        });
    in_place_over_all(builder);
    return builder;
}

}  // namespace dtnn::compiler
