/// Expressions term by term: activations, formulas, sums and products.

#include <array>

#include "compiler/onnx/out/node_writer.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler::onnx {
namespace {

class ExpressionWriter {
  public:
    explicit ExpressionWriter(NodeWriter& out) : out_(out) {}

    std::string number(const Expression& e) {
        if (is_truth(e))
            return out_.add("Cast", {truth(e)},
                            {attribute("to", std::int64_t(element_type(out_.dtype())))});
        switch (e.term) {
            case Term::input:
                return e.by_channel ? by_channel(e.index) : input(e.index);
            case Term::number:
                return constant(e.number);
            case Term::square: {
                const std::string x = number(e.operands[0]);
                return out_.add("Mul", {x, x});
            }
            // exp(x) - 1 = tanh(x / 2) * (exp(x) + 1), exact near 0 and for every x.
            case Term::expm1: {
                const std::string x = number(e.operands[0]);
                const std::string half = out_.add("Mul", {x, constant(0.5)});
                const std::string more = out_.add("Add", {out_.add("Exp", {x}), constant(1)});
                return out_.add("Mul", {out_.add("Tanh", {half}), more});
            }
            // ONNX has nothing that is exact near 0: x is lost beside 1 where it is less than the
            // rounding of 1, and no more than that is wrong.
            case Term::log1p:
                return out_.add("Log", {out_.add("Add", {number(e.operands[0]), constant(1)})});
            case Term::select: {
                const std::string condition = truth(e.operands[0]);
                const std::string then = number(e.operands[1]);
                return out_.add("Where", {condition, then, number(e.operands[2])});
            }
            default:
                return one_node(e);
        }
    }

  private:
    struct OneNode {
        Term term;
        const char* onnx;
        bool truth;
    };

    static const OneNode* find(Term term) {
        constexpr bool number = false, truth = true;  // NOLINT: words of terms.def
        static constexpr std::array kAll = {
#define DTNN_ONNX_TERM(term, onnx, result) OneNode{Term::term, onnx, result},
#include "compiler/onnx/terms.def"
#undef DTNN_ONNX_TERM
        };
        for (const OneNode& one : kAll)
            if (one.term == term) return &one;
        return nullptr;
    }

    static bool is_truth(const Expression& e) {
        const OneNode* one = find(e.term);
        return one && one->truth;
    }

    /// The value as a boolean: not 0.
    std::string truth(const Expression& e) {
        if (is_truth(e)) return one_node(e);
        return out_.add("Cast", {number(e)}, {attribute("to", std::int64_t(kBool))});
    }

    std::string one_node(const Expression& e) {
        const OneNode* one = find(e.term);
        DTNN_CHECK(one != nullptr, "`{}` has no form in ONNX", dtnn::name_of(e.term));
        Names operands;
        for (const Expression& operand : e.operands)
            operands.push_back(number(operand));
        return out_.add(one->onnx, std::move(operands));
    }

    std::string constant(double value) {
        return out_.model().number(out_.dtype(), value);
    }
    const std::string& input(int index) const {
        return out_.input(std::size_t(index));
    }

    /// A number for each channel, or one for all, beside values of any rank.
    std::string by_channel(int index) {
        const Type& type = out_.result();
        Dims dims(type.dims.size() - 1, 1);
        if (const std::int64_t count = out_.type(std::size_t(index)).dims[0]; count > 1)
            dims[std::size_t(feature_axis(type.axes)) - 1] = count;
        return out_.parameter(std::size_t(index), dims);
    }

    NodeWriter& out_;
};

}  // namespace

std::string write_expression(NodeWriter& out, const Expression& expression) {
    return ExpressionWriter(out).number(expression);
}

/// Gates have an axis for each of what they gate.
void write_multiply(NodeWriter& out) {
    const Type& dst = out.result();
    std::string product;
    for (std::size_t i = 0; i < out.inputs().size(); ++i) {
        std::string factor = out.input(i);
        if (out.type(i).dims.size() != dst.dims.size()) {
            Dims dims(dst.dims.size(), 1);
            dims[std::size_t(feature_axis(dst.axes))] = out.type(i).dims[1];
            factor = out.reshape(factor, dims);
        }
        product = i == 0 ? factor : out.add("Mul", {product, factor});
    }
    out.done(product);
}

/// One node, so that it comes back as it went out.
void write_relu6(NodeWriter& out) {
    const DType dtype = out.type().dtype;
    out.done("Clip", {out.input(), out.model().number(dtype, 0), out.model().number(dtype, 6)});
}

}  // namespace dtnn::compiler::onnx
