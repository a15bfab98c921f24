#pragma once
/// Field tables: one per spec kind and one per operator. Validation, did-you-mean, `dtnnc explain`,
/// the schema for editors and the reference pages all read them.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/field_member.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

/// The words of a closed set, as choices of a field.
template <NamedEnum Enum>
std::vector<std::string_view> words_of() {
    const auto names = names_of(Enum());
    return {names.begin(), names.end()};
}

enum class FieldType {
    boolean,
    integer,   ///< i64
    real,      ///< double; integers are accepted
    quantity,  ///< a number with a unit of what `unit` says (frontend/quantity.hpp); stored in
               ///< `unit`, bytes as an integer, others as a real
    text,
    choice,             ///< text, one of `choices`
    integer_or_choice,  ///< an integer, or one of `choices`; stored as it is written
    integer_pair,       ///< one integer or [vertical, horizontal]; stored as two integers
    padding,  ///< valid, same, an integer, [vertical, horizontal] or [top, bottom, left, right];
              ///< stored as text "valid"/"same", or as four integers
    step_padding,  ///< valid, same, causal, an integer or [before, behind]; stored as text, or as
                   ///< two integers
    integer_list,
    real_list,
    text_list,
    initializer,   ///< a name, or one name with its numbers; stored as one text, "zeros" or
                   ///< "normal: {mean: 0, deviation: 0.01}" (ops/initializers.hpp)
    expression,    ///< arithmetic over x, or x0, x1, ...; stored as the text (ops/expression)
    reference,     ///< a spec of another kind: a name, a path, or the spec itself inline
    variant,       ///< one of `components`: a name, or one name with its fields ("adam" or "adam:
                   ///< {...}"); `choices` are the names
    variant_list,  ///< a list of these, or one
    record,        ///< a map of `fields`
    record_list,   ///< a list of these
    layers,        ///< a list of layers
    branches,      ///< a list of lists of layers
    mapping,       ///< a map whose keys are the user's own names
    any,           ///< a value whose type another field names
};

/// What a padding may be beside numbers: the words of an image's, or of a sequence's.
std::vector<std::string_view> padding_words(FieldType type);

/// A closed set of names, each with fields of its own: compiler/frontend/tables/components.hpp.
struct ComponentSet;

/// What another value of a field means for what is trained. A setting's row cannot be written
/// without it.
struct FieldChange {
    constexpr FieldChange(plan::Meaning one, std::string_view why) : meaning(one), reason(why) {}

    plan::Meaning meaning;
    std::string_view reason;  ///< a clause; empty of layers' fields
};

constexpr FieldChange mathematics(std::string_view reason) {
    return {plan::Meaning::mathematics, reason};
}
constexpr FieldChange performance(std::string_view reason) {
    return {plan::Meaning::performance, reason};
}
constexpr FieldChange only_names(std::string_view reason) {
    return {plan::Meaning::names, reason};
}
/// Of what names files.
constexpr FieldChange unread(std::string_view reason) {
    return {plan::Meaning::unread, reason};
}
/// Of a layer's fields, which plan/diff/layer_meanings.cpp has.
inline constexpr FieldChange kOfLayer = mathematics("");

struct Field {
    std::string_view name;
    FieldType type;
    std::optional<AttributeValue> fallback =
        {};  ///< the default; none and not `optional`: must be given
    std::string_view doc = {};
    FieldChange change;
    std::optional<double> minimum =
        {};  ///< inclusive, for numbers (each element of pairs and lists)
    std::optional<double> maximum = {};          ///< inclusive
    std::vector<std::string_view> choices = {};  ///< of an expression: the names of its inputs
    std::string_view unit = {};                  ///< "", "samples", "threads"
    bool optional = false;                       ///< may be absent without a default
    bool found = false;  ///< may be absent where a dataset's files are there to be looked at
    bool exclusive_minimum = false;
    bool exclusive_maximum = false;
    const ComponentSet* components = nullptr;    ///< of variant and variant_list
    const std::vector<Field>* fields = nullptr;  ///< of record and record_list
    FieldMember member = {};                     ///< of the spec, where the setting is one value
    /// Outside which a number is allowed, and a slip more often than not: a lint says so.
    std::optional<double> usual_least = {};
    std::optional<double> usual_most = {};
};

using FieldTable = std::vector<Field>;

const Field* find_field(const FieldTable& table, std::string_view name);

/// What `type` of a block's parameter may be. Losses and operators by formula take the first two,
/// which are plain numbers.
struct ParameterType {
    std::string_view name;
    FieldType type;
    bool is_number = false;  ///< it may have a least and a largest value
};
std::span<const ParameterType> parameter_types();

}  // namespace dtnn::compiler
