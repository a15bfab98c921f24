#include "compiler/support/field_table.hpp"

#include "base/tensor/choices.hpp"

namespace dtnn::compiler {

std::vector<std::string_view> padding_words(FieldType type) {
    return type == FieldType::step_padding ? words_of<StepPadding>() : words_of<PaddingWord>();
}

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
        {"step_padding", FieldType::step_padding, true},
        {"initializer", FieldType::initializer},
    };
    return kTypes;
}

}  // namespace dtnn::compiler
