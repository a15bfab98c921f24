#pragma once
/// Reads the fields of a plan's component (a schedule, say). The compiler fills in all of them, so
/// one that is missing, of another type or beyond the given bounds means a plan of another version,
/// or one that somebody changed: a RunError (exit 5) that names component and field.

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::runtime {

class ComponentFields {
  public:
    /// The component outlives this.
    explicit ComponentFields(const plan::Component& component) : component_(&component) {}

    bool has(const std::string& name) const { return component_->attributes.contains(name); }
    double real(const std::string& name) const;  ///< a whole number will do
    std::int64_t whole(const std::string& name) const;
    bool flag(const std::string& name) const;
    std::string word(const std::string& name) const;
    /// Of a closed set; other words are refused.
    template <NamedEnum Enum>
    Enum chosen(const std::string& name) const {
        Enum value = {};
        if (!parse_name(word(name), value)) refuse(name, "one of the words that it may have");
        return value;
    }
    std::vector<std::int64_t> wholes(const std::string& name) const;
    std::vector<double> reals(const std::string& name) const;

    /// The same where only numbers from `least` to `most` will do, and lists of `count` of them.
    double real(const std::string& name, double least, double most) const;
    std::int64_t whole(const std::string& name, std::int64_t least, std::int64_t most) const;
    std::vector<std::int64_t> wholes(const std::string& name, std::size_t count, std::int64_t least,
                                     std::int64_t most) const;
    std::vector<double> reals(const std::string& name, std::size_t count, double least,
                              double most) const;

  private:
    [[noreturn]] void refuse(const std::string& name, const std::string& wanted) const;
    const AttributeValue& value(const std::string& name, const char* wanted) const;

    const plan::Component* component_;
};

}  // namespace dtnn::runtime
