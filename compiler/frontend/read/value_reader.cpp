#include "compiler/frontend/read/value_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/frontend/read/operator_values.hpp"
#include "compiler/frontend/read/other_forms.hpp"
#include "compiler/frontend/read/quantity.hpp"
#include "compiler/frontend/read/scalars.hpp"
#include "compiler/frontend/read/unknown_field.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/support/other_words.hpp"
#include "plan/rules/local_steps.hpp"

namespace dtnn::compiler {
namespace {

bool is_structural(FieldType type) {
    switch (type) {
        case FieldType::reference:
        case FieldType::variant:
        case FieldType::variant_list:
        case FieldType::record:
        case FieldType::record_list:
        case FieldType::layers:
        case FieldType::branches:
        case FieldType::text_list:
        case FieldType::mapping:
        case FieldType::any:
            return true;
        default:
            return false;
    }
}

/// More choices make no message readable.
constexpr std::size_t kMostListed = 24;

std::string wanted_type(const Field& field) {
    if (field.type == FieldType::quantity)
        return fmt::format("a number with its unit, such as {}", quantity_example(field.unit));
    if (field.choices.empty()) return std::string(describe(field.type));
    if (field.choices.size() > kMostListed)
        return fmt::format("one of {} names, which `dtnnc explain` lists", field.choices.size());
    std::string list;
    for (const std::string_view choice : field.choices)
        list += fmt::format("{}`{}`", list.empty() ? "" : ", ", choice);
    if (field.type == FieldType::integer_or_choice) return "an integer or one of " + list;
    return field.choices.size() > 1 ? "one of " + list : list;
}

/// Reads one field's value; all of its diagnostics begin alike.
class ValueReader {
  public:
    ValueReader(const Field& field, const std::string& what, Diagnostics& diagnostics)
        : field_(field), what_(what), diagnostics_(diagnostics) {}

    std::optional<AttributeValue> read(const SourceNode& node) {
        switch (field_.type) {
            case FieldType::boolean:
                return wrap(boolean(node));
            case FieldType::integer:
                return wrap(integer(node));
            case FieldType::real:
                return wrap(real(node));
            case FieldType::quantity:
                return quantity(node);
            case FieldType::text:
                return wrap(text(node));
            case FieldType::choice:
                return wrap(choice(node));
            case FieldType::integer_or_choice:
                return integer_or_choice(node);
            case FieldType::integer_pair:
                return wrap(pair(node));
            case FieldType::padding:
            case FieldType::step_padding:
                return padding(node);
            case FieldType::integer_list:
                return wrap(integers(node));
            case FieldType::real_list:
                return wrap(reals(node));
            case FieldType::initializer:
                return wrap(read_initializer(node, field_, what_, diagnostics_));
            case FieldType::expression:
                if (node.parted) return without_quotes(node);
                return wrap(read_expression(node, field_, what_, diagnostics_));
            default:
                return std::nullopt;
        }
    }

    std::optional<std::string> text(const SourceNode& node) {
        if (!node.is_scalar()) return wrong_type(node);
        // The files of a rank are named when it runs.
        const bool path = what_ == "dataset" && field_.name.ends_with("path");
        SourceNode named = node;
        if (path) named.text = plan::path_of_rank(node.text, 0);
        if (refuse_expression(named)) return std::nullopt;
        if (node.parted) return without_quotes(node);
        return node.text;
    }

