#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

const Field* find_field(const FieldTable& table, std::string_view name) {
    for (const Field& field : table)
        if (field.name == name) return &field;
    return nullptr;
}

std::span<const ParameterType> parameter_types() {
    static constexpr ParameterType kTypes[] = {
        {"integer", FieldType::integer, true},
        {"real", FieldType::real, true},
        {"boolean", FieldType::boolean},
        {"text", FieldType::text},
        {"integer_pair", FieldType::integer_pair, true},
        {"padding", FieldType::padding, true},
        {"initializer", FieldType::initializer},
    };
    return kTypes;
}

}  // namespace dtnn::compiler
