/// Activations, sums, products, and other formulas.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Fields = std::function<Attributes(const NodeReader&)>;
using Text = std::function<std::string(const NodeReader&)>;

struct SameRule {
    const char* op;
    const char* field;
    const char* attribute;
    double value;
};

const std::map<std::string, SameRule, std::less<>>& same() {
    static const std::map<std::string, SameRule, std::less<>> all{
#define DTNN_ONNX_SAME(op, onnx, field, attribute, value) {onnx, {#op, field, attribute, value}},
#include "compiler/onnx/same.def"
#undef DTNN_ONNX_SAME
    };
    return all;
}

/// Formulas over x, by the node's attributes.
const std::map<std::string, Text, std::less<>>& formulas() {
    const auto fixed = [](const char* text) { return [text](const NodeReader&) { return text; }; };
    const auto number = [](double value) { return real_text(value); };
    static const std::map<std::string, Text, std::less<>> all{
        {"Abs", fixed("abs(x)")},
        {"Exp", fixed("exp(x)")},
        {"Neg", fixed("-x")},
        {"Sqrt", fixed("sqrt(x)")},
        {"Erf", fixed("erf(x)")},
        {"Erfc", fixed("1 - erf(x)")},
        {"Floor", fixed("floor(x)")},
        {"Ceil", fixed("-floor(-x)")},
        {"Sign", fixed("(x > 0) - (0 > x)")},
        {"Reciprocal", fixed("1 / x")},
        {"Softsign", fixed("x / (1 + abs(x))")},
        {"Mish", fixed("x * tanh(max(x, 0) + log1p(exp(-abs(x))))")},
        {"Sinh", fixed("(exp(x) - exp(-x)) / 2")},
        {"Cosh", fixed("(exp(x) + exp(-x)) / 2")},
        {"HardSigmoid",
         [number](const NodeReader& n) {
             return fmt::format("max(0, min(1, {} * x + {}))", number(n.real("alpha", 0.2)),
                                number(n.real("beta", 0.5)));
         }},
        {"ThresholdedRelu",
         [number](const NodeReader& n) {
             return fmt::format("where(x > {}, x, 0)", number(n.real("alpha", 1)));
         }},
        {"Celu",
         [number](const NodeReader& n) {
             const std::string alpha = number(n.real("alpha", 1));
             return fmt::format("max(x, 0) + min(0, {0} * expm1(x / {0}))", alpha);
         }},
        {"Selu",
         [number](const NodeReader& n) {
             const std::string gamma = number(n.real("gamma", 1.0507009873554805));
             return fmt::format("{} * (max(x, 0) + {} * expm1(min(x, 0)))", gamma,
                                number(n.real("alpha", 1.6732632423543772)));
         }},
        {"Shrink", [number](const NodeReader& n) {
             const std::string lambda = number(n.real("lambd", 0.5));
             const std::string bias = number(n.real("bias", 0));
             return fmt::format("where(x > {0}, x - {1}, where(-{0} > x, x + {1}, 0))", lambda,
                                bias);
         }}};
    return all;
}

bool near(double a, double b) {
    return std::abs(a - b) < 1e-6;
}

/// What has fields of its own, or is one of ours by its numbers.
bool read_named(const NodeReader& node) {
    const std::string& op = node.node().op_type;
    const auto is = [&](const char* type, Attributes fields) {
        node.layer_like(type, std::move(fields), {&node.by_number()});
        return true;
    };
    if (op == "Gelu") return is("gelu", {{"approximation", node.text("approximate", "none")}});
    if (op == "Softplus") return is("softplus", {});
    if (op == "Swish" && near(node.real("alpha", 1), 1)) return is("silu", {});
    if (op == "HardSigmoid" && near(node.real("alpha", 0.2), 1.0 / 6) &&
        near(node.real("beta", 0.5), 0.5))
        return is("hard_sigmoid", {});
    if (op == "Selu" && near(node.real("alpha", 1.67326324), 1.67326324) &&
        near(node.real("gamma", 1.05070099), 1.05070099))
        return is("selu", {});
    return false;
}

void expression(const NodeReader& node, std::string text,
                const std::vector<const ImportedValue*>& sources) {
    node.by_element("elementwise", {{"expression", std::move(text)}}, sources);
}