    std::optional<std::string> choice(const SourceNode& node) {
        if (!node.is_scalar()) return wrong_type(node);
        if (refuse_expression(node)) return std::nullopt;
        for (const std::string_view choice : field_.choices)
            if (node.text == choice) return node.text;
        Diagnostic& error =
            diagnostics_.error(Code::unknown_choice, node.span,
                               fmt::format("`{}` of {} is {}; it must be {}", field_.name, what_,
                                           describe(node), wanted_type(field_)));
        if (!worth_suggesting(diagnostics_, field_.choices.size())) return std::nullopt;
        if (const std::string plain = without_printed_quotes(node.text); plain != node.text) {
            error.help = fmt::format("quotes are \" or ', or none: `{}`", plain);
            return std::nullopt;
        }
        if (field_.components) error.help = other_member_help(node.text, *field_.components);
        if (says_nothing(node.text)) error.help = "leave it out";
        if (!error.help.empty()) return std::nullopt;
        error.help = suggest_word(node.text, {field_.choices.begin(), field_.choices.end()}, "");
        if (error.help.empty() && !field_.components) error.help = about_field();
        // A call has its arguments in another form.
        if (field_.components && node.text.ends_with(')'))
            if (const std::string here = member_as_here(node, *field_.components);
                here.starts_with('{'))
                error.help += fmt::format("{}write `{}`", error.help.empty() ? "" : "; ", here);
        return std::nullopt;
    }

  private:
    template <class T>
    static std::optional<AttributeValue> wrap(std::optional<T> value) {
        if (!value) return std::nullopt;
        return AttributeValue(std::move(*value));
    }

    std::nullopt_t wrong_type(const SourceNode& node, const std::string& help = "") {
        diagnostics_.error(Code::wrong_type, node.span,
                           fmt::format("`{}` of {} is {}; it must be {}", field_.name, what_,
                                       describe(node), wanted_type(field_)),
                           help.empty() ? help_of_form(node) : help);
        return std::nullopt;
    }

    std::nullopt_t without_quotes(const SourceNode& node) {
        diagnostics_.error(
            Code::wrong_type, node.span,
            fmt::format(
                "`{}` of {} is {} without quotes; inside braces and brackets a comma ends a value",
                field_.name, what_, describe(node)),
            fmt::format("write \"{}\"", node.text));
        return std::nullopt;
    }

    std::string help_of_form(const SourceNode& node) const {
        const bool may_be_absent = field_.optional || field_.fallback || field_.found;
        if (node.is_scalar() && field_.name.ends_with(']') && node.text == "None")
            return "leave it out";
        if (field_.type == FieldType::real_list && node.is_scalar() && parse_real(node.text).value)
            return fmt::format("write [{}]", node.text);
        const OpDef* op = find_op(what_);
        if (node.is_scalar() && op && op->layer)
            if (std::string help = expression_help(node.text); !help.empty()) return help;
        if (node.is_null())
            return may_be_absent ? "write a value, or leave the field out" : "write a value";
        if (node.is_scalar()) return scalar_help(node, field_.type);
        std::string help = several_help(node, field_.type);
        return help.empty() ? about_field() : help;
    }

    std::string about_field() const {
        return field_.doc.empty() ? "" : fmt::format("`{}`: {}", field_.name, field_.doc);
    }

    /// Refuses an expression: where they may stand, they have been evaluated before.
    bool refuse_expression(const SourceNode& node) {
        if (!node.is_scalar() || node.text.find("${") == std::string::npos) return false;
        diagnostics_.error(Code::wrong_type, node.span,
                           fmt::format("`{}` of {} is an expression; expressions stand in the "
                                       "layers, the input and the defaults of models",
                                       field_.name, what_),
                           "write the value");
        return true;
    }

    template <class Number>
    bool in_range(const SourceNode& node, Number value) {
        const auto number = double(value);
        const bool low = field_.minimum && (field_.exclusive_minimum ? number <= *field_.minimum
                                                                     : number < *field_.minimum);
        const bool high = field_.maximum && (field_.exclusive_maximum ? number >= *field_.maximum
                                                                      : number > *field_.maximum);
        if (!low && !high) return true;
        Diagnostic& error =
            diagnostics_.error(Code::out_of_range, node.span,
                               fmt::format("`{}` of {} is {}; it must be {}", field_.name, what_,
                                           node.text, describe_range(field_)));
        const bool share = field_.unit.empty() && field_.minimum == 0.0 && field_.maximum == 1.0;
        constexpr double kLeastPercent = 5;
        if (share && number >= kLeastPercent && number <= 100)
            error.help = fmt::format("{} % are {}", number, number / 100);
        return false;
    }

