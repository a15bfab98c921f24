#include "compiler/ops/elementwise/elementwise.hpp"

#include <fmt/format.h>

#include <map>

#include "base/text.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/ops/expression/formula_fault.hpp"
#include "compiler/ops/expression/parse_infix.hpp"

namespace dtnn::compiler {
namespace {

constexpr int kInPlaceOperands = 16;

/// Users write infix, the graph carries postfix. No text is both, but for a lone operand or number,
/// which mean the same in either: a postfix text of more than one token has two operands side by
/// side.
Expression read(const std::string& text) {
    try {
        return parse_postfix(text);
    } catch (const ExpressionError&) {
        return parse_infix(text);
    }
}

void elementwise_shape(ShapeContext& c) {
    Expression expression;
    const std::string text = c.text("expression");
    try {
        expression = read(text);
        if (const auto fault = constants_fault(expression))
            return c.fail(fault->text, fault->help, fault->field);
    } catch (const ExpressionError& error) {
        c.fail(fmt::format("elementwise: {}", error.what()), error.help(), "expression");
        return;
    }
    const auto operands = std::size_t(input_count(expression));
    if (operands > c.inputs().size()) {
        c.fail(fmt::format("the expression reads x{}, but elementwise has {}", operands - 1,
                           count_text(std::int64_t(c.inputs().size()), "input")),
               "inputs are x0, x1, ... in the order of `from`; x is x0", "expression");
        return;
    }
    if (!expect_operands_of(c, "elementwise", expression)) return;
    c.attributes()["expression"] = to_postfix(expression);
    result_like(c);
}

/// diff_i = diff * (derivative of the expression by x_i), over diff and those inputs that the
/// derivative reads. Of an operand by channel it is the sum over all that one number of it stands
/// for.
void elementwise_gradient(GradientContext& g) {
    const Expression forward =
        parse_postfix(std::get<std::string>(g.node().attributes.at("expression")));
    const auto operands = g.node().inputs.size();
    for (std::size_t i = 0; i < operands; ++i) {
        if (!g.wants(i)) continue;
        const Expression d = differentiate(forward, int(i));
        ValueList inputs{g.diff(0)};
        std::vector<int> renamed(operands);
        for (std::size_t j = 0; j < operands; ++j) {
            if (!reads(d, int(j))) continue;
            renamed[j] = int(inputs.size());
            inputs.push_back(g.input(j));
        }
        const Expression backward = product(Expression::input_at(0), renumber(d, renamed));
        if (reads_as(forward, int(i), true)) {
            const bool single = g.graph().type(g.input(i)).elements() == 1;
            g.set(i, g.emit("elementwise_sums", std::move(inputs),
                            {{"expression", to_postfix(backward)}, {"by_channel", !single}},
                            "diff_" + std::to_string(i))[0]);
        } else if (backward == Expression::input_at(0)) {
            g.set(i, g.diff(0));
        } else {
            g.set(i, g.emit("elementwise", std::move(inputs),
                            {{"expression", to_postfix(backward)}}, "diff_src")[0]);
        }
    }
}

/// The operator of one input and without fields that computes this; empty: none.
std::string operator_of(const std::string& expression) {
    static const auto names = [] {
        std::map<std::string, std::string> all;
        for (const OpDef* op : all_ops())
            if (op->layer && !op->variadic && op->fields.empty() && !op->expression.empty())
                all.emplace(op->expression, op->name);
        return all;
    }();
    const auto found = names.find(expression);
    return found == names.end() ? "" : found->second;
}

}  // namespace

KernelClass expression_class(const KernelClassContext& c) {
    return c.kernel == "chunked" ? KernelClass::expressions : KernelClass::sums;
}

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

bool expect_operands_of(ShapeContext& c, const char* op, const Expression& expression) {
    const Type& first = c.input(0);
    const int features = feature_axis(first.axes);
    for (std::size_t i = 0; i < c.inputs().size(); ++i) {
        const Type& type = c.input(i);
        if (reads_as(expression, int(i), true)) {
            const bool fits =
                i > 0 && features >= 1 && type.dtype == wide_of(first.dtype) &&
                (type.dims == Dims{first.dims[std::size_t(features)]} || type.dims == Dims{1});
            if (fits && type.dims[0] > 1) write_axis(c.attributes(), std::size_t(features));
            if (fits && !reads_as(expression, int(i), false)) continue;
            c.fail(
                fmt::format("{}: the expression reads operand {} as c{}, but {} has not one "
                            "number, or one for each channel of {}",
                            op, i + 1, i, print(type), print(first)));
            return false;
        }
        if (type.dims != first.dims) {
            c.fail(fmt::format("{} needs inputs of one shape, but input 1 is {} and input {} is {}",
                               op, sample_text(first), i + 1, sample_text(type)));
            return false;
        }
        if (type == first) continue;
        c.fail(
            fmt::format("{} needs operands of one shape, but operand 1 is {} and operand {} is {}",
                        op, print(first), i + 1, print(type)));
        return false;
    }
    return true;
}

std::string chain_of(std::string_view operation, std::size_t operands) {
    std::string chain = "x0";
    for (std::size_t i = 1; i < operands; ++i)
        chain += fmt::format(" x{} {}", i, operation);
    return chain;
}

void in_place_over_all(OpBuilder& builder) {
    for (int i = 0; i < kInPlaceOperands; ++i)
        builder.in_place(0, i);
}

OpBuilder elementwise_operator(const std::string& name, std::vector<Field> fields,
                               const ElementwiseForm& form) {
    return elementwise_operator(name, std::move(fields),
                                [form](const Attributes&) { return form; });
}

OpBuilder elementwise_operator(const std::string& name, std::vector<Field> fields,
                               const std::function<ElementwiseForm(const Attributes&)>& form) {
    std::vector<std::pair<std::string, AttributeValue>> defaults;
    std::vector<std::string> numbers;
    Attributes by_default;
    for (const Field& field : fields) {
        defaults.emplace_back(field.name, *field.fallback);
        by_default.insert(defaults.back());
        if (field.type == FieldType::real) numbers.emplace_back(field.name);
    }
    // The text over `variable` and the fields, as an expression over x0.
    const auto over = [numbers](const std::string& text, const char* variable,
                                const Attributes& attributes) {
        std::vector<std::string> names{variable};
        std::vector<Expression> values{Expression::input_at(0)};
        for (const std::string& field : numbers) {
            names.push_back(field);
            values.push_back(Expression::constant(std::get<double>(attributes.at(field))));
        }
        return simplify(substitute(parse_infix(text, names), values));
    };
    const auto forward = [over, form](const Attributes& attributes) {
        return over(form(attributes).infix, "x", attributes);
    };
    const auto gradient = [over, form, forward](GradientContext& g) {
        if (!g.wants(0)) return;
        const Attributes& attributes = g.node().attributes;
        const auto& [infix, in_y, in_x] = form(attributes);
        const Expression slope = !in_y.empty()   ? over(in_y, "y", attributes)
                                 : !in_x.empty() ? over(in_x, "x", attributes)
                                                 : differentiate(forward(attributes), 0);
        const Expression backward =
            product(Expression::input_at(0), substitute(slope, {Expression::input_at(1)}));
        ValueList operands{g.diff(0)};
        if (reads(backward, 1)) operands.push_back(in_y.empty() ? g.input(0) : g.output(0));
        g.set(0, backward == Expression::input_at(0)
                     ? g.diff(0)
                     : g.emit("elementwise", std::move(operands),
                              {{"expression", to_postfix(backward)}}, "diff_src")[0]);
    };
    OpBuilder builder(name);
    builder.family(Family::activation)
        .kernel_class(expression_class)
        .inputs({"src"})
        .outputs({"dst"})
        .expression(to_postfix(forward(by_default)))
        .shape([name, defaults](ShapeContext& c) {
            for (const auto& [field, value] : defaults)
                c.attributes().try_emplace(field, value);
            result_like(c);
        })
        .gradient(gradient)
        .flops([forward](const std::vector<Type>&, const std::vector<Type>& out,
                         const Attributes& attributes) {
            return flops(forward(attributes)) * out[0].elements();
        })
        .in_place(0, 0);
    if (!fields.empty())
        builder.expression_rule(
            [forward](const Node& node) { return to_postfix(forward(node.attributes)); });
    for (Field& field : fields)
        builder.field(std::move(field));
    return builder;
}

/// dst = expression(x0, x1, ...), element by element. Operands have the type of the first; those
/// that the expression reads as c1, c2, ... have one number for each channel, or one for all.
OpDef define_elementwise() {
    Field text{.name = "expression",
               .type = FieldType::expression,
               .doc = "arithmetic over the inputs x0, x1, ... (x is x0), such as x * sigmoid(x)",
               .change = kOfLayer};
    OpBuilder builder("elementwise");
    builder.family(Family::activation)
        .kernel_class(expression_class)
        .doc(
            "Arithmetic of your own, element by element, with the derivative that belongs to it: "
            "+ - * / and comparisons of inputs and numbers, and max, min, select, abs, exp, expm1, "
            "log, log1p, sqrt, tanh, atanh, sigmoid and erf of them.")
        .layer("- elementwise: {expression: \"x * sigmoid(x)\"}")
        .field(text)
        .variadic(1)
        .expression_rule(
            [](const Node& node) { return text_or(node.attributes, "expression", ""); })
        .shape(elementwise_shape)
        .gradient(elementwise_gradient)
        // The operator whose name fusions know.
        .general_form([](const Graph&, const Node& node) -> std::vector<Node> {
            if (node.inputs.size() != 1) return {};
            const std::string name = operator_of(text_or(node.attributes, "expression", ""));
            return name.empty() ? std::vector<Node>() : becomes(node, name, {});
        })
        .flops([](const std::vector<Type>&, const std::vector<Type>& out, const Attributes& a) {
            return flops(parse_postfix(text_or(a, "expression", "0"))) * out[0].elements();
        });
    in_place_over_all(builder);
    return builder;
}

}  // namespace dtnn::compiler
