#include "runtime/checkpoint/weight_exchange.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "runtime/base/arrangement.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/parameter_names.hpp"
#include "runtime/checkpoint/stored_numbers.hpp"

namespace dtnn::runtime {
namespace {

/// The tensor's numbers in the parameter's logical order and type.
template <class From, class To>
std::vector<std::byte> converted(const WeightMatch::Pair& pair) {
    const Arrangement arrangement(pair.form.view, pair.form.order);
    std::vector<std::byte> logical(std::size_t(arrangement.elements()) * sizeof(To));
    const std::byte* from = pair.tensor->bytes.data();
    arrangement.for_each(0, arrangement.elements(), [&](std::int64_t i, std::int64_t place) {
        From value;
        std::memcpy(&value, from + std::size_t(place) * sizeof(From), sizeof(From));
        const To result = To(value);
        std::memcpy(logical.data() + std::size_t(i) * sizeof(To), &result, sizeof(To));
    });
    return logical;
}

/// Numbers in logical order as they lie in a file of the form.
std::vector<std::byte> arranged(const std::vector<std::byte>& logical, const FileForm& form,
                                std::size_t size) {
    const Arrangement arrangement(form.view, form.order);
    if (arrangement.identity()) return logical;
    std::vector<std::byte> bytes(logical.size());
    arrangement.for_each(0, arrangement.elements(), [&](std::int64_t i, std::int64_t place) {
        std::memcpy(bytes.data() + std::size_t(place) * size,
                    logical.data() + std::size_t(i) * size, size);
    });
    return bytes;
}

void add(ExchangedWeights& weights, std::string name, DType dtype, Dims dims,
         std::vector<std::byte> bytes) {
    weights.storage.push_back(std::move(bytes));
    weights.tensors.push_back({std::move(name), dtype, std::move(dims), weights.storage.back()});
}

/// Beside a batch norm's `running_mean`.
std::string count_name(const std::string& mean) {
    return mean.substr(0, mean.find_last_of('.') + 1) + kBatchCount;
}

}  // namespace

std::vector<std::byte> logical_bytes(const plan::Parameter& parameter,
                                     const WeightMatch::Pair& pair) {
    return with_type_of(*pair.tensor, [&](auto number) {
        using From = decltype(number);
        return parameter.dtype == DType::f64 ? converted<From, double>(pair)
                                             : converted<From, float>(pair);
    });
}

ExchangedWeights own_weights(const plan::Plan& plan, const WeightMatch& match) {
    ExchangedWeights own;
    for (const WeightMatch::Pair& pair : match.pairs) {
        const plan::Parameter& parameter = plan.parameters[pair.parameter];
        add(own, parameter.name, parameter.dtype, parameter.dims, logical_bytes(parameter, pair));
    }
    return own;
}

std::optional<std::string> name_for_others(const plan::Parameter& parameter,
                                           const std::optional<NameMap>& map, WeightLayout layout) {
    const std::string spelled =
        layout == WeightLayout::torch ? torch_name(parameter) : parameter.name;
    if (!map) return spelled;
    if (auto name = map->origin(spelled)) return name;
    return map->origin(parameter.name);
}

ExchangedWeights weights_for_others(const plan::Plan& plan, const WeightMatch& match,
                                    const std::optional<NameMap>& map, WeightLayout layout) {
    const LayoutRules rules(plan);
    ExchangedWeights weights;
    std::vector<std::string> nameless;
    for (const WeightMatch::Pair& pair : match.pairs) {
        const plan::Parameter& parameter = plan.parameters[pair.parameter];
        const auto name = name_for_others(parameter, map, layout);
        if (!name) {
            nameless.push_back(parameter.name);
            continue;
        }
        const FileForm form = rules.forms(pair.parameter, layout).front();
        const std::size_t size = std::size_t(size_of(parameter.dtype));
        add(weights, *name, parameter.dtype, form.dims,
            arranged(logical_bytes(parameter, pair), form, size));
        if (layout == WeightLayout::torch && parameter.role == "running_mean")
            add(weights, count_name(*name), DType::i64, {},
                std::vector<std::byte>(sizeof(std::int64_t)));
    }
    if (nameless.empty()) return weights;
    throw RunError(
        Exit::mismatch,
        fmt::format("the map has no name for parameters of the plan's model `{}`", plan.model),
        "name the map of that model (--map), or write one with an entry for each",
        fmt::format("{}", fmt::join(nameless, "\n  ")));
}

}  // namespace dtnn::runtime
