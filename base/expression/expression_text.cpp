/// The texts of expressions.

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/expression/expression.hpp"

namespace dtnn {
namespace {

void write_postfix(const Expression& e, std::string& text) {
    for (const Expression& operand : e.operands)
        write_postfix(operand, text);
    if (!text.empty()) text += ' ';
    if (e.term == Term::input)
        text += fmt::format("{}{}", e.by_channel ? 'c' : 'x', e.index);
    else if (e.term == Term::number)
        text += fmt::format("{}", e.number);
    else
        text += name_of(e.term);
}

/// How tightly the written form holds together: 1 comparisons, 2 sums, 3 products, 4 signs, 5
/// powers, 6 the rest.
int strength(const Expression& e) {
    switch (e.term) {
        case Term::gt:
        case Term::ge:
        case Term::eq:
            return 1;
        case Term::add:
        case Term::sub:
            return 2;
        case Term::mul:
        case Term::div:
            return 3;
        case Term::neg:
            return 4;
        case Term::square:
        case Term::pow:
            return 5;
        case Term::number:
            return std::signbit(e.number) ? 4 : 6;
        default:
            return 6;
    }
}

std::string_view sign_of(Term term) {
    switch (term) {
        case Term::gt:
            return ">";
        case Term::ge:
            return ">=";
        case Term::eq:
            return "==";
        case Term::add:
            return "+";
        case Term::sub:
            return "-";
        case Term::mul:
            return "*";
        case Term::div:
            return "/";
        default:
            return "";
    }
}

std::string infix_of(const Expression& e, const std::vector<std::string>& names) {
    const auto part = [&](std::size_t i, int least) {
        const std::string text = infix_of(e.operands[i], names);
        return strength(e.operands[i]) < least ? "(" + text + ")" : text;
    };
    if (e.term == Term::number) return fmt::format("{}", e.number);
    if (e.term == Term::input)
        return std::size_t(e.index) < names.size() ? names[std::size_t(e.index)]
                                                   : fmt::format("x{}", e.index);
    if (const std::string_view sign = sign_of(e.term); !sign.empty()) {
        const int own = strength(e);
        // A comparison stands alone; what is left of a sign may be as strong as it.
        return fmt::format("{} {} {}", part(0, own == 1 ? 2 : own), sign, part(1, own + 1));
    }
    if (e.term == Term::neg) return "-" + part(0, 4);
    if (e.term == Term::square) return part(0, 6) + " ** 2";
    if (e.term == Term::pow) return part(0, 6) + " ** " + part(1, 5);
    std::string operands;
    for (std::size_t i = 0; i < e.operands.size(); ++i)
        operands += (i > 0 ? ", " : "") + part(i, 0);
    return fmt::format("{}({})", e.term == Term::select ? kWhere : name_of(e.term), operands);
}

}  // namespace

ExpressionError::ExpressionError(std::string_view text, std::size_t column, std::string reason,
                                 std::string help)
    : std::runtime_error(fmt::format("`{}`, column {}: {}", text, column, reason)),
      column_(column),
      reason_(std::move(reason)),
      help_(std::move(help)) {}

Expression parse_postfix(std::string_view text) {
    Postfix postfix;
    if (const auto mistake = parse_postfix(text, postfix))
        throw ExpressionError(text, mistake->column, mistake->reason);
    std::vector<Expression> stack;
    for (const Instruction& instruction : postfix.instructions) {
        Expression e;
        e.term = instruction.term;
        e.index = instruction.index;
        e.by_channel = instruction.by_channel;
        e.number = instruction.number;
        const auto first = stack.end() - instruction.operands;
        e.operands.assign(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
        stack.erase(first, stack.end());
        stack.push_back(std::move(e));
    }
    return std::move(stack.front());
}

std::string to_infix(const Expression& expression, const std::vector<std::string>& names) {
    return infix_of(expression, names);
}

std::string to_postfix(const Expression& expression) {
    std::string text;
    write_postfix(expression, text);
    return text;
}

}  // namespace dtnn
