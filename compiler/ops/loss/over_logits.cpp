#include "compiler/ops/loss/over_logits.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/expression/expression.hpp"
#include "compiler/ops/define.hpp"
#include "compiler/ops/expression/formula_fault.hpp"

namespace dtnn::compiler {
namespace {

/// p, 1 - p and their logarithms as inputs of their own, behind those of the loss.
enum Part { kComplement, kLogarithm, kComplementLogarithm, kParts };

Expression x0() {
    return Expression::input_at(0);
}

Expression join(Term term, Expression a) {
    return Expression::of(term, {std::move(a)});
}
Expression join(Term term, Expression a, Expression b) {
    return Expression::of(term, {std::move(a), std::move(b)});
}

/// log(sigmoid(x)) = min(x, 0) - log1p(exp(-|x|)).
Expression log_sigmoid(const Expression& x) {
    return join(Term::sub, join(Term::min, x, Expression::constant(0)),
                join(Term::log1p, join(Term::exp, join(Term::neg, join(Term::abs, x)))));
}

/// The expression with inputs of their own for the parts of p.
class Parts {
  public:
    explicit Parts(const Expression& whole)
        : inputs_(std::max(input_count(whole), 1)), over_(replaced(whole)) {}

    /// Whether it takes a logarithm of p, or of 1 - p.
    bool takes_logarithms() const { return logarithms_; }

    Expression over(const Expression& e, const Expression& p,
                    const std::array<Expression, kParts>& parts) const {
        std::vector<Expression> values;
        for (int i = 0; i < inputs_; ++i)
            values.push_back(i == 0 ? p : Expression::input_at(i));
        values.insert(values.end(), parts.begin(), parts.end());
        return simplify(substitute(e, values));
    }
    const Expression& expression() const { return over_; }
    Expression slope(Part part) const { return differentiate(over_, inputs_ + part); }
    Expression slope() const { return differentiate(over_, 0); }

  private:
    Expression part(Part which) const { return Expression::input_at(inputs_ + which); }

    Expression replaced(const Expression& e) {
        const Expression complement = join(Term::sub, Expression::constant(1), x0());
        if (e == complement) return part(kComplement);
        if (e.term == Term::log || e.term == Term::log1p) {
            const Expression& of = e.operands[0];
            const bool plain = e.term == Term::log && of == x0();
            const bool other = e.term == Term::log ? of == complement : of == join(Term::neg, x0());
            logarithms_ = logarithms_ || plain || other;
            if (plain) return part(kLogarithm);
            if (other) return part(kComplementLogarithm);
        }
        Expression result = e;
        for (Expression& operand : result.operands)
            operand = replaced(operand);
        return result;
    }

    int inputs_;
    bool logarithms_ = false;
    Expression over_;
};

}  // namespace

std::optional<Attributes> over_logits(const Attributes& attributes, Squash squash) {
    if (attributes.contains("derivative")) return std::nullopt;
    const Parts parts(parse_postfix(text_or(attributes, "expression", "0")));
    if (!parts.takes_logarithms()) return std::nullopt;
    Attributes result = attributes;
    if (squash == Squash::softmax) {
        // Over l = log p: p = exp(l), 1 - p = -expm1(l).
        const Expression complement = join(Term::neg, join(Term::expm1, x0()));
        const Expression joined = parts.over(parts.expression(), join(Term::exp, x0()),
                                             {complement, x0(), join(Term::log, complement)});
        if (formula_fault(joined)) return std::nullopt;
        result["expression"] = to_postfix(joined);
        return result;
    }
    // By the chain rule, as symbols have no slope of |x| at 0: p' = p (1 - p), (log p)' = 1 - p,
    // (log(1 - p))' = -p.
    const Expression p = join(Term::sigmoid, x0()), minus = join(Term::neg, x0());
    const std::array<Expression, kParts> of_x = {join(Term::sigmoid, minus), log_sigmoid(x0()),
                                                 log_sigmoid(minus)};
    const auto over = [&](const Expression& e) { return parts.over(e, p, of_x); };
    const Expression& complement = of_x[kComplement];
    const Expression straight =
        product(simplify(join(Term::sub, over(parts.slope()), over(parts.slope(kComplement)))),
                join(Term::mul, p, complement));
    const Expression logarithms =
        join(Term::sub, product(over(parts.slope(kLogarithm)), complement),
             product(over(parts.slope(kComplementLogarithm)), p));
    const Expression joined = over(parts.expression());
    const bool alone = straight == Expression::constant(0);
    const Expression slope = simplify(alone ? logarithms : join(Term::add, straight, logarithms));
    if (constants_fault(joined) || constants_fault(slope)) return std::nullopt;
    result["expression"] = to_postfix(joined);
    result["derivative"] = to_postfix(slope);
    return result;
}

}  // namespace dtnn::compiler
