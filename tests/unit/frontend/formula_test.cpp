// The `${...}` of specs: values, types, places of what is wrong, and the limits.

#include "compiler/frontend/formula/formula.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <random>

#include "compiler/frontend/yaml/yaml_reader.hpp"

namespace formula_test {

using namespace dtnn::compiler;

namespace {

class Table : public Names {
  public:
    explicit Table(std::map<std::string, FormulaValue, std::less<>> values)
        : values_(std::move(values)) {}
    std::optional<FormulaValue> find(std::string_view name) const override {
        const auto found = values_.find(name);
        if (found == values_.end()) return std::nullopt;
        return found->second;
    }
    std::vector<std::string> all() const override {
        std::vector<std::string> names;
        for (const auto& [name, value] : values_)
            names.push_back(name);
        return names;
    }

  private:
    std::map<std::string, FormulaValue, std::less<>> values_;
};

const Table& table() {
    static const Table names({{"width", std::int64_t{64}},
                              {"groups", std::int64_t{0}},
                              {"scale", 1.5},
                              {"act", std::string("relu")},
                              {"deep", true},
                              {"kernel", std::vector<std::int64_t>{3, 5}},
                              {"big", INT64_MAX},
                              {"least", INT64_MIN},
                              {"lost", Unknown{}},
                              {"in.channels", std::int64_t{32}},
                              {"i", std::int64_t{2}}});
    return names;
}

SourceNode scalar(const std::string& text) {
    return make_scalar(text);
}

/// The value as text with its type: "i64 64", "real 2.0", ...; the diagnostics when there are any.
std::string shown(const std::string& text) {
    Diagnostics diagnostics;
    const auto value = evaluate_value(scalar(text), table(), diagnostics);
    if (!value) {
        REQUIRE_FALSE(diagnostics.all().empty());
        std::string result;
        for (const Diagnostic& one : diagnostics.all())
            result += fmt::format("{}{}: {}{}", result.empty() ? "" : "; ", info(one.code).name,
                                  one.text, one.help.empty() ? "" : " (" + one.help + ")");
        return result;
    }
    CHECK(diagnostics.all().empty());
    constexpr const char* kTypes[] = {"", "boolean ", "integer ", "real ", "", ""};
    return kTypes[value->index()] + describe(*value);
}

/// The value of an expression, without its `${}`.
std::string of(const std::string& text) {
    return shown("${" + text + "}");
}

/// The place at which the one diagnostic of a YAML value points: "column+width".
std::string pointed(const std::string& yaml) {
    Diagnostics diagnostics;
    auto tree = read_yaml("f", yaml, diagnostics);
    REQUIRE(tree);
    REQUIRE_FALSE(evaluate(tree->entries[0].value, table(), diagnostics));
    REQUIRE_EQ(diagnostics.all().size(), 1);
    const Span& span = diagnostics.all()[0].span;
    return fmt::format("{}:{}+{}", span.place.line, span.place.column, span.width);
}

}  // namespace

TEST_CASE("arithmetic binds and rounds as it is written down") {
    CHECK_EQ(of("1 + 2 * 3"), "integer 7");
    CHECK_EQ(of("(1 + 2) * 3"), "integer 9");
    CHECK_EQ(of("10 - 4 - 3"), "integer 3");
    CHECK_EQ(of("2 * 7 // 4"), "integer 3");
    CHECK_EQ(of("7 / 2"), "real 3.5");
    CHECK_EQ(of("8 / 2"), "real 4.0");
    CHECK_EQ(of("7 // 2"), "integer 3");
    CHECK_EQ(of("-7 // 2"), "integer -4");
    CHECK_EQ(of("7 // -2"), "integer -4");
    CHECK_EQ(of("-7 % 3"), "integer 2");
    CHECK_EQ(of("7 % -3"), "integer -2");
    CHECK_EQ(of("6 % 3"), "integer 0");
    CHECK_EQ(of("7.5 // 2"), "real 3.0");
    CHECK_EQ(of("-7.5 % 2"), "real 0.5");
    CHECK_EQ(of("--3"), "integer 3");
    // A power takes its base before a sign does, and its exponent from the right.
    CHECK_EQ(of("2 ** i"), "integer 4");
    CHECK_EQ(of("-2 ** 2"), "integer -4");
    CHECK_EQ(of("(-2) ** 3"), "integer -8");
    CHECK_EQ(of("2 ** 3 ** 2"), "integer 512");
    CHECK_EQ(of("3 * 2 ** 3"), "integer 24");
    CHECK_EQ(of("2 ** -1"), "real 0.5");
    CHECK_EQ(of("4 ** 0.5"), "real 2.0");
    CHECK_EQ(of("0 ** 0"), "integer 1");
    CHECK_EQ(of("(-1) ** big"), "integer -1");
    CHECK_EQ(of("2 ** 62"), "integer 4611686018427387904");
    CHECK_EQ(of("2 ** 63"), "number_overflow: `2 ** 63` does not fit 64 bits");
    CHECK_EQ(of("2 ** big"),
             "number_overflow: `2 ** big` = 2 ** 9223372036854775807 does not fit 64 bits");
    CHECK_EQ(of("(-2) ** 0.5"), "number_overflow: `(-2) ** 0.5` = -2 ** 0.5 is no finite number");
    CHECK_EQ(of("0 ** -1"), "number_overflow: `0 ** -1` is no finite number");
    CHECK_EQ(of("kernel[0]"), "integer 3");
    CHECK_EQ(of("kernel[i - 1] * 2"), "integer 10");
    CHECK_EQ(of("kernel[-2]"), "integer 3");
    CHECK_EQ(of("kernel[lost]"), "unknown");
    CHECK_EQ(of("kernel[i]"),
             "expression_type: `kernel[i]` is value 2 of [3, 5], which has 2 values (the first is "
             "0, the last -1)");
    CHECK_EQ(of("width[0]"),
             "expression_type: `[]` is given `width`, the integer 64; it takes a list");
    CHECK_EQ(of("kernel[1.5]"),
             "expression_type: `[]` is given the real 1.5; it takes an integer as index");
    CHECK_EQ(of("2 - -3"), "integer 5");
    CHECK_EQ(of("1e-3 * 2"), "real 0.002");
    CHECK_EQ(of(".5 + 1"), "real 1.5");
    CHECK_EQ(of("1e300 * 1e-300"), "real 1.0");
    CHECK_EQ(of("1e-999"), "real 0.0");
    CHECK_EQ(of("width * scale"), "real 96.0");
    CHECK_EQ(of("in.channels * 2"), "integer 64");
    CHECK_EQ(of("  width+1 "), "integer 65");
}

TEST_CASE("functions, comparisons, choices") {
    CHECK_EQ(of("min(3, 1, 2)"), "integer 1");
    CHECK_EQ(of("max(3, 1.0, 2)"), "real 3.0");
    CHECK_EQ(of("max(width * 2, in.channels)"), "integer 128");
    CHECK_EQ(of("round(2.5)"), "integer 3");
    CHECK_EQ(of("round(-2.5)"), "integer -3");
    CHECK_EQ(of("floor(-0.5)"), "integer -1");
    CHECK_EQ(of("ceil(1.2 * 10)"), "integer 12");
    CHECK_EQ(of("floor(7)"), "integer 7");
    // MobileNet's divisible channels.
    CHECK_EQ(of("max(8, floor(width * 0.35 + 4) // 8 * 8)"), "integer 24");
    CHECK_EQ(of("1 < 2"), "boolean true");
    CHECK_EQ(of("2 <= 1"), "boolean false");
    CHECK_EQ(of("2 == 2.0"), "boolean true");
    CHECK_EQ(of("act == 'relu'"), "boolean true");
    CHECK_EQ(of("act != 'relu'"), "boolean false");
    CHECK_EQ(of("deep == true"), "boolean true");
    CHECK_EQ(of("1 + 1 > 1"), "boolean true");
    CHECK_EQ(of("'a' if width == 64 else 'b'"), "the text `a`");
    CHECK_EQ(of("1 if false else 2 if false else 3"), "integer 3");
    CHECK_EQ(of("(1 if deep else 2) + 1"), "integer 2");
    // The other side is not evaluated.
    CHECK_EQ(of("0 if groups == 0 else width // groups"), "integer 0");
}

TEST_CASE("a whole expression keeps its type, a text takes integers and texts") {
    CHECK_EQ(of("kernel"), "the list [3, 5]");
    CHECK_EQ(of("kernel if deep else 3"), "the list [3, 5]");
    CHECK_EQ(of("deep"), "boolean true");
    CHECK_EQ(of("'}'"), "the text `}`");
    CHECK_EQ(shown("stage${i}"), "the text `stage2`");
    CHECK_EQ(shown("${act}_${i + 1}_x"), "the text `relu_3_x`");
    CHECK_EQ(shown("${i}${i}"), "the text `22`");
    CHECK_EQ(shown("no expression, $ or {"), "the text `no expression, $ or {`");
    CHECK_EQ(
        shown("x${scale}"),
        "expression_type: the real 1.5 inside a text; a text takes integers and texts (a value "
        "that is one `${...}` as a whole keeps its type)");
    CHECK(is_whole_formula("${i}"));
    CHECK(is_whole_formula("${'}'}"));
    CHECK_FALSE(is_whole_formula("${i} "));
    CHECK_FALSE(is_whole_formula("${i}${i}"));
    CHECK_FALSE(is_whole_formula("i"));
    CHECK_FALSE(is_whole_formula("${"));
}

TEST_CASE("results are read like written values") {
    Diagnostics diagnostics;
    const auto node = [&](const char* text) {
        return std::get<SourceNode>(*evaluate(scalar(text), table(), diagnostics));
    };
    CHECK_EQ(node("${width * 2}").text, "128");
    CHECK_FALSE(node("${width * 2}").quoted);
    // A real never becomes an integer by chance.
    CHECK_EQ(node("${8 / 2}").text, "4.0");
    CHECK_EQ(node("${0.1 + 0.2}").text, "0.30000000000000004");
    CHECK_EQ(node("${1e22 * 1}").text, "1e+22");
    CHECK_EQ(node("${deep}").text, "true");
    CHECK_FALSE(node("${deep}").quoted);
    CHECK_EQ(node("${act}").text, "relu");
    CHECK(node("${act}").quoted);
    CHECK(node("${'3'}").quoted);
    CHECK(node("a${i}").quoted);
    const SourceNode list = node("${kernel}");
    REQUIRE(list.is_list());
    CHECK_EQ(list.items[1].text, "5");
    SourceNode plain = make_scalar("12");
    plain.quoted = false;
    CHECK_EQ(std::get<SourceNode>(*evaluate(plain, table(), diagnostics)).text, "12");
    CHECK_FALSE(std::get<SourceNode>(*evaluate(plain, table(), diagnostics)).quoted);
    CHECK(diagnostics.all().empty());
}

TEST_CASE("what is unknown spreads in silence") {
    for (const char* text : {"lost", "lost + 1", "-lost", "lost == 'a'", "1 if lost else 2",
                             "min(1, lost)", "round(lost)", "lost // 0", "'a' if lost > 1 else 2"})
        CHECK_EQ(of(text), "unknown");
    CHECK_EQ(shown("a${lost}"), "unknown");
    // But a mistake beside it is still one.
    CHECK_EQ(of("lost + nome").substr(0, 12), "unknown_name");
    Diagnostics diagnostics;
    const auto result = evaluate(scalar("${lost}"), table(), diagnostics);
    CHECK(std::holds_alternative<Unknown>(*result));
}

TEST_CASE("arithmetic that has no result shows its numbers") {
    CHECK_EQ(of("width // groups"),
             "division_by_zero: `width // groups` = 64 // 0, a division by zero");
    CHECK_EQ(of("1 / (groups * 2)"),
             "division_by_zero: `1 / (groups * 2)` = 1 / 0, a division by zero");
    CHECK_EQ(of("5 % 0"), "division_by_zero: `5 % 0`, a division by zero");
    CHECK_EQ(of("big + 1"),
             "number_overflow: `big + 1` = 9223372036854775807 + 1 does not fit 64 bits");
    CHECK_EQ(of("big * 2").substr(0, 15), "number_overflow");
    CHECK_EQ(of("least - 1").substr(0, 15), "number_overflow");
    CHECK_EQ(of("-least"),
             "number_overflow: `-least` = -(-9223372036854775808) does not fit 64 bits");
    CHECK_EQ(of("least // -1").substr(0, 15), "number_overflow");
    CHECK_EQ(of("least % -1"), "integer 0");
    CHECK_EQ(of("9223372036854775807"), "integer 9223372036854775807");
    CHECK_EQ(of("9223372036854775808"),
             "number_overflow: 9223372036854775808 does not fit 64 bits");
    CHECK_EQ(of("1e999"), "number_overflow: 1e999 does not fit a double");
    CHECK_EQ(of("1e300 * 1e300"),
             "number_overflow: `1e300 * 1e300` = 1e+300 * 1e+300 is no finite number");
    CHECK_EQ(of("round(1e300)"),
             "number_overflow: `round(1e300)` = round(1e+300) does not fit 64 bits");
    CHECK_EQ(of("floor(9223372036854775807.0)").substr(0, 15), "number_overflow");
}

TEST_CASE("wrong types name operation, operand and what it takes") {
    CHECK_EQ(of("act * 2"),
             "expression_type: `*` is given `act`, the text `relu`; it takes numbers");
    CHECK_EQ(of("2 * 'a'"), "expression_type: `*` is given the text `a`; it takes numbers");
    CHECK_EQ(of("deep + 1"),
             "expression_type: `+` is given `deep`, the boolean true; it takes numbers");
    CHECK_EQ(of("-act").substr(0, 15), "expression_type");
    CHECK_EQ(of("kernel * 2").substr(0, 15), "expression_type");
    CHECK_EQ(
        of("kernel == 3"),
        "expression_type: `==` is given `kernel`, the list [3, 5]; it takes numbers, texts and "
        "booleans");
    CHECK_EQ(of("act < 'b'").substr(0, 15), "expression_type");
    CHECK_EQ(
        of("act == 3"),
        "expression_type: `act == 3` compares the text `relu` with the integer 3; it takes two "
        "values of one type");
    CHECK_EQ(of("1 if width else 2"),
             "expression_type: `if` is given `width`, the integer 64; it takes true or false, as "
             "comparisons give");
    CHECK_EQ(of("max(1, act)").substr(0, 15), "expression_type");
    CHECK_EQ(of("round(deep)").substr(0, 15), "expression_type");
}

TEST_CASE("unknown names get a suggestion when one is near") {
    CHECK_EQ(
        of("widht * 2"),
        "unknown_name: `widht` is no name in reach of this expression (did you mean `width`?)");
    CHECK_EQ(of("in.chanels").find("did you mean `in.channels`?") != std::string::npos, true);
    CHECK_EQ(of("channels").find("did you mean `in.channels`?") != std::string::npos, true);
    CHECK_EQ(of("zzz").find("did you mean"), std::string::npos);
    CHECK_EQ(of("mim(1, 2)"),
             "expression_syntax: `mim` is no function of expressions (did you mean `min`?)");
    CHECK_EQ(of("sqrt(2)").find("the functions are min, max") != std::string::npos, true);
    // Both of them are reported.
    CHECK_EQ(of("foo + bar").find("`bar`") != std::string::npos, true);
}

TEST_CASE("what is no expression is said to be none, with the way to write it") {
    const std::pair<const char*, const char*> cases[] = {
        {"", "an empty expression"},
        {" ", "an empty expression"},
        {"1 +", "the expression ends where a value is wanted"},
        {"* 2", "`*` stands where a value is wanted"},
        {"(1", "the expression ends where `)` is wanted"},
        {"1)", "`)` stands where an operator or the end is wanted"},
        {"1 2", "`2` stands where an operator or the end is wanted"},
        {"a b", "`b` stands where an operator is wanted"},
        {"width and deep", "there is no and"},
        {"not deep", "`deep` stands where an operator is wanted"},
        {"a && b", "there is no and"},
        {"a || b", "there is no or"},
        {"!deep", "there is no not"},
        {"a = 3", "write == to compare"},
        {"a ? 1 : 2", "write `a if c else b`"},
        {"2 ^ 3", "write ** for powers"},
        {"2 **", "the expression ends where a value is wanted"},
        {"kernel[1", "the expression ends where `]` is wanted"},
        {"kernel[]", "`]` stands where a value is wanted"},
        {"kernel]", "`]` stands where an operator or the end is wanted"},
        {"\"a\"", "write texts as 'text'"},
        {"'a", "a text that is never closed"},
        {"$width", "without `$`"},
        {"1 if deep", "the expression ends where `else` is wanted"},
        {"1 < 2 < 3", "a comparison of a comparison"},
        {"012", "leading zeros"},
        {"3x", "`3x` is neither a number nor a name"},
        {"1.2.3", "neither a number nor a name"},
        {"in.", "`in.` is no name"},
        {"a..b", "`a..b` is no name"},
        {"min(1)", "`min` is given 1 value; it takes two or more"},
        {"round(1, 2)", "`round` is given 2 values; it takes one"},
        {"min(1,)", "`)` stands where a value is wanted"},
        {"min 1", "`1` stands where an operator"},
        {"(1)(2)", "`(` stands where an operator or the end is wanted"},
        {"if", "`if` stands where a value is wanted"},
        {"1;2", "`;` is no sign of expressions"},
        {"größe", "`ö` is no sign of expressions"},
        {"[1, 2]", "`[` stands where a value is wanted"},
    };
    for (const auto& one : cases) {
        const auto& text = one.first;
        const auto& wanted = one.second;
        CAPTURE(text);
        const std::string said = of(text);
        CHECK_EQ(said.substr(0, 18), "expression_syntax:");
        CHECK_MESSAGE(said.find(wanted) != std::string::npos, said);
    }
    CHECK_EQ(shown("${width"), "expression_syntax: `${` is never closed (close it with })");
    CHECK_EQ(shown("a ${ b").find("never closed") != std::string::npos, true);
}

TEST_CASE("length and depth are bounded") {
    const auto repeated = [](const char* text, int times) {
        std::string result;
        for (int i = 0; i < times; ++i)
            result += text;
        return result;
    };
    CHECK_EQ(of("1" + repeated("+1", 490)), "integer 491");
    CHECK_NE(of("1" + repeated("+1", 600)).find("longer than 1000 bytes"), std::string::npos);
    CHECK_EQ(of(repeated("(", 60) + "1" + repeated(")", 60)), "integer 1");
    for (const char* text : {"(", "-", "min(1,", "1 if true else "})
        CHECK_NE(of(repeated(text, 66) + "1").find("nested more than 64 deep"), std::string::npos);
    CHECK_EQ(of(repeated("1 if false else ", 60) + "2"), "integer 2");
}

TEST_CASE("places point into the scalar where they can") {
    CHECK_EQ(pointed("a: ${widht * 2}"), "1:6+5");
    CHECK_EQ(pointed("a: \"${widht * 2}\""), "1:7+5");
    CHECK_EQ(pointed("a: '${1 + act}'"), "1:11+3");
    CHECK_EQ(pointed("a: x${width // groups}y"), "1:7+15");
    CHECK_EQ(pointed("a: \"größe${nome}\""), "1:12+4");
    CHECK_EQ(pointed("a: \"${}\""), "1:5+3");
    CHECK_EQ(pointed("a: ${1 + }"), "1:10+1");
    CHECK_EQ(pointed("a:\n  ${width // groups}"), "2:5+15");
    // Escapes and several lines hide the columns: the whole scalar.
    CHECK_EQ(pointed("a: \"\\x41${nome}\""), "1:4+13");
}

TEST_CASE("the names that a text reads") {
    CHECK_EQ(names_read("${i + width * i} ${in.channels if act == 'x' else min(1, i)}"),
             std::vector<std::string>{"act", "i", "in.channels", "width"});
    CHECK(names_read("i").empty());
    CHECK(names_read("${i +}").empty());
}

TEST_CASE("random expressions agree with arithmetic done directly") {
    std::mt19937_64 random(7);
    const auto number = [&] { return std::int64_t(random() % 41) - 20; };
    for (int round = 0; round < 2000; ++round) {
        const std::int64_t a = number(), b = number(), c = number();
        const auto literal = [](std::int64_t value) { return fmt::format("({})", value); };
        const std::string text = fmt::format("{} * {} - {} // 7 + {} % 5", literal(a), literal(b),
                                             literal(c), literal(a));
        const auto floor_div = [](std::int64_t x, std::int64_t y) {
            return std::int64_t(std::floor(double(x) / double(y)));
        };
        const std::int64_t expected = a * b - floor_div(c, 7) + (a - floor_div(a, 5) * 5);
        CHECK_EQ(of(text), fmt::format("integer {}", expected));
    }
}

TEST_CASE("any bytes are an expression or a mistake, never more") {
    std::mt19937 random(11);
    const std::string alphabet = "${}()'\"+-*/%<>=!.,1290aeifls_ \n\xc3\xb6";
    for (int round = 0; round < 20000; ++round) {
        std::string text = "${";
        for (unsigned length = random() % 24; length > 0; --length)
            text += alphabet[random() % alphabet.size()];
        text += "}";
        Diagnostics diagnostics;
        const auto value = evaluate(scalar(text), table(), diagnostics);
        CHECK_EQ(value.has_value(), diagnostics.all().empty());
    }
}

}  // namespace formula_test
