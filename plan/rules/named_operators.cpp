#include "plan/rules/named_operators.hpp"

#include <variant>

namespace dtnn::plan {
namespace {

struct BatchNorm {
    const char* op;
    std::optional<StatisticsOf> takes;  ///< nothing: what the attribute `synchronised` says
};

constexpr BatchNorm kBatchNorms[] = {
    {"batch_norm_training", std::nullopt},
    {"batch_norm_backward", StatisticsOf::rank},
    {"batch_norm_backward_apply", StatisticsOf::all_ranks},
};

bool is_synchronised(const Step& step) {
    const auto found = step.attributes.find("synchronised");
    const bool* value =
        found == step.attributes.end() ? nullptr : std::get_if<bool>(&found->second);
    return value && *value;
}

}  // namespace

std::optional<StatisticsOf> statistics_of(const Step& step) {
    for (const BatchNorm& one : kBatchNorms)
        if (step.op == one.op)  // The list of those that there are.
            return one.takes               ? one.takes
                   : is_synchronised(step) ? StatisticsOf::all_ranks
                                           : StatisticsOf::rank;
    return std::nullopt;
}

}  // namespace dtnn::plan