/// A constant beside a value: one number, or one for each of our channels or features.
struct Beside {
    std::optional<double> number;
    Numbers by_channel;
};

Beside beside(const NodeReader& node, const Constant& constant, const ImportedValue& value) {
    if (!constant.real) throw Refused("it computes with integers");
    if (constant.elements() == 1 && constant.dims.size() <= value.rank())
        return {std::stod(fmt::format("{}", float(constant.at(0)))), {}};
    const auto refuse = [&]() -> Beside {
        throw Refused(fmt::format("it has a constant of [{}] beside a value of [{}]",
                                  fmt::join(constant.dims, ", "), fmt::join(value.dims(), ", ")),
                      "one number, or one for each channel, can be");
    };
    if (constant.dims.size() > value.rank()) return refuse();
    const std::size_t skipped = value.rank() - constant.dims.size();
    const int ours = feature_axis(value.type.axes);
    for (std::size_t i = 0; i < constant.dims.size(); ++i) {
        if (constant.dims[i] == 1) continue;
        const std::size_t axis = skipped + i;
        if (value.order[axis] != ours || value.extent(axis) != constant.dims[i]) return refuse();
    }
    return {std::nullopt, numbers_of(in_row_order(node, constant, value))};
}

/// The input, as an image or a sequence where numbers along one of its axes ask for that.
ImportedValue taken_beside(const NodeReader& node, std::size_t value, const Constant& constant) {
    const ImportedValue& src = node.by_number(value);
    const std::size_t rank = constant.dims.size();
    if (src.rank() != 3 || rank > 3) return src;
    for (std::size_t i = 0; i < rank; ++i) {
        if (constant.dims[i] == 1 || src.order[3 - rank + i] == feature_axis(src.type.axes))
            continue;
        return is_image(src.type) ? as_sequence(node, src) : as_image(node, src);
    }
    return src;
}

/// Whether the constant is one number, or one for each of our channels or features.
bool is_by_channel(const Constant& constant, const ImportedValue& value) {
    const std::size_t rank = constant.dims.size();
    if (constant.elements() == 1 || rank > value.rank()) return true;
    for (std::size_t i = 0; i < rank; ++i)
        if (constant.dims[i] != 1 &&
            value.order[value.rank() - rank + i] != feature_axis(value.type.axes))
            return false;
    return true;
}

/// A number of the constant for each of a sample, in our order.
Numbers of_sample(const Constant& constant, const ImportedValue& value) {
    if (!constant.real) throw Refused("it computes with integers");
    const std::vector<std::size_t> places = broadcast_places(value.dims(), constant.dims);
    const Numbers theirs = numbers_of(constant);
    Numbers numbers;
    for (const std::int64_t row : rows_of(value))
        numbers.push_back(theirs[places[std::size_t(row)]]);
    return numbers;
}

/// A formula with a number for each of a sample, as one of a row that is given its shape again.
void formula_of_row(const NodeReader& node, const ImportedFormula& formula,
                    const ImportedValue& src, const Numbers& numbers) {
    Importer& importer = node.importer();
    const int flat = importer.add_layer({}, "flatten", {}, {&src}, {});
    const ImportedValue row = importer.layer(flat).value;
    node.formula(formula, row,
                 importer.constants().make({std::int64_t(numbers.size())}, true, numbers));
    const ImportedValue made = *importer.find(node.node().output[0]);
    const Dims& dims = src.type.dims;
    const int shaped = importer.add_layer(
        {}, "reshape", {{"shape", std::vector<std::int64_t>(dims.begin() + 1, dims.end())}},
        {&made}, {});
    ImportedValue value = importer.layer(shaped).value;
    value.order = src.order;
    node.result(std::move(value));
}

/// The bias of a convolution or a dense layer that had none and that nobody else reads.
bool joins_bias(const NodeReader& node, const ImportedValue& src, const Numbers& numbers) {
    if (src.source < 0 || !node.importer().is_read_once(src.source)) return false;
    ImportedLayer& layer = node.importer().layer(src.source);
    if (!layer.parameters.contains("weights") || layer.parameters.contains("bias")) return false;
    layer.fields["bias"] = true;
    layer.parameters["bias"] =
        node.importer().constants().make({std::int64_t(numbers.size())}, true, numbers);
    node.result(src);
    return true;
}

