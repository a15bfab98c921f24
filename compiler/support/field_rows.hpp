#pragma once
/// Rows of field tables: a function for each sort of field, which takes its name, what holds where
/// it is not given, its bounds or choices, its document, what another value means, and the member
/// of the spec that it fills.

#include <string>
#include <utility>

#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

/// What holds where a field is not given: this value, or one of the two below.
struct Absent {
    Absent(bool value) : fallback(value) {}
    Absent(int value) : fallback(std::int64_t{value}) {}
    Absent(std::int64_t value) : fallback(value) {}
    Absent(double value) : fallback(value) {}
    Absent(const char* value) : fallback(std::string(value)) {}
    Absent(AttributeValue value) : fallback(std::move(value)) {}
    constexpr explicit Absent(std::nullopt_t, bool may_be) : optional(may_be) {}

    std::optional<AttributeValue> fallback = {};
    bool optional = false;
};
inline constinit const Absent kMustBeGiven{std::nullopt, false};
inline constinit const Absent kMayBeAbsent{std::nullopt, true};

/// The bounds of a number, or of each of several, and what it counts.
struct Bounds {
    std::optional<double> minimum = {}, maximum = {};
    bool exclusive_minimum = false, exclusive_maximum = false;
    std::string_view unit = {};
    std::optional<double> usual_least = {}, usual_most = {};

    Bounds below(double most) const {
        Bounds result = *this;
        result.maximum = most;
        result.exclusive_maximum = true;
        return result;
    }
    Bounds up_to(double most) const {
        Bounds result = *this;
        result.maximum = most;
        return result;
    }
    Bounds in(std::string_view what) const {
        Bounds result = *this;
        result.unit = what;
        return result;
    }
    Bounds usually(std::optional<double> least, std::optional<double> most) const {
        Bounds result = *this;
        result.usual_least = least;
        result.usual_most = most;
        return result;
    }
};
inline Bounds at_least(double least) {
    return {.minimum = least};
}
inline Bounds above(double least) {
    return {.minimum = least, .exclusive_minimum = true};
}
inline Bounds between(double least, double most) {
    return {.minimum = least, .maximum = most};
}

/// A field of a type that needs nothing more.
Field plain_field(FieldType type, std::string_view name, Absent absent, std::string_view doc,
                  FieldChange change, FieldMember member = {});
Field number_field(FieldType type, std::string_view name, Absent absent, const Bounds& bounds,
                   std::string_view doc, FieldChange change, FieldMember member = {});
Field choice_field(std::string_view name, Absent absent, std::vector<std::string_view> choices,
                   std::string_view doc, FieldChange change, FieldMember member = {});
Field record_field(std::string_view name, const FieldTable& fields, std::string_view doc,
                   FieldChange change);

inline Field flag_field(std::string_view name, Absent absent, std::string_view doc,
                        FieldChange change, FieldMember member = {}) {
    return plain_field(FieldType::boolean, name, std::move(absent), doc, change, member);
}
inline Field text_field(std::string_view name, Absent absent, std::string_view doc,
                        FieldChange change, FieldMember member = {}) {
    return plain_field(FieldType::text, name, std::move(absent), doc, change, member);
}
inline Field integer_field(std::string_view name, Absent absent, const Bounds& bounds,
                           std::string_view doc, FieldChange change, FieldMember member = {}) {
    return number_field(FieldType::integer, name, std::move(absent), bounds, doc, change, member);
}
inline Field real_field(std::string_view name, Absent absent, const Bounds& bounds,
                        std::string_view doc, FieldChange change, FieldMember member = {}) {
    return number_field(FieldType::real, name, std::move(absent), bounds, doc, change, member);
}
inline Field quantity_field(std::string_view name, Absent absent, const Bounds& bounds,
                            std::string_view doc, FieldChange change, FieldMember member = {}) {
    return number_field(FieldType::quantity, name, std::move(absent), bounds, doc, change, member);
}

}  // namespace dtnn::compiler
