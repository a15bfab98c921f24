#include "compiler/frontend/read/other_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/frontend/read/scalars.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/support/other_words.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::size_t kLongest = 40;

bool digits(std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\n";
    const std::size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// The value of `1/255`, `2**7`, `10^-3`, `32k`, `5e-4f`; nothing when it is none of these.
std::optional<double> computed(std::string_view text) {
    const auto apply = [&](std::string_view sign, auto operation) -> std::optional<double> {
        const std::size_t at = text.find(sign);
        if (at == std::string_view::npos) return std::nullopt;
        const auto a = parse_real(trimmed(text.substr(0, at))).value;
        const auto b = parse_real(trimmed(text.substr(at + sign.size()))).value;
        if (!a || !b) return std::nullopt;
        return operation(*a, *b);
    };
    const auto power = [](double a, double b) { return std::pow(a, b); };
    std::optional<double> value = apply("**", power);
    if (!value) value = apply("^", power);
    if (!value) value = apply("/", [](double a, double b) { return a / b; });
    if (!value) value = apply("*", [](double a, double b) { return a * b; });
    if (!value && text.size() > 1) {
        const auto number = parse_real(text.substr(0, text.size() - 1)).value;
        switch (number ? text.back() : ' ') {
            case 'k':
            case 'K':
                return *number * 1e3;
            case 'M':
                return *number * 1e6;
            case 'f':
            case ';':
                return number;
            default:
                break;
        }
    }
    if (value && !std::isfinite(*value)) return std::nullopt;
    return value;
}

/// [3, 3] of `3x3` and `3 x 3`; empty: the text is no such product.
std::string list_of_extents(std::string_view text) {
    std::string list;
    std::size_t parts = 0;
    for (std::size_t begin = 0; begin <= text.size(); ++parts) {
        const std::size_t end = std::min(text.find('x', begin), text.size());
        const std::string_view part = trimmed(text.substr(begin, end - begin));
        if (!digits(part)) return "";
        list += fmt::format("{}{}", list.empty() ? "" : ", ", part);
        begin = end + 1;
    }
    return parts > 1 ? fmt::format("[{}]", list) : "";
}

/// The numbers of "0.9, 0.999" and "(3, 3)" as a list: "[0.9, 0.999]"; empty: it has others.
std::string list_of_numbers(std::string_view text) {
    if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
    std::string list;
    std::size_t parts = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view part = trimmed(text.substr(begin, end - begin));
        if (!parse_real(part).value) return "";
        list += fmt::format("{}{}", list.empty() ? "" : ", ", part);
        ++parts;
        begin = end + 1;
    }
    return parts > 0 && text.find(',') != std::string_view::npos ? fmt::format("[{}]", list) : "";
}

/// One that is given by other words: its name, and what stands behind it.
struct Given {
    std::string name;
    std::vector<std::pair<std::string, SourceNode>> fields;
    bool whole = true;  ///< nothing stands there besides
};

/// `SGD(lr=0.1, momentum=0.9)`; without parentheses a name alone.
Given given_by_call(std::string_view text) {
    const std::size_t open = text.find('(');
    Given given{std::string(text.substr(0, open)), {}, true};
    if (open == std::string_view::npos) return given;
    std::string_view rest = text.substr(open + 1);
    if (rest.ends_with(')')) rest.remove_suffix(1);
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= rest.size(); ++i) {
        const char c = i < rest.size() ? rest[i] : ',';
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        if (c != ',' || (depth > 0 && i < rest.size())) continue;
        const std::string_view argument = trimmed(rest.substr(begin, i - begin));
        begin = i + 1;
        if (argument.empty()) continue;
        const std::size_t equals = argument.find('=');
        if (equals == std::string_view::npos) {
            given.whole = false;
            continue;
        }
        SourceNode value = make_scalar(std::string(trimmed(argument.substr(equals + 1))));
        if (value.text == "True") value.text = "true";
        if (value.text == "False") value.text = "false";
        const char quote = value.text.empty() ? ' ' : value.text[0];
        if ((quote == '\'' || quote == '"') && value.text.size() > 1 && value.text.back() == quote)
            value.text = value.text.substr(1, value.text.size() - 2);
        given.fields.emplace_back(trimmed(argument.substr(0, equals)), std::move(value));
    }
    // dict(type='SGD', lr=0.1)
    if (given.name == "dict" && !given.fields.empty() && given.fields[0].first == "type") {
        given.name = given.fields[0].second.text;
        given.fields.erase(given.fields.begin());
    }
    return given;
}

