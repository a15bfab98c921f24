#include "compiler/frontend/formula/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "compiler/frontend/formula/arithmetic.hpp"
#include "compiler/frontend/formula/formula_parser.hpp"
#include "compiler/frontend/read/value_reader.hpp"

namespace dtnn::compiler {
namespace {

using Kind = FormulaSymbol::Kind;

/// The parsed form of a scalar's text. Bodies of blocks are evaluated thousands of times, so it is
/// kept; shared, because a name may be found by evaluating other texts, which may empty the store.
std::shared_ptr<const FormulaText> parsed(const std::string& text) {
    constexpr std::size_t kMostTexts = 4096;
    thread_local std::unordered_map<std::string, std::shared_ptr<const FormulaText>> store;
    const auto found = store.find(text);
    if (found != store.end()) return found->second;
    if (store.size() >= kMostTexts) store.clear();
    return store.emplace(text, std::make_shared<FormulaText>(parse_formula_text(text)))
        .first->second;
}

/// The place of bytes [begin, end) of the scalar's text; all of the scalar when escapes or folded
/// lines hide where they are.
Span span_inside(const SourceNode& scalar, std::size_t begin, std::size_t end) {
    const std::string_view text = scalar.text;
    const int quotes = scalar.quoted ? 2 : 0;
    if (scalar.span.place.file.empty() || int(characters(text)) + quotes != scalar.span.width ||
        text.find('\n') != std::string_view::npos)
        return scalar.span;
    begin = std::min(begin, text.size());
    end = std::clamp(end, begin, text.size());
    Span span = scalar.span;
    span.place.column += quotes / 2 + int(characters(text.substr(0, begin)));
    span.width = std::max(1, int(characters(text.substr(begin, end - begin))));
    return span;
}

void report(const FormulaText::Mistake& mistake, const SourceNode& scalar,
            Diagnostics& diagnostics) {
    diagnostics.error(mistake.code, span_inside(scalar, mistake.begin, mistake.end), mistake.text,
                      mistake.help);
}

bool is_number(const FormulaValue& value) {
    return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}
bool is_unknown(const FormulaValue& value) {
    return std::holds_alternative<Unknown>(value);
}
double as_real(const FormulaValue& value) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    return integer ? double(*integer) : std::get<double>(value);
}

/// In the arithmetic of messages.
std::string operand_text(const FormulaValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return fmt::format("'{}'", *text);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
        return fmt::format("[{}]", fmt::join(*list, ", "));
    return describe(value);
}

std::string type_text(const FormulaValue& value) {
    switch (value.index()) {
        case 1:
            return fmt::format("the boolean {}", std::get<bool>(value));
        case 2:
            return fmt::format("the integer {}", std::get<std::int64_t>(value));
        case 3:
            return fmt::format("the real {}", describe(value));
        default:
            return describe(value);
    }
}

/// "normal: {mean: 0, deviation: 0.1}" as the map that it is written as.
SourceNode initializer_node(const std::string& text, const Span& span) {
    const std::size_t begin = text.find(": {");
    SourceNode numbers = make_map(span);
    for (std::size_t at = begin + 3; at < text.size();) {
        const std::size_t colon = text.find(": ", at);
        const std::size_t end = text.find_first_of(",}", colon);
        numbers.entries.push_back({text.substr(at, colon - at), span,
                                   make_scalar(text.substr(colon + 2, end - colon - 2), span)});
        at = text[end] == ',' ? end + 2 : text.size();
    }
    SourceNode node = make_map(span);
    node.entries.push_back({text.substr(0, begin), span, std::move(numbers)});
    return node;
}

/// Evaluates one expression; nothing after a diagnostic.
class Evaluator {
  public:
    Evaluator(const Formula& formula, const SourceNode& scalar, const Names& names,
              Diagnostics& diagnostics)
        : formula_(formula), scalar_(scalar), names_(names), diagnostics_(diagnostics) {}

    std::optional<FormulaValue> run() { return value(int(formula_.symbols.size()) - 1); }

  private:
    using Result = std::optional<FormulaValue>;

    const FormulaSymbol& symbol(int index) const { return formula_.symbols[std::size_t(index)]; }
    std::string_view source(const FormulaSymbol& one) const {
        return std::string_view(scalar_.text).substr(one.begin, one.end - one.begin);
    }

    Diagnostic& error(Code code, std::size_t begin, std::size_t end, std::string text) {
        return diagnostics_.error(code, span_inside(scalar_, begin, end), std::move(text));
    }

