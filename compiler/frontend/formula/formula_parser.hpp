#pragma once
/// The grammar of formula.hpp: text to a tree of symbols, without knowing any names.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.hpp"

namespace dtnn::compiler {

/// One symbol of an expression with its operands, by their indices in Formula::symbols.
struct FormulaSymbol {
    enum class Kind {
        integer,
        real,
        text,
        boolean,
        name,
        negate,      ///< one operand
        binary,      ///< two; `word` is the operator
        index,       ///< a list, and which of its values
        comparison,  ///< two; `word` is the operator
        choice,      ///< condition, then, else
        call,        ///< arguments; `word` is the function
    };
    Kind kind = Kind::integer;
    std::string word;  ///< of names, texts, operators and functions
    std::int64_t integer = 0;
    double real = 0;
    bool flag = false;
    std::vector<int> operands;
    std::size_t begin = 0, end = 0;         ///< bytes of the scalar's text that it covers
    std::size_t word_at = 0, word_end = 0;  ///< of its operator or function, for carets
};

struct Formula {
    std::vector<FormulaSymbol> symbols;  ///< operands before what reads them; the last is the root
};

/// A scalar's text in parts: literal text, and expressions.
struct FormulaText {
    struct Part {
        std::string text;                ///< when there is no formula
        std::optional<Formula> formula;  ///< of what stands between `${` and `}`
        std::size_t begin = 0, end = 0;  ///< bytes, `${` and `}` included
    };
    struct Mistake {
        Code code = Code::expression_syntax;
        std::size_t begin = 0, end = 0;
        std::string text, help;
    };
    std::vector<Part> parts;
    std::optional<Mistake> mistake;  ///< the first one; `parts` are not to be used then

    bool whole() const { return parts.size() == 1 && parts[0].formula; }
};

/// Never throws; a mistake is in the result.
FormulaText parse_formula_text(std::string_view text);

/// The functions of expressions.
const std::vector<std::string>& formula_functions();

}  // namespace dtnn::compiler
