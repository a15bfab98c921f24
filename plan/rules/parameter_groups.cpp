#include "plan/rules/parameter_groups.hpp"

#include "base/name_pattern.hpp"

namespace dtnn::plan {

const ParameterGroup* group_of(const Training& training, const std::string& parameter) {
    for (const ParameterGroup& group : training.groups)
        if (matches_pattern(parameter, group.pattern)) return &group;
    return nullptr;
}

bool group_freezes(const Training& training, const std::string& parameter) {
    const ParameterGroup* group = group_of(training, parameter);
    if (!group) return false;
    const auto frozen = group->attributes.find("frozen");
    const bool* is =
        frozen == group->attributes.end() ? nullptr : std::get_if<bool>(&frozen->second);
    return is && *is;
}

Attributes optimizer_attributes_of(const Training& training, const std::string& parameter) {
    Attributes attributes = training.optimizer_attributes;
    if (const ParameterGroup* group = group_of(training, parameter))
        for (const auto& [name, value] : group->attributes)
            attributes.insert_or_assign(name, value);
    return attributes;
}

double learning_rate_scale_of(const Training& training, const std::string& parameter) {
    const ParameterGroup* group = group_of(training, parameter);
    if (!group) return 1;
    const auto given = group->attributes.find("learning_rate_scale");
    if (given == group->attributes.end()) return 1;
    const double* scale = std::get_if<double>(&given->second);
    return scale ? *scale : 1;
}

}  // namespace dtnn::plan
