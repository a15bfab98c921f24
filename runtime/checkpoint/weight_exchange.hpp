#pragma once
/// Matched weights as tensors of another file, without a network that runs: the plan's own form,
/// and that of other programs.

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/checkpoint/name_map.hpp"
#include "runtime/checkpoint/weight_match.hpp"

namespace dtnn::runtime {

/// A pair's numbers in the parameter's logical order and type, row-major.
std::vector<std::byte> logical_bytes(const plan::Parameter& parameter,
                                     const WeightMatch::Pair& pair);

/// Tensors and their memory; moving keeps the views.
struct ExchangedWeights {
    std::vector<StoredTensor> tensors;
    std::deque<std::vector<std::byte>> storage;
};

/// The matched parameters by the plan's names, in logical shape.
ExchangedWeights own_weights(const plan::Plan& plan, const WeightMatch& match);

/// The matched parameters as a program that arranges axes by `layout` has them, by the names that
/// the map comes from; without a map by the plan's, in the layout torch with PyTorch's endings
/// (torch_name()). In the layout torch every batch norm also has its count of batches, 0: PyTorch
/// demands it, and no plan counts them. Parameters for which the map has no name are one RunError
/// (exit 5) that lists them.
ExchangedWeights weights_for_others(const plan::Plan& plan, const WeightMatch& match,
                                    const std::optional<NameMap>& map, WeightLayout layout);

/// The name that such a program has for a parameter; nothing: the map has no name for it.
std::optional<std::string> name_for_others(const plan::Parameter& parameter,
                                           const std::optional<NameMap>& map, WeightLayout layout);

}  // namespace dtnn::runtime