    std::optional<bool> boolean(const SourceNode& node) {
        if (refuse_expression(node)) return std::nullopt;
        if (node.is_scalar() && !node.quoted)
            if (const auto value = parse_boolean(node.text)) return value;
        return wrong_type(node, node.is_scalar() ? boolean_help(node.text) : "");
    }

    std::optional<std::int64_t> integer(const SourceNode& node) {
        if (refuse_expression(node)) return std::nullopt;
        if (!node.is_scalar()) return wrong_type(node);
        const ParsedInteger parsed = parse_integer(node.text);
        if (node.quoted)
            return wrong_type(node, parsed.value ? fmt::format("write {} without quotes", node.text)
                                                 : std::string());
        if (parsed.overflow) {
            diagnostics_.error(Code::out_of_range, node.span,
                               fmt::format("`{}` of {} is {}, which does not fit 64 bits",
                                           field_.name, what_, describe(node)));
            return std::nullopt;
        }
        if (!parsed.value) return wrong_type(node, parsed.help);
        if (!in_range(node, *parsed.value)) return std::nullopt;
        return parsed.value;
    }

    std::optional<double> real(const SourceNode& node) {
        if (refuse_expression(node)) return std::nullopt;
        if (!node.is_scalar()) return wrong_type(node);
        const ParsedReal parsed = parse_real(node.text);
        if (node.quoted)
            return wrong_type(node, parsed.value ? fmt::format("write {} without quotes", node.text)
                                                 : std::string());
        if (parsed.overflow) {
            diagnostics_.error(Code::out_of_range, node.span,
                               fmt::format("`{}` of {} is {}, which does not fit a double",
                                           field_.name, what_, describe(node)));
            return std::nullopt;
        }
        const std::string_view number(node.text.data(),
                                      std::min(node.text.find('%'), node.text.size()));
        if (!parsed.value && field_.unit == "percent" && node.text.ends_with('%') &&
            parse_real(number).value)
            return wrong_type(node, fmt::format("write {}", number));
        if (!parsed.value) return wrong_type(node, parsed.help);
        if (!in_range(node, *parsed.value)) return std::nullopt;
        return parsed.value;
    }

    std::optional<AttributeValue> quantity(const SourceNode& node) {
        if (refuse_expression(node)) return std::nullopt;
        if (!node.is_scalar()) return wrong_type(node);
        ParsedQuantity parsed = parse_quantity(node.text, field_.unit);
        const bool bytes = field_.unit == "bytes";
        // Beyond 2^62 bytes sums of sizes would overflow.
        if (parsed.overflow || (bytes && parsed.value.value_or(0) > 4611686018427387904.0)) {
            diagnostics_.error(Code::out_of_range, node.span,
                               fmt::format("`{}` of {} is {}, which is too large", field_.name,
                                           what_, describe(node)));
            return std::nullopt;
        }
        if (!parsed.value) return wrong_type(node, parsed.help);
        if (bytes && *parsed.value > 0 && *parsed.value < kFewestPlainBytes &&
            parse_real(node.text).value)
            return wrong_type(
                node, fmt::format("write its unit, such as {}", quantity_example(field_.unit)));
        if (!in_range(node, bytes ? std::floor(*parsed.value) : *parsed.value)) return std::nullopt;
        if (bytes) return std::int64_t(std::floor(*parsed.value));
        return *parsed.value;
    }

    std::optional<AttributeValue> integer_or_choice(const SourceNode& node) {
        if (refuse_expression(node)) return std::nullopt;
        if (!node.is_scalar()) return wrong_type(node);
        for (const std::string_view choice : field_.choices)
            if (node.text == choice) return AttributeValue(node.text);
        const ParsedInteger parsed = parse_integer(node.text);
        if (parsed.value || parsed.overflow) return wrap(integer(node));
        std::string help = parsed.help;
        if (help.empty())
            help = suggest(node.text, {field_.choices.begin(), field_.choices.end()}, "");
        return wrong_type(node, help);
    }

