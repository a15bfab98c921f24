#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

const Field* find_field(const FieldTable& table, std::string_view name) {
    for (const Field& field : table)
        if (field.name == name) return &field;
    return nullptr;
}

}  // namespace dtnn::compiler
