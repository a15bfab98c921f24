#include "compiler/frontend/compose/parameter_types.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

#include "compiler/frontend/formula/formula.hpp"
#include "compiler/frontend/read/scalars.hpp"

namespace dtnn::compiler {
namespace {

enum class WrittenType { unknown, boolean, integer, real, text };

/// The type of a parameter's value by its look; unknown for expressions and what is no value.
WrittenType type_of(const SourceNode& node) {
    if (!node.is_scalar() || has_formula(node.text)) return WrittenType::unknown;
    if (node.quoted) return WrittenType::text;
    if (parse_boolean(node.text)) return WrittenType::boolean;
    if (parse_integer(node.text).value) return WrittenType::integer;
    if (parse_real(node.text).value) return WrittenType::real;
    return WrittenType::text;
}

std::string_view name_of(WrittenType type) {
    switch (type) {
        case WrittenType::boolean:
            return "true or false";
        case WrittenType::integer:
            return "an integer";
        case WrittenType::real:
            return "a number";
        default:
            return "text";
    }
}

}  // namespace

bool keeps_type(const SourceEntry& declared, const SourceNode& value, const Span& fallback,
                Diagnostics& diagnostics) {
    const WrittenType before = type_of(declared.value), after = type_of(value);
    const bool listed = value.is_list() || value.is_map() || value.is_null();
    if (before == WrittenType::unknown || before == after || is_integer_for_real(declared, value) ||
        (after == WrittenType::unknown && !listed))
        return true;
    Diagnostic& error =
        diagnostics.error(Code::wrong_type, value.span.place.file.empty() ? fallback : value.span,
                          fmt::format("the parameter `{}` is {}; it must be {}, as in the model",
                                      declared.key, describe(value), name_of(before)));
    if (!declared.value.span.place.file.empty())
        error.notes.push_back({declared.value.span, "it is declared here"});
    return false;
}

bool is_integer_for_real(const SourceEntry& declared, const SourceNode& value) {
    return type_of(declared.value) == WrittenType::real && type_of(value) == WrittenType::integer;
}

void check_parameters(const SourceNode& base, SourceNode& over, Diagnostics& diagnostics) {
    const SourceEntry* declared = base.find("parameters");
    SourceEntry* given = over.find("parameters");
    if (!declared || !given || !declared->value.is_map() || !given->value.is_map()) return;
    // The first of a name, as find() has it.
    std::unordered_map<std::string_view, const SourceEntry*> declared_names;
    for (const SourceEntry& entry : declared->value.entries)
        declared_names.try_emplace(entry.key, &entry);
    // A refused setting leaves the declared value, so that it is one mistake.
    std::erase_if(given->value.entries, [&](SourceEntry& entry) {
        const auto known = declared_names.find(entry.key);
        if (known == declared_names.end()) return false;
        if (!keeps_type(*known->second, entry.value, entry.key_span, diagnostics)) return true;
        if (is_integer_for_real(*known->second, entry.value)) entry.value.text += ".0";
        return false;
    });
}

}  // namespace dtnn::compiler
