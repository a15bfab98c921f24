#include "runtime/base/component_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

void ComponentFields::refuse(const std::string& name, const std::string& wanted) const {
    throw RunError(
        Exit::mismatch,
        fmt::format("the plan's `{}` does not give `{}` as {}", component_->type, name, wanted),
        "compile the job again with the dtnnc of this version");
}

const AttributeValue& ComponentFields::value(const std::string& name, const char* wanted) const {
    const auto found = component_->attributes.find(name);
    if (found == component_->attributes.end()) refuse(name, wanted);
    return found->second;
}

double ComponentFields::real(const std::string& name) const {
    const AttributeValue& found = value(name, "a number");
    if (const auto* number = std::get_if<double>(&found)) return *number;
    if (const auto* number = std::get_if<std::int64_t>(&found)) return double(*number);
    refuse(name, "a number");
}

std::int64_t ComponentFields::whole(const std::string& name) const {
    if (const auto* number = std::get_if<std::int64_t>(&value(name, "a whole number")))
        return *number;
    refuse(name, "a whole number");
}

bool ComponentFields::flag(const std::string& name) const {
    if (const auto* truth = std::get_if<bool>(&value(name, "true or false"))) return *truth;
    refuse(name, "true or false");
}

std::string ComponentFields::word(const std::string& name) const {
    if (const auto* text = std::get_if<std::string>(&value(name, "a word"))) return *text;
    refuse(name, "a word");
}

std::vector<std::int64_t> ComponentFields::wholes(const std::string& name) const {
    const AttributeValue& found = value(name, "a list of whole numbers");
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found)) return *list;
    refuse(name, "a list of whole numbers");
}

std::vector<double> ComponentFields::reals(const std::string& name) const {
    const AttributeValue& found = value(name, "a list of numbers");
    if (const auto* list = std::get_if<std::vector<double>>(&found)) return *list;
    // A list of whole numbers, or an empty one, may have been read as whole numbers.
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found))
        return {list->begin(), list->end()};
    refuse(name, "a list of numbers");
}

double ComponentFields::real(const std::string& name, double least, double most) const {
    const double number = real(name);
    if (number >= least && number <= most) return number;
    refuse(name, fmt::format("a number from {} to {}", least, most));
}

std::int64_t ComponentFields::whole(const std::string& name, std::int64_t least,
                                    std::int64_t most) const {
    const std::int64_t number = whole(name);
    if (number >= least && number <= most) return number;
    refuse(name, fmt::format("a whole number from {} to {}", least, most));
}

std::vector<std::int64_t> ComponentFields::wholes(const std::string& name, std::size_t count,
                                                  std::int64_t least, std::int64_t most) const {
    std::vector<std::int64_t> list = wholes(name);
    const auto fits = [&](std::int64_t number) { return number >= least && number <= most; };
    if (list.size() == count && std::all_of(list.begin(), list.end(), fits)) return list;
    refuse(name, fmt::format("{} whole numbers from {} to {}", count, least, most));
}

std::vector<double> ComponentFields::reals(const std::string& name, std::size_t count, double least,
                                           double most) const {
    std::vector<double> list = reals(name);
    const auto fits = [&](double number) { return number >= least && number <= most; };
    if (list.size() == count && std::all_of(list.begin(), list.end(), fits)) return list;
    refuse(name, fmt::format("{} numbers from {} to {}", count, least, most));
}

}  // namespace dtnn::runtime
