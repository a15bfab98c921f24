#pragma once
/// The `${...}` of specs: arithmetic over the names in reach, and nothing else. No loops, no
/// assignment, no calls but `min`, `max`, `round`, `floor` and `ceil`, so that every expression
/// ends after as many steps as it has symbols.
///
///     choice     = sum-or-comparison [ "if" choice "else" choice ]
///     comparison = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
///     sum        = product { ("+" | "-") product }
///     product    = unary { ("*" | "/" | "//" | "%") unary }
///     unary      = "-" unary | power
///     power      = indexed [ "**" unary ]
///     indexed    = primary { "[" choice "]" }
///     primary    = integer | real | "'" text "'" | "true" | "false" | name
///                | function "(" choice { "," choice } ")" | "(" choice ")"
///
/// Integers have 64 bits and never wrap; an integer with a real gives a real. `/` gives a real;
/// `//` and `%` round towards minus infinity, as in Python; `**` of integers gives an integer where
/// the exponent is not negative. The values of a list are counted from 0, and from its end by -1,
/// -2 and so on. `round` takes halves away from zero; `round`, `floor` and `ceil` give integers. Of
/// `a if c else b` only the chosen side is evaluated.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

/// A value that depends on something that a diagnostic has been made about: it spreads through
/// every operation without another one.
struct Unknown {
    bool operator==(const Unknown&) const = default;
};

/// An initializer with its numbers, in the canonical form of ops/initializers.hpp; one without is
/// a text.
struct NumberedInitializer {
    std::string text;
    bool operator==(const NumberedInitializer&) const = default;
};

using FormulaValue = std::variant<Unknown, bool, std::int64_t, double, std::string,
                                  std::vector<std::int64_t>, NumberedInitializer>;

/// The names in reach of an expression. Names have letters, digits, `_` and dots: "in.channels".
class Names {
  public:
    virtual ~Names() = default;
    virtual std::optional<FormulaValue> find(std::string_view name) const = 0;
    virtual std::vector<std::string> all() const = 0;  ///< for suggestions

  protected:
    Names() = default;
    Names(const Names&) = default;
    Names& operator=(const Names&) = default;
};

inline constexpr std::size_t kMaximumFormulaBytes = 1000;
inline constexpr int kMaximumFormulaDepth = 64;

/// Whether the text has a `${`, so that it must be evaluated.
bool has_formula(std::string_view text);
/// Whether the text is one `${...}` and nothing else, so that its value keeps its type.
bool is_whole_formula(std::string_view text);

/// The value of a scalar: of a whole `${...}` with its type, else the text with its parts (integers
/// and texts) filled in; a scalar without `${` is its own text. Nothing after a diagnostic, which
/// points into the scalar where it is on one line and without escapes.
std::optional<FormulaValue> evaluate_value(const SourceNode& scalar, const Names& names,
                                           Diagnostics& diagnostics);

/// The same as a node at the scalar's place, to be read like a written one: numbers and booleans
/// plain, texts quoted, integer lists as lists of plain scalars, initializers with numbers as maps.
/// A scalar without `${` is returned as it is.
using Evaluated = std::variant<Unknown, SourceNode>;
std::optional<Evaluated> evaluate(const SourceNode& scalar, const Names& names,
                                  Diagnostics& diagnostics);

/// Reports what is wrong with the grammar of a scalar's expressions; for what is never evaluated.
bool check_syntax(const SourceNode& scalar, Diagnostics& diagnostics);

/// The names that the expressions of the text read, each once, sorted; of ill-formed ones none.
std::vector<std::string> names_read(std::string_view text);

/// As a node of a source tree; `Unknown` is empty.
SourceNode to_node(const FormulaValue& value, Span span);

/// "64", "0.5", "true", "the text `relu`", "the list [3, 3]", "unknown".
std::string describe(const FormulaValue& value);

}  // namespace dtnn::compiler
