#include "compiler/passes/shared/parameter_groups.hpp"

#include "compiler/ops/define.hpp"
#include "compiler/ops/update/optimizer.hpp"
#include "compiler/support/name_pattern.hpp"

namespace dtnn::compiler {

const plan::ParameterGroup* group_of(const plan::Training& training, const std::string& parameter) {
    for (const plan::ParameterGroup& group : training.groups)
        if (matches_pattern(parameter, group.pattern)) return &group;
    return nullptr;
}

bool is_frozen(const plan::Training& training, const std::string& parameter) {
    const plan::ParameterGroup* group = group_of(training, parameter);
    return group && flag(group->attributes, "frozen");
}

Attributes optimizer_attributes_of(const plan::Training& training, const std::string& parameter) {
    Attributes attributes = training.optimizer_attributes;
    if (const plan::ParameterGroup* group = group_of(training, parameter))
        for (const auto& [name, value] : group->attributes)
            attributes.insert_or_assign(name, value);
    return attributes;
}

double learning_rate_scale_of(const plan::Training& training, const std::string& parameter) {
    const plan::ParameterGroup* group = group_of(training, parameter);
    return group && group->attributes.contains("learning_rate_scale")
               ? real_or_zero(group->attributes, "learning_rate_scale")
               : 1;
}

}  // namespace dtnn::compiler