/// The key is one under which other configurations keep the fields of a type.
bool holds_fields(std::string_view key) {
    constexpr std::string_view kWords[] = {"config", "params",    "args",
                                           "kwargs", "init_args", "options"};
    return std::find(std::begin(kWords), std::end(kWords), key) != std::end(kWords);
}

/// The fields of the map but for the one that names it, and those of maps that hold them.
std::vector<std::pair<std::string, SourceNode>> fields_behind(const SourceNode& map,
                                                              const SourceEntry& name) {
    std::vector<std::pair<std::string, SourceNode>> fields;
    for (const SourceEntry& entry : map.entries) {
        if (&entry == &name) continue;
        if (!holds_fields(entry.key) || !entry.value.is_map())
            fields.emplace_back(entry.key, entry.value);
        else
            for (const SourceEntry& inner : entry.value.entries)
                fields.emplace_back(inner.key, inner.value);
    }
    return fields;
}

/// `name` or what it is called here, if `is_here` knows that; else empty.
template <class IsHere>
std::string our_name(std::string_view name, const IsHere& is_here) {
    if (is_here(name)) return std::string(name);
    for (const OtherWord* other : find_other_words(name))
        if (!other->ours.empty() && is_here(other->ours)) return std::string(other->ours);
    return "";
}

}  // namespace

bool says_nothing(std::string_view text) {
    return text == "None" || text == "none" || text == "null" || text == "nil";
}

std::string form_help(std::string_view text) {
    if (text.empty() || text.size() > kLongest) return "";
    if (says_nothing(text)) return "leave the field out";
    if (text[0] == '$' || text.find('{') != std::string_view::npos)
        return "write the value; in models an expression stands in \"${...}\", elsewhere "
               "`--set PATH=VALUE` gives one from outside";
    if (text.find(" //") != std::string_view::npos) return "a comment begins with `#`";
    if (text.find('#') != std::string_view::npos)
        return "a blank stands before the `#` of a comment";
    if (text[0] == '(') {
        const std::string list = list_of_numbers(text);
        return fmt::format("a list stands in brackets: {}", list.empty() ? "[3, 3]" : list);
    }
    if (const std::size_t comma = text.find(','); comma != std::string_view::npos) {
        const std::string_view whole = text.substr(0, comma);
        const std::string_view part = trimmed(text.substr(comma + 1));
        if (digits(whole) && digits(part))
            return fmt::format("write {}.{}, with a point", whole, part);
    }
    if (const std::string list = list_of_extents(text); !list.empty())
        return fmt::format("write {}", list);
    if (const auto value = computed(text)) return fmt::format("write {}", *value);
    // `10 epochs`
    const std::string_view first = text.substr(0, text.find(' '));
    if (first.size() < text.size() && parse_real(first).value)
        return fmt::format("write {}, without words behind it", first);
    return help_by_remark(text);
}

std::string scalar_help(const SourceNode& node, FieldType wanted) {
    const bool several = wanted == FieldType::integer_list || wanted == FieldType::integer_pair ||
                         wanted == FieldType::real_list || wanted == FieldType::padding ||
                         wanted == FieldType::step_padding;
    const std::string list = several ? list_of_numbers(node.text) : "";
    if (!list.empty()) return fmt::format("a list stands in brackets: {}", list);
    if (node.parted && wanted == FieldType::integer)
        return "write one; `--sweep PATH=1,2` compiles several";
    return form_help(node.text);
}