    /// "`width // groups` = 64 // 0", or only the first when it is all numbers already.
    std::string arithmetic(const FormulaSymbol& one, const std::string& numbers) const {
        const std::string text(source(one));
        return text == numbers ? fmt::format("`{}`", text)
                               : fmt::format("`{}` = {}", text, numbers);
    }

    std::nullopt_t overflow(const FormulaSymbol& one, const std::string& numbers,
                            std::string_view limit) {
        error(Code::number_overflow, one.begin, one.end,
              fmt::format("{} {}", arithmetic(one, numbers), limit));
        return std::nullopt;
    }

    /// A real that is no number or infinite has no use in a spec.
    Result finite(const FormulaSymbol& one, double result, const std::string& numbers) {
        if (!std::isfinite(result)) return overflow(one, numbers, "is no finite number");
        return result;
    }

    std::nullopt_t wrong_type(const FormulaSymbol& one, std::string_view takes,
                              const FormulaSymbol& operand, const FormulaValue& given) {
        std::string shown = type_text(given);
        if (operand.kind == Kind::name || operand.kind == Kind::choice ||
            operand.kind == Kind::call || operand.kind == Kind::binary ||
            operand.kind == Kind::index)
            shown = fmt::format("`{}`, {}", source(operand), shown);
        error(Code::expression_type, operand.begin, operand.end,
              fmt::format("`{}` is given {}; it takes {}", one.word, shown, takes));
        return std::nullopt;
    }

    Result value(int index) {
        const FormulaSymbol& one = symbol(index);
        switch (one.kind) {
            case Kind::integer:
                return one.integer;
            case Kind::real:
                return one.real;
            case Kind::text:
                return one.word;
            case Kind::boolean:
                return one.flag;
            case Kind::name:
                return name(one);
            case Kind::negate:
                return negate(one);
            case Kind::binary:
                return binary(one);
            case Kind::index:
                return element(one);
            case Kind::comparison:
                return comparison(one);
            case Kind::choice:
                return choice(one);
            case Kind::call:
                break;
        }
        return call(one);
    }

    Result name(const FormulaSymbol& one) {
        if (auto found = names_.find(one.word)) return found;
        const std::vector<std::string> all =
            worth_suggesting(diagnostics_, 1) ? names_.all() : std::vector<std::string>();
        error(Code::unknown_name, one.begin, one.end,
              fmt::format("`{}` is no name in reach of this expression", one.word))
            .help = worth_suggesting(diagnostics_, all.size())
                        ? suggest(one.word, all, "the names in reach")
                        : std::string();
        return std::nullopt;
    }

    Result negate(const FormulaSymbol& one) {
        Result operand = value(one.operands[0]);
        if (!operand || is_unknown(*operand)) return operand;
        if (const auto* real = std::get_if<double>(&*operand)) return -*real;
        const auto* integer = std::get_if<std::int64_t>(&*operand);
        if (!integer) {
            FormulaSymbol sign = one;
            sign.word = "-";
            return wrong_type(sign, "numbers", symbol(one.operands[0]), *operand);
        }
        const auto result = integer_result("-", 0, *integer);
        if (!result) return overflow(one, fmt::format("-({})", *integer), "does not fit 64 bits");
        return *result;
    }

    /// Both operands, so that a mistake in the second is found beside one in the first.
    bool operands(const FormulaSymbol& one, Result& a, Result& b) {
        a = value(one.operands[0]);
        b = value(one.operands[1]);
        return a && b;
    }

    Result binary(const FormulaSymbol& one) {
        Result a, b;
        if (!operands(one, a, b)) return std::nullopt;
        for (const int k : {0, 1}) {
            const FormulaValue& operand = k == 0 ? *a : *b;
            if (!is_number(operand) && !is_unknown(operand))
                return wrong_type(one, "numbers", symbol(one.operands[std::size_t(k)]), operand);
        }
        const bool divides = one.word == "/" || one.word == "//" || one.word == "%";
        if (is_unknown(*a) || is_unknown(*b)) return Unknown{};
        const std::string numbers =
            fmt::format("{} {} {}", operand_text(*a), one.word, operand_text(*b));
        if (divides && as_real(*b) == 0) {
            error(Code::division_by_zero, one.begin, one.end,
                  fmt::format("{}, a division by zero", arithmetic(one, numbers)));
            return std::nullopt;
        }
        const auto* x = std::get_if<std::int64_t>(&*a);
        const auto* y = std::get_if<std::int64_t>(&*b);
        const bool whole = one.word != "/" && (one.word != "**" || (y && *y >= 0));
        if (x && y && whole) {
            const auto result = integer_result(one.word, *x, *y);
            if (!result) return overflow(one, numbers, "does not fit 64 bits");
            return *result;
        }
        return finite(one, real_result(one.word, as_real(*a), as_real(*b)), numbers);
    }