/// Factors or offsets of a normalisation that nobody else reads.
bool joins_normalisation(const NodeReader& node, const ImportedValue& src, const Numbers& numbers,
                         bool sum) {
    if (src.source < 0 || !node.importer().is_read_once(src.source)) return false;
    ImportedLayer& layer = node.importer().layer(src.source);
    const auto none = layer.parameters.end();
    const auto gamma = layer.parameters.find("gamma"), beta = layer.parameters.find("beta");
    if (gamma == none || (beta == none && sum) || layer.type == "batch_norm" ||
        gamma->second.elements() != std::int64_t(numbers.size()))
        return false;
    for (const auto& role : {gamma, beta}) {
        if (role == none || (sum && role == gamma)) continue;
        Constant* const constant = &role->second;
        Numbers made = numbers_of(*constant);
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i] = sum ? made[i] + numbers[i] : made[i] * numbers[i];
        *constant = node.importer().constants().make(constant->dims, true, made);
    }
    node.result(src);
    return true;
}

/// Whether the one is a gate of the other: a number for each channel.
bool gates(const ImportedValue& gate, const ImportedValue& value) {
    if (!is_image(value.type) || !is_image(gate.type) || gate.type.dims == value.type.dims)
        return false;
    const auto channels = [](const ImportedValue& v) {
        return std::find(v.order.begin(), v.order.end(), 1) - v.order.begin();
    };
    return gate.type.dims == Dims{1, value.type.dims[1], 1, 1} &&
           channels(gate) == channels(value) && gate.batch_axis() == value.batch_axis();
}

/// `sign`: + - * or /.
void arithmetic(const NodeReader& node, char sign) {
    const bool left = node.of_any_length(0).is_constant(),
               right = node.of_any_length(1).is_constant();
    if (!left && !right) {
        const ImportedValue &a = node.by_number(0), &b = node.by_number(1);
        if (sign == '*' && (gates(a, b) || gates(b, a))) {
            const Order order = gates(a, b) ? b.order : a.order;
            const int made = node.importer().add_layer(node.node(), "multiply", {}, {&a, &b}, {});
            ImportedValue product = node.importer().layer(made).value;
            product.order = order;
            return node.result(std::move(product));
        }
        const bool same = a.source == b.source && a.lies_like(b);
        if (same || sign == '-' || sign == '/') {
            if (same) return expression(node, fmt::format("x {} x", sign), {&a});
            return expression(node, fmt::format("x0 {} x1", sign), {&a, &b});
        }
        return node.by_element(sign == '+' ? "add" : "multiply", {}, {&a, &b});
    }
    const std::size_t value = left ? 1 : 0;
    if ((sign == '+' || (sign == '-' && !left)) && add_positions(node, value, sign == '-')) return;
    const Constant& constant = *node.input(1 - value).constant;
    const ImportedValue src = taken_beside(node, value, constant);
    // x - c is x + (-c), x / c is x * (1 / c); c - x and c / x are other functions.
    const bool sum = sign == '+' || sign == '-',
               other_function = left && (sign == '-' || sign == '/');
    const bool joins = src.source == node.input(value).source && !other_function;
    const auto turned = [&](Numbers numbers) {
        if (!left)
            for (double& number : numbers)
                number = sign == '-' ? -number : sign == '/' ? 1 / number : number;
        return numbers;
    };
    const ImportedFormula formula = other_function && sign == '-'
                                        ? ImportedFormula{"value - x", "c1 x0 sub"}
                                    : other_function ? ImportedFormula{"value / x", "c1 x0 div"}
                                    : sum            ? ImportedFormula{"x + value", "x0 c1 add"}
                                                     : ImportedFormula{"x * value", "x0 c1 mul"};
    if (!is_by_channel(constant, src)) {
        const Numbers numbers = turned(of_sample(constant, src));
        if (joins && joins_normalisation(node, src, numbers, sum)) return;
        return formula_of_row(node, formula, src, numbers);
    }
    const Beside other = beside(node, constant, src);
    if (other.number) {
        const double c = *other.number;
        if (left && (sign == '-' || sign == '/'))
            return expression(node, fmt::format("{} {} x", real_text(c), sign), {&src});
        if (sum)
            return node.layer_like("scale", {{"factor", 1.0}, {"offset", sign == '-' ? -c : c}},
                                   {&src});
        if (sign == '*') return node.layer_like("scale", {{"factor", c}, {"offset", 0.0}}, {&src});
        return expression(node, fmt::format("x / {}", real_text(c)), {&src});
    }
    const Numbers numbers = turned(other.by_channel);
    if (joins && joins_normalisation(node, src, numbers, sum)) return;
    if (joins && sum && joins_bias(node, src, numbers)) return;
    node.formula(formula, src,
                 node.importer().constants().make({std::int64_t(numbers.size())}, true, numbers));
}

