#pragma once
/// Source nodes to typed values, by the field tables: unknown, missing, mistyped and out-of-range
/// fields are diagnostics. Fields of structural types (reference, variant, record and lists of
/// them, layers, branches, text_list, mapping, any) are handed on as nodes.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/yaml/source_tree.hpp"
#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

struct FieldScope {
    std::string what;  ///< whose fields these are: "conv2d", "training"
    Span span;         ///< where a missing field is reported
    /// The places of fields that people look for here: "learning_rate" -> help.
    std::map<std::string, std::string> elsewhere = {};
    /// More of these, made when a field is not known: specs that are right do not pay for them.
    std::function<std::map<std::string, std::string>()> more_elsewhere = {};
    /// Fields that are given but not in the map: neither read nor missing.
    std::set<std::string, std::less<>> given = {};

    FieldScope with_more() const;
};

struct FieldValues {
    Attributes values;                               ///< of plain types, defaults filled in
    std::map<std::string, Span> spans;               ///< of the values the user wrote
    std::map<std::string, const SourceNode*> nodes;  ///< every field the user wrote
    /// Fields that were probably meant by what is none: not missing, only misspelt.
    std::set<std::string, std::less<>> mistyped;
    bool sound = true;  ///< no error was found

    const SourceNode* node(const std::string& name) const;
    std::int64_t integer(const std::string& name) const;
    double real(const std::string& name) const;
    bool flag(const std::string& name) const;
    std::string text(const std::string& name) const;  ///< "" when absent
    Dims dims(const std::string& name) const;         ///< empty when absent
    template <NamedEnum Enum>
    bool says(const std::string& name, Enum value) const {
        return dtnn::says(values, name, value);
    }
};

/// Reads the fields of `map` (null: none are given). A field that is not in the table is an error.
FieldValues read_fields(const SourceNode& map, const FieldTable& table, const FieldScope& scope,
                        Diagnostics& diagnostics);

/// One value; nothing after a diagnostic.
std::optional<AttributeValue> read_value(const SourceNode& node, const Field& field,
                                         const std::string& what, Diagnostics& diagnostics);

/// A text or a list of texts, each of `field.choices` if there are any; nothing after a diagnostic.
struct LocatedText {
    std::string text;
    Span span;
};
std::optional<std::vector<LocatedText>> read_texts(const SourceNode& node, const Field& field,
                                                   const std::string& what,
                                                   Diagnostics& diagnostics);

/// "did you mean `x`?", or the list of what there is when nothing is near and the list is short.
std::string suggest(std::string_view word, const std::vector<std::string>& candidates,
                    std::string_view plural);

/// The same of words of the language, where those of other tools are known, too: also what has no
/// word here, or belongs elsewhere.
std::string suggest_word(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view plural);

/// Suggestions compare with every candidate: of thousands of mistakes only the first have them, and
/// fewer where there are thousands of names.
bool worth_suggesting(const Diagnostics& diagnostics, std::size_t candidates);

/// "an integer", "true or false", ...
std::string_view describe(FieldType type);
/// "at least 1", "more than 0 and less than 1"; empty without a range.
std::string describe_range(const Field& field);

/// The fields of `node`, which must be a map; as none after a diagnostic that it is none. `what` is
/// the map's own name: "clip", "groups[0]".
FieldValues read_record(const SourceNode& node, const FieldTable& table, const FieldScope& scope,
                        Diagnostics& diagnostics);

/// A value as a spec writes it, which is JSON and YAML both: a whole real has no point.
std::string to_json(const AttributeValue& value);

/// Text as YAML: bare when every reader takes it for text, else in quotes.
std::string yaml_text(const std::string& text);
/// A value as YAML, for people; of this field.
std::string yaml_value(const AttributeValue& value);
std::string yaml_value(const Field& field, const AttributeValue& value);

/// A member's value in the text of a spec and of the values alike: numbers with units have them.
struct WrittenValue {
    std::string yaml, json;
};
WrittenValue written_member(const Field& row, const AttributeValue& content);

}  // namespace dtnn::compiler