    Result element(const FormulaSymbol& one) {
        Result list, place;
        if (!operands(one, list, place)) return std::nullopt;
        const auto* values = std::get_if<std::vector<std::int64_t>>(&*list);
        if (!values && !is_unknown(*list))
            return wrong_type(one, "a list", symbol(one.operands[0]), *list);
        const auto* at = std::get_if<std::int64_t>(&*place);
        if (!at && !is_unknown(*place))
            return wrong_type(one, "an integer as index", symbol(one.operands[1]), *place);
        if (!values || !at) return Unknown{};
        const auto size = std::int64_t(values->size());
        const std::int64_t from_begin = *at < 0 ? *at + size : *at;
        if (from_begin >= 0 && from_begin < size) return (*values)[std::size_t(from_begin)];
        error(Code::expression_type, one.begin, one.end,
              fmt::format("`{}` is value {} of {}, which has {}", source(one), *at,
                          operand_text(*list), count_text(size, "value")))
            .help = "the first is 0, the last -1";
        return std::nullopt;
    }

    Result comparison(const FormulaSymbol& one) {
        Result a, b;
        if (!operands(one, a, b)) return std::nullopt;
        const bool equality = one.word == "==" || one.word == "!=";
        for (const int k : {0, 1}) {
            const FormulaValue& operand = k == 0 ? *a : *b;
            const bool taken =
                is_unknown(operand) || is_number(operand) ||
                (equality && !std::holds_alternative<std::vector<std::int64_t>>(operand) &&
                 !std::holds_alternative<NumberedInitializer>(operand));
            if (!taken)
                return wrong_type(one, equality ? "numbers, texts and booleans" : "numbers",
                                  symbol(one.operands[std::size_t(k)]), operand);
        }
        if (is_unknown(*a) || is_unknown(*b)) return Unknown{};
        if (is_number(*a) != is_number(*b) || (!is_number(*a) && a->index() != b->index())) {
            error(Code::expression_type, one.begin, one.end,
                  fmt::format("`{}` compares {} with {}; it takes two values of one type",
                              source(one), type_text(*a), type_text(*b)));
            return std::nullopt;
        }
        if (!is_number(*a)) return (*a == *b) == (one.word == "==");
        const auto* x = std::get_if<std::int64_t>(&*a);
        const auto* y = std::get_if<std::int64_t>(&*b);
        if (x && y) return compare(one.word, *x, *y);
        return compare(one.word, as_real(*a), as_real(*b));
    }

    template <class Number>
    static bool compare(const std::string& sign, Number a, Number b) {
        if (sign == "==") return a == b;
        if (sign == "!=") return a != b;
        if (sign == "<") return a < b;
        if (sign == "<=") return a <= b;
        return sign == ">" ? a > b : a >= b;
    }

    Result choice(const FormulaSymbol& one) {
        Result condition = value(one.operands[0]);
        if (!condition || is_unknown(*condition)) return condition;
        const auto* flag = std::get_if<bool>(&*condition);
        if (!flag) {
            FormulaSymbol word = one;
            word.word = "if";
            return wrong_type(word, "true or false, as comparisons give", symbol(one.operands[0]),
                              *condition);
        }
        return value(one.operands[*flag ? 1 : 2]);
    }

    Result call(const FormulaSymbol& one) {
        std::vector<FormulaValue> values;
        bool unknown = false, sound = true, reals = false;
        for (const int index : one.operands) {
            Result operand = value(index);
            sound = sound && operand;
            if (!operand) continue;
            unknown = unknown || is_unknown(*operand);
            reals = reals || std::holds_alternative<double>(*operand);
            if (!is_unknown(*operand) && !is_number(*operand))
                return wrong_type(one, "numbers", symbol(index), *operand);
            values.push_back(std::move(*operand));
        }
        if (!sound) return std::nullopt;
        if (unknown) return Unknown{};
        if (one.word != "min" && one.word != "max") return rounded(one, values[0]);
        const bool smallest = one.word == "min";
        FormulaValue best = values[0];
        for (const FormulaValue& operand : values) {
            const bool less = reals
                                  ? as_real(operand) < as_real(best)
                                  : std::get<std::int64_t>(operand) < std::get<std::int64_t>(best);
            const bool equal = reals ? as_real(operand) == as_real(best) : operand == best;
            if (!equal && less == smallest) best = operand;
        }
        if (reals) return as_real(best);
        return best;
    }