/// max and min of any number of operands, of which some may be numbers.
void extreme(const NodeReader& node, const char* name) {
    std::vector<const ImportedValue*> sources;
    std::vector<double> numbers;
    for (std::size_t i = 0; i < node.count(); ++i)
        if (!node.input(i).is_constant()) sources.push_back(&node.by_number(i));
    if (sources.empty()) throw Refused("it has no value of the network");
    for (std::size_t i = 0; i < node.count(); ++i) {
        if (!node.input(i).is_constant()) continue;
        const Beside other = beside(node, *node.input(i).constant, *sources[0]);
        if (!other.number) throw Refused("it has a number for each channel", "");
        numbers.push_back(*other.number);
    }
    std::string text = "x0";
    for (std::size_t i = 1; i < sources.size(); ++i)
        text = fmt::format("{}({}, x{})", name, text, i);
    for (const double number : numbers)
        text = fmt::format("{}({}, {})", name, text, real_text(number));
    expression(node, text, sources);
}

/// A formula over the node's inputs, of which some may be numbers; in `form` they are {0}, {1},
/// {2}.
void over_inputs(const NodeReader& node, const char* form) {
    std::vector<const ImportedValue*> sources;
    std::vector<std::string> names(3);
    for (std::size_t i = 0; i < std::min(node.count(), names.size()); ++i) {
        if (node.input(i).is_constant()) continue;
        names[i] = fmt::format("x{}", sources.size());
        sources.push_back(&node.by_number(i));
    }
    if (sources.empty()) throw Refused("it has no value of the network");
    for (std::size_t i = 0; i < std::min(node.count(), names.size()); ++i) {
        if (!node.input(i).is_constant()) continue;
        const Beside other = beside(node, *node.input(i).constant, *sources[0]);
        if (!other.number) throw Refused("it has a number for each channel", "");
        names[i] = fmt::format("({})", real_text(*other.number));
    }
    expression(node, fmt::format(fmt::runtime(form), names[0], names[1], names[2]), sources);
}

}  // namespace

void read_greater(const NodeReader& node) {
    over_inputs(node, "{0} > {1}");
}

void read_less(const NodeReader& node) {
    over_inputs(node, "{1} > {0}");
}

void read_equal(const NodeReader& node) {
    over_inputs(node, "{0} == {1}");
}

void read_and(const NodeReader& node) {
    over_inputs(node, "{0} * {1}");
}

void read_or(const NodeReader& node) {
    over_inputs(node, "max({0}, {1})");
}

void read_not(const NodeReader& node) {
    over_inputs(node, "1 - {0}");
}

void read_greater_or_equal(const NodeReader& node) {
    over_inputs(node, "{0} >= {1}");
}

void read_less_or_equal(const NodeReader& node) {
    over_inputs(node, "{1} >= {0}");
}

void read_where(const NodeReader& node) {
    over_inputs(node, "where({0}, {1}, {2})");
}

bool is_formula(const std::string& op_type) {
    return same().contains(op_type) || formulas().contains(op_type) || op_type == "Gelu" ||
           op_type == "Softplus" || op_type == "Swish";
}

bool read_formula(const NodeReader& node) {
    const std::string& op = node.node().op_type;
    if (!is_formula(op)) return false;
    if (const auto found = same().find(op); found != same().end()) {
        const SameRule& rule = found->second;
        Attributes fields;
        if (*rule.field) fields[rule.field] = node.real(rule.attribute, rule.value);
        node.layer_like(rule.op, std::move(fields), {&node.by_number()});
        return true;
    }
    if (read_named(node)) return true;
    if (op == "Swish") {
        expression(node, fmt::format("x * sigmoid({} * x)", real_text(node.real("alpha", 1))),
                   {&node.by_number()});
        return true;
    }
    expression(node, formulas().at(op)(node), {&node.by_number()});
    return true;
}