    std::optional<std::vector<std::int64_t>> integers(const SourceNode& node) {
        return elements<std::int64_t>(node, FieldType::integer, &ValueReader::integer);
    }

    std::optional<std::vector<double>> reals(const SourceNode& node) {
        return elements<double>(node, FieldType::real, &ValueReader::real);
    }

    template <class T>
    std::optional<std::vector<T>> elements(
        const SourceNode& node, FieldType type,
        std::optional<T> (ValueReader::*read_one)(const SourceNode&)) {
        if (refuse_expression(node)) return std::nullopt;
        if (!node.is_list()) return wrong_type(node);
        std::vector<T> result;
        bool sound = true;
        for (const SourceNode& item : node.items) {
            // An item's message names what an item must be, not the whole field's type.
            Field element = field_;
            element.type = type;
            const std::string name = fmt::format("{}[{}]", field_.name, result.size());
            element.name = name;
            ValueReader reader(element, what_, diagnostics_);
            const auto value = (reader.*read_one)(item);
            sound = sound && value.has_value();
            result.push_back(value.value_or(T{}));
        }
        if (!sound) return std::nullopt;
        return result;
    }

    std::optional<std::vector<std::int64_t>> pair(const SourceNode& node) {
        if (node.is_scalar()) {
            const auto value = integer(node);
            if (!value) return std::nullopt;
            return std::vector<std::int64_t>{*value, *value};
        }
        if (!node.is_list() || node.items.size() != 2) return wrong_count(node, "2");
        return integers(node);
    }

    /// Of the four sides of an image, or of the two of a sequence.
    std::optional<AttributeValue> padding(const SourceNode& node) {
        const std::size_t sides = field_.type == FieldType::padding ? 4 : 2;
        if (node.is_scalar()) {
            const auto known = padding_words(field_.type);
            if (std::find(known.begin(), known.end(), node.text) != known.end()) return node.text;
            if (!parse_integer(node.text).value && node.text.find("${") == std::string::npos)
                return wrong_type(node, suggest_word(node.text, {known.begin(), known.end()}, ""));
            const auto value = integer(node);
            if (!value) return std::nullopt;
            return std::vector<std::int64_t>(sides, *value);
        }
        if (!node.is_list() || (node.items.size() != 2 && node.items.size() != sides))
            return wrong_count(node, sides == 2 ? "2" : "2 or 4");
        const auto v = integers(node);
        if (!v || v->size() == sides) return wrap(v);
        return std::vector<std::int64_t>{(*v)[0], (*v)[0], (*v)[1], (*v)[1]};
    }

    std::nullopt_t wrong_count(const SourceNode& node, const char* counts) {
        if (!node.is_list()) return wrong_type(node);
        diagnostics_.error(Code::wrong_type, node.span,
                           fmt::format("`{}` of {} is a list of {}; a list must have {} integers",
                                       field_.name, what_, node.items.size(), counts));
        return std::nullopt;
    }

