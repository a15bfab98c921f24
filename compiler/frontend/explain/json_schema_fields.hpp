#pragma once
/// One field, or a table of fields, as JSON Schema. Private to json_schema.

#include <nlohmann/json.hpp>

#include "compiler/frontend/tables/components.hpp"
#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

using Json = nlohmann::ordered_json;

/// `#/definitions/NAME`.
Json reference_to(const std::string& name);
/// The name or path of another spec; the name of a spec itself.
Json reference_name_schema();
Json spec_name_schema();
/// A text that is one expression, or has some.
Json expression_schema();

/// The values of a field of plain type. With `expressions`, numbers, truth values, choices and the
/// like may also be `${...}`. Structural types (layers, references, ...) are the caller's.
Json field_schema(const Field& field, bool expressions);
/// An initializer; fields of that type refer to it as the definition `initializer`.
Json initializer_schema();
/// One of a set: a name, or one name with its fields; fields that choose from it refer to it as the
/// definition of the set's name.
Json component_schema(const ComponentSet& set);
/// Adds text for people and default.
void describe_in(Json& schema, const Field& field);

/// Closed: {"type": "object", "properties": ..., "additionalProperties": false}, without
/// "required".
Json table_schema(const FieldTable& table, bool expressions);
/// The names of the fields that must be given.
std::vector<std::string> required_fields(const FieldTable& table);

}  // namespace dtnn::compiler
