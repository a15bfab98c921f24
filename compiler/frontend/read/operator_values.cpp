#include "compiler/frontend/read/operator_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/expression/expression.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/ops/expression/parse_infix.hpp"
#include "compiler/ops/initializers.hpp"
#include "plan/initializer.hpp"

namespace dtnn::compiler {
namespace {

std::nullopt_t wrong(const SourceNode& node, const Field& field, const std::string& what,
                     std::string_view wanted, Diagnostics& diagnostics, std::string help = "") {
    diagnostics.error(
        Code::wrong_type, node.span,
        fmt::format("`{}` of {} is {}; it must be {}", field.name, what, describe(node), wanted),
        std::move(help));
    return std::nullopt;
}

/// The place `at` bytes into a text that stands on one line of its file; the whole text elsewhere.
Span place_in(const SourceNode& node, std::size_t at) {
    const int quotes = node.quoted ? 2 : 0;
    const bool plain = std::all_of(node.text.begin(), node.text.end(),
                                   [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
    if (node.span.place.file.empty() || !plain || int(node.text.size()) + quotes != node.span.width)
        return node.span;
    Span span = node.span;
    span.place.column += quotes / 2 + int(std::min(at, node.text.size()));
    span.width = 1;
    return span;
}

}  // namespace

std::optional<std::string> read_initializer(const SourceNode& node, const Field& field,
                                            const std::string& what, Diagnostics& diagnostics) {
    const bool with_numbers = node.is_map() && node.entries.size() == 1;
    if (!node.is_scalar() && !with_numbers)
        return wrong(node, field, what, describe(FieldType::initializer), diagnostics,
                     "such as `he_uniform`, or `{normal: {deviation: 0.01}}`");
    const std::string& kind = with_numbers ? node.entries[0].key : node.text;
    const Span span = with_numbers ? node.entries[0].key_span : node.span;
    const FieldTable* table = initializer_table(kind);
    if (!table) {
        const std::vector<std::string_view> choices = initializer_names();
        const std::vector<std::string> names(choices.begin(), choices.end());
        diagnostics.error(
            Code::unknown_choice, span,
            fmt::format("`{}` of {} is `{}`, which is no initializer", field.name, what, kind),
            worth_suggesting(diagnostics, names.size())
                ? suggest_word(kind, names, "the initializers")
                : std::string());
        return std::nullopt;
    }
    const SourceNode none = make_map(span);
    const SourceNode* numbers = &none;
    if (with_numbers && !node.entries[0].value.is_null()) numbers = &node.entries[0].value;
    const std::string whose = fmt::format("the initializer {}", kind);
    if (!numbers->is_map()) {
        diagnostics.error(
            Code::wrong_type, numbers->span,
            fmt::format("{} is given {}; it takes a map of numbers", whose, describe(*numbers)),
            table->empty()
                ? fmt::format("write `{}` alone", kind)
                : fmt::format("such as `{{{}: {{{}: 0.1}}}}`", kind, table->back().name));
        return std::nullopt;
    }
    const FieldValues values = read_fields(*numbers, *table, {whose, span}, diagnostics);
    if (!values.sound) return std::nullopt;
    const bool is_interval =
        plan::find_initializer(kind)->values == plan::InitializerKind::Values::uniform;
    if (is_interval && values.real("low") >= values.real("high")) {
        const std::string given = values.spans.contains("high") ? "high" : "low";
        const auto place = values.spans.find(given);
        diagnostics.error(Code::out_of_range, place == values.spans.end() ? span : place->second,
                          fmt::format("{} has low {} and high {}; low must be less than high",
                                      whose, values.real("low"), values.real("high")));
        return std::nullopt;
    }
    return initializer_text(kind, values.values);
}

std::optional<std::string> read_expression(const SourceNode& node, const Field& field,
                                           const std::string& what, Diagnostics& diagnostics) {
    if (!node.is_scalar())
        return wrong(node, field, what, describe(FieldType::expression), diagnostics,
                     "such as `\"x * sigmoid(x)\"`");
    const std::vector<std::string> names(field.choices.begin(), field.choices.end());
    if (!read_formula(node, field.name, what, names, diagnostics)) return std::nullopt;
    return node.text;
}

std::optional<Expression> read_formula(const SourceNode& node, std::string_view field,
                                       const std::string& what,
                                       const std::vector<std::string>& names,
                                       Diagnostics& diagnostics) {
    try {
        return parse_infix(node.text, names);
    } catch (const ExpressionError& error) {
        diagnostics.error(Code::elementwise_syntax, place_in(node, error.column() - 1),
                          fmt::format("`{}` of {}: {}", field, what, error.reason()), error.help());
        return std::nullopt;
    }
}

}  // namespace dtnn::compiler