    const Field& field_;
    const std::string& what_;
    Diagnostics& diagnostics_;
};

std::vector<std::string> names_of(const FieldTable& table) {
    std::vector<std::string> names;
    for (const Field& field : table)
        if (field.name != "kind" && field.name != "extends") names.emplace_back(field.name);
    return names;
}

}  // namespace

FieldValues read_fields(const SourceNode& map, const FieldTable& table, const FieldScope& scope,
                        Diagnostics& diagnostics) {
    FieldValues result;
    const int errors = diagnostics.error_count();
    std::set<std::string, std::less<>>& mistyped = result.mistyped;
    std::optional<FieldScope> whole;  // with all that can be said of fields that are not known
    for (const SourceEntry& entry : map.entries) {
        const Field* field = find_field(table, entry.key);
        if (!field) {
            const std::vector<std::string> names = names_of(table);
            if (!whole) whole = scope.with_more();
            const auto elsewhere = whole->elsewhere.find(entry.key);
            const bool compare = !diagnostics.was_said(Code::unknown_field, entry.key_span) &&
                                 worth_suggesting(diagnostics, names.size());
            std::optional<std::string> near;
            if (compare) near = did_you_mean(entry.key, names);
            // A mistyped field is one mistake, not a second one because the right name is missing.
            if (near) mistyped.insert(*near);
            if (!compare) mistyped.insert(names.begin(), names.end());
            diagnostics.error(Code::unknown_field, entry.key_span,
                              fmt::format("`{}` is not a field of {}", entry.key, scope.what),
                              compare ? help_of_unknown(entry.key, names, *whole)
                              : elsewhere != whole->elsewhere.end() ? elsewhere->second
                                                                    : std::string());
            continue;
        }
        result.nodes[entry.key] = &entry.value;
        result.spans[entry.key] = entry.value.span;
        if (is_structural(field->type)) continue;
        if (auto value = read_value(entry.value, *field, scope.what, diagnostics))
            result.values[entry.key] = std::move(*value);
    }

    std::string missing, help;
    for (const Field& field : table) {
        if (result.nodes.contains(std::string(field.name)) || scope.given.contains(field.name))
            continue;
        if (field.fallback) {
            if (!is_structural(field.type))
                result.values[std::string(field.name)] = *field.fallback;
        } else if (!field.optional && !field.found && !mistyped.contains(field.name)) {
            missing += fmt::format("{}`{}`", missing.empty() ? "" : " and no ", field.name);
            if (help.empty() && !field.doc.empty())
                help =
                    fmt::format("`{}`: {}{}", field.name, field.doc,
                                field.type == FieldType::choice ? ": " + wanted_type(field) : "");
        }
    }
    if (!missing.empty())
        diagnostics.error(Code::missing_field, scope.span,
                          fmt::format("{} has no {}; there is no default", scope.what, missing),
                          help);
    result.sound = diagnostics.error_count() == errors;
    return result;
}

FieldValues read_record(const SourceNode& node, const FieldTable& table, const FieldScope& scope,
                        Diagnostics& diagnostics) {
    if (node.is_map()) return read_fields(node, table, scope, diagnostics);
    Diagnostic& error = diagnostics.error(
        Code::wrong_type, node.span,
        fmt::format("`{}` is {}; it must be a map of fields", scope.what, describe(node)));
    error.help = record_help(node, table, scope.what);
    if (error.help.empty() && node.is_scalar()) error.help = help_by_remark(node.text);
    if (error.help.empty())
        error.help = fmt::format("its fields are {}", fmt::join(names_of(table), ", "));
    FieldValues none;
    none.sound = false;
    return none;
}

std::optional<AttributeValue> read_value(const SourceNode& node, const Field& field,
                                         const std::string& what, Diagnostics& diagnostics) {
    return ValueReader(field, what, diagnostics).read(node);
}

std::optional<std::vector<LocatedText>> read_texts(const SourceNode& node, const Field& field,
                                                   const std::string& what,
                                                   Diagnostics& diagnostics) {
    ValueReader reader(field, what, diagnostics);
    std::vector<LocatedText> result;
    bool sound = true;
    const auto add = [&](const SourceNode& item) {
        const auto text = field.choices.empty() ? reader.text(item) : reader.choice(item);
        sound = sound && text.has_value();
        if (text) result.push_back({*text, item.span});
    };
    if (node.is_list())
        for (const SourceNode& item : node.items)
            add(item);
    else
        add(node);
    if (!sound) return std::nullopt;
    return result;
}

const SourceNode* FieldValues::node(const std::string& name) const {
    const auto found = nodes.find(name);
    return found == nodes.end() ? nullptr : found->second;
}

std::int64_t FieldValues::integer(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? 0 : std::get<std::int64_t>(found->second);
}

double FieldValues::real(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? 0 : std::get<double>(found->second);
}

bool FieldValues::flag(const std::string& name) const {
    const auto found = values.find(name);
    return found != values.end() && std::get<bool>(found->second);
}

std::string FieldValues::text(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : std::get<std::string>(found->second);
}

Dims FieldValues::dims(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? Dims() : std::get<std::vector<std::int64_t>>(found->second);
}

}  // namespace dtnn::compiler