void read_add(const NodeReader& node) {
    arithmetic(node, '+');
}

void read_sub(const NodeReader& node) {
    arithmetic(node, '-');
}

void read_mul(const NodeReader& node) {
    arithmetic(node, '*');
}

void read_div(const NodeReader& node) {
    arithmetic(node, '/');
}

void read_pow(const NodeReader& node) {
    const ImportedValue& src = node.by_number();
    if (!node.input(1).is_constant())
        return expression(node, "x0 ** x1", {&src, &node.by_number(1)});
    Constant exponent = *node.input(1).constant;
    if (!exponent.real)
        exponent = node.importer().constants().make(exponent.dims, true, numbers_of(exponent));
    const Beside other = beside(node, exponent, src);
    if (!other.number) throw Refused("it has an exponent for each channel", "");
    expression(node, fmt::format("x ** {}", real_text(*other.number)), {&src});
}

void read_max(const NodeReader& node) {
    extreme(node, "max");
}

void read_min(const NodeReader& node) {
    extreme(node, "min");
}

void read_sum(const NodeReader& node) {
    if (node.count() == 1) return node.result(node.input(0));
    if (node.count() == 2) return arithmetic(node, '+');
    std::vector<const ImportedValue*> sources;
    for (std::size_t i = 0; i < node.count(); ++i)
        sources.push_back(&node.by_number(i));
    node.by_element("add", {}, sources);
}

void read_clip(const NodeReader& node) {
    const ImportedValue& src = node.by_number();
    std::optional<double> least, most;
    if (node.opset() < 11) {
        if (node.find("min")) least = node.real("min", 0);
        if (node.find("max")) most = node.real("max", 0);
    } else {
        if (node.has(1)) least = beside(node, node.constant(1, "least"), src).number;
        if (node.has(2)) most = beside(node, node.constant(2, "most"), src).number;
    }
    // The largest numbers there are stand for no bound.
    if (least && *least <= -3e38) least.reset();
    if (most && *most >= 3e38) most.reset();
    if (least == 0.0 && most == 6.0) return node.layer_like("relu6", {}, {&src});
    if (least == 0.0 && !most) return node.layer_like("relu", {}, {&src});
    if (!least && !most) return node.result(src);
    std::string text = least ? fmt::format("max(x, {})", real_text(*least)) : "x";
    if (most) text = fmt::format("min({}, {})", text, real_text(*most));
    expression(node, text, {&src});
}

void read_p_relu(const NodeReader& node) {
    const Constant& given = node.constant(1, "slope");
    const ImportedValue src = taken_beside(node, 0, given);
    const ImportedFormula formula{"where(x > 0, x, value * x)", "x0 0 gt x0 c1 x0 mul select"};
    if (!is_by_channel(given, src))
        return formula_of_row(node, formula, src, of_sample(given, src));
    const Beside slope = beside(node, given, src);
    if (slope.number && *slope.number >= 0)
        return node.layer_like("leaky_relu", {{"negative_slope", *slope.number}}, {&src});
    if (slope.number)
        return expression(node, fmt::format("where(x > 0, x, {} * x)", real_text(*slope.number)),
                          {&src});
    node.formula(formula, src,
                 node.importer().constants().make({std::int64_t(slope.by_channel.size())}, true,
                                                  slope.by_channel));
}

void read_identity(const NodeReader& node) {
    node.result(node.in_any_order());
}

void read_cast(const NodeReader& node) {
    const std::int64_t to = node.integer("to", kFloat);
    if (node.input(0).type.dtype == DType::i32 && (to == kInt64 || to == kInt32))
        return node.result(node.input(0));
    if (to == kBool) return over_inputs(node, "{0} != 0");
    if (to != kFloat && to != kDouble && to != kFloat16 && to != kBfloat16)
        throw Refused("it makes integers of the network's values", "");
    node.result(node.in_any_order());
}

}  // namespace dtnn::compiler::onnx
