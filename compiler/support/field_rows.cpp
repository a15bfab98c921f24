#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {

Field plain_field(FieldType type, std::string_view name, Absent absent, std::string_view doc,
                  FieldChange change, FieldMember member) {
    return {.name = name,
            .type = type,
            .fallback = std::move(absent.fallback),
            .doc = doc,
            .change = change,
            .optional = absent.optional,
            .member = member};
}

Field number_field(FieldType type, std::string_view name, Absent absent, const Bounds& bounds,
                   std::string_view doc, FieldChange change, FieldMember member) {
    Field field = plain_field(type, name, std::move(absent), doc, change, member);
    field.minimum = bounds.minimum;
    field.maximum = bounds.maximum;
    field.exclusive_minimum = bounds.exclusive_minimum;
    field.exclusive_maximum = bounds.exclusive_maximum;
    field.unit = bounds.unit;
    field.usual_least = bounds.usual_least;
    field.usual_most = bounds.usual_most;
    return field;
}

Field choice_field(std::string_view name, Absent absent, std::vector<std::string_view> choices,
                   std::string_view doc, FieldChange change, FieldMember member) {
    Field field = plain_field(FieldType::choice, name, std::move(absent), doc, change, member);
    field.choices = std::move(choices);
    return field;
}

Field record_field(std::string_view name, const FieldTable& fields, std::string_view doc,
                   FieldChange change) {
    Field field = plain_field(FieldType::record, name, kMayBeAbsent, doc, change);
    field.fields = &fields;
    return field;
}

}  // namespace dtnn::compiler