std::string several_help(const SourceNode& node, FieldType wanted) {
    if (node.is_list() && !node.items.empty() && node.items[0].is_scalar()) {
        const bool number = (wanted == FieldType::integer || wanted == FieldType::real) &&
                            parse_real(node.items[0].text).value;
        if (node.items.size() == 1)
            return fmt::format("write {}, without brackets", node.items[0].text);
        return number ? "write one; `--sweep PATH=1,2` compiles several" : "";
    }
    if (node.is_map() && node.entries.size() == 1)
        for (const ComponentSet* set : component_sets())
            if (set->find(node.entries[0].key))
                return fmt::format("`{}` is {}: it stands among the {}", node.entries[0].key,
                                   set->group, set->plural);
    if (!node.is_map() || wanted != FieldType::real_list) return "";
    std::string list;
    for (const SourceEntry& entry : node.entries) {
        if (!entry.value.is_scalar() || !parse_real(entry.value.text).value) return "";
        list += fmt::format("{}{}", list.empty() ? "" : ", ", entry.value.text);
    }
    return fmt::format("write them in their order: [{}]", list);
}

std::string expression_help(const std::string& text) {
    if (parse_real(text).value)
        return "in an expression `//` divides to a whole number, and `round`, `floor` and "
               "`ceil` give one";
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    if (text.empty() || !std::all_of(text.begin(), text.end(), letter) || text == "none") return "";
    return fmt::format("a parameter of the model is read as \"${{{}}}\"", text);
}

const SourceEntry* named_type(const SourceNode& map) {
    for (const std::string_view key :
         {"type", "class_name", "_target_", "class_path", "op_type", "layer_type", "layer", "name"})
        if (const SourceEntry* entry = map.find(key); entry && entry->value.is_scalar())
            return entry;
    return nullptr;
}

std::string member_as_here(const SourceNode& node, const ComponentSet& set) {
    Given given;
    if (node.is_scalar())
        given = given_by_call(node.text);
    else if (const SourceEntry* type = node.is_map() ? named_type(node) : nullptr)
        given = {type->value.text, fields_behind(node, *type), true};
    // Fields that are not indented under their name.
    else if (node.is_map() && !node.entries.empty() && node.entries[0].value.is_null())
        given = {node.entries[0].key, fields_behind(node, node.entries[0]), true};
    else
        return "";
    const std::string name =
        our_name(given.name, [&](std::string_view one) { return set.find(one) != nullptr; });
    if (name.empty()) return "";
    const FieldTable& table = *set.find(name)->fields;
    std::string fields;
    for (const auto& [key, value] : given.fields) {
        const std::string ours =
            our_name(key, [&](std::string_view one) { return find_field(table, one) != nullptr; });
        Diagnostics unheard;
        const auto read = ours.empty() ? std::nullopt
                                       : read_value(value, *find_field(table, ours), name, unheard);
        if (read)
            fields += fmt::format("{}{}: {}", fields.empty() ? "" : ", ", ours,
                                  value.is_scalar() ? value.text : to_json(*read));
        else
            given.whole = false;
    }
    if (!given.whole) fields += fields.empty() ? "..." : ", ...";
    return fields.empty() ? name : fmt::format("{{{}: {{{}}}}}", name, fields);
}

std::string other_member_help(const std::string& word, const ComponentSet& wanted) {
    for (const ComponentSet* set : component_sets())
        if (set != &wanted && set->find(word))
            return fmt::format("`{}` is {}: it stands among the {}", word, set->group, set->plural);
    for (const ComponentInfo& member : wanted.members)
        if (find_field(*member.fields, word))
            return fmt::format("it is a field of `{0}`: `{0}: {{{1}: ...}}`, as a path `{0}.{1}`",
                               member.name, word);
    return "";
}

std::string record_help(const SourceNode& node, const FieldTable& table, const std::string& what) {
    if (!node.is_scalar()) return "";
    for (const Field& field : table) {
        // Text is what any value may be taken for.
        if (field.type == FieldType::text) continue;
        Diagnostics unheard;
        if (read_value(node, field, what, unheard))
            return fmt::format("write `{}: {{{}: {}}}`", what.substr(0, what.find('[')), field.name,
                               node.text);
    }
    return "";
}

}  // namespace dtnn::compiler