    Result rounded(const FormulaSymbol& one, const FormulaValue& operand) {
        const auto* real = std::get_if<double>(&operand);
        if (!real) return operand;
        const double result = one.word == "round"   ? std::round(*real)
                              : one.word == "floor" ? std::floor(*real)
                                                    : std::ceil(*real);
        // 2^63 is the first double beyond the integers.
        if (result < -9223372036854775808.0 || result >= 9223372036854775808.0)
            return overflow(one, fmt::format("{}({})", one.word, describe(operand)),
                            "does not fit 64 bits");
        return std::int64_t(result);
    }

    const Formula& formula_;
    const SourceNode& scalar_;
    const Names& names_;
    Diagnostics& diagnostics_;
};

}  // namespace

bool has_formula(std::string_view text) {
    return text.find("${") != std::string_view::npos;
}

bool is_whole_formula(std::string_view text) {
    return text.starts_with("${") && parsed(std::string(text))->whole();
}

std::optional<FormulaValue> evaluate_value(const SourceNode& scalar, const Names& names,
                                           Diagnostics& diagnostics) {
    if (!has_formula(scalar.text)) return scalar.text;
    const std::shared_ptr<const FormulaText> formulas = parsed(scalar.text);
    if (formulas->mistake) {
        report(*formulas->mistake, scalar, diagnostics);
        return std::nullopt;
    }
    if (formulas->whole())
        return Evaluator(*formulas->parts[0].formula, scalar, names, diagnostics).run();

    std::string text;
    bool sound = true, unknown = false;
    for (const FormulaText::Part& part : formulas->parts) {
        if (!part.formula) {
            text += part.text;
            continue;
        }
        const auto value = Evaluator(*part.formula, scalar, names, diagnostics).run();
        if (!value) {
            sound = false;
        } else if (is_unknown(*value)) {
            unknown = true;
        } else if (const auto* integer = std::get_if<std::int64_t>(&*value)) {
            text += fmt::format("{}", *integer);
        } else if (const auto* words = std::get_if<std::string>(&*value)) {
            text += *words;
        } else {
            diagnostics.error(
                Code::expression_type, span_inside(scalar, part.begin, part.end),
                fmt::format("{} inside a text; a text takes integers and texts", type_text(*value)),
                "a value that is one `${...}` as a whole keeps its type");
            sound = false;
        }
    }
    if (!sound) return std::nullopt;
    if (unknown) return Unknown{};
    return text;
}

std::optional<Evaluated> evaluate(const SourceNode& scalar, const Names& names,
                                  Diagnostics& diagnostics) {
    if (!has_formula(scalar.text)) return scalar;
    const auto value = evaluate_value(scalar, names, diagnostics);
    if (!value) return std::nullopt;
    if (is_unknown(*value)) return Unknown{};
    return to_node(*value, scalar.span);
}

bool check_syntax(const SourceNode& scalar, Diagnostics& diagnostics) {
    if (!has_formula(scalar.text)) return true;
    const std::shared_ptr<const FormulaText> formulas = parsed(scalar.text);
    if (formulas->mistake) report(*formulas->mistake, scalar, diagnostics);
    return !formulas->mistake;
}

std::vector<std::string> names_read(std::string_view text) {
    if (!has_formula(text)) return {};
    const std::shared_ptr<const FormulaText> formulas = parsed(std::string(text));
    if (formulas->mistake) return {};
    std::set<std::string> names;
    for (const FormulaText::Part& part : formulas->parts)
        if (part.formula)
            for (const FormulaSymbol& symbol : part.formula->symbols)
                if (symbol.kind == Kind::name) names.insert(symbol.word);
    return {names.begin(), names.end()};
}

SourceNode to_node(const FormulaValue& value, Span span) {
    if (is_unknown(value)) {
        SourceNode none;
        none.span = std::move(span);
        return none;
    }
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
        SourceNode node;
        node.kind = SourceNode::Kind::list;
        for (const std::int64_t item : *list)
            node.items.push_back(make_scalar(fmt::format("{}", item), span));
        node.span = std::move(span);
        return node;
    }
    if (const auto* initializer = std::get_if<NumberedInitializer>(&value))
        return initializer_node(initializer->text, span);
    if (const auto* text = std::get_if<std::string>(&value)) {
        SourceNode node = make_scalar(*text, std::move(span));
        node.quoted = true;
        return node;
    }
    return make_scalar(describe(value), std::move(span));
}

std::string describe(const FormulaValue& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
    if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
    if (const auto* text = std::get_if<std::string>(&value))
        return fmt::format("the text `{}`", *text);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
        return fmt::format("the list [{}]", fmt::join(*list, ", "));
    if (const auto* initializer = std::get_if<NumberedInitializer>(&value))
        return fmt::format("the initializer {{{}}}", initializer->text);
    return "unknown";
}

}  // namespace dtnn::compiler
