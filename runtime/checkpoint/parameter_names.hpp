#pragma once
/// The names that files have for the parameters of a plan.
///
/// A parameter is called LAYER.ROLE, as in the plan. A name that ends as other programs spell a
/// role (weight_order.hpp) is that role of its layer, so PyTorch's
///
///     LAYER.weight         LAYER.weights, or LAYER.gamma where the layer normalises
///     LAYER.bias           LAYER.bias, or LAYER.beta
///     LAYER.running_mean   LAYER.running_mean
///     LAYER.running_var    LAYER.running_variance

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>

#include "plan/plan.hpp"
#include "runtime/checkpoint/weight_file.hpp"

namespace dtnn::runtime {

class ParameterNames {
  public:
    /// Takes the parameters that are no optimizer state.
    explicit ParameterNames(const plan::Plan& plan);

    /// The place in plan.parameters; nothing: no parameter is called so.
    std::optional<std::size_t> find(const std::string& name) const;

  private:
    std::unordered_map<std::string, std::size_t> places_;
};

/// The name that PyTorch would give a parameter of a module of the layer's name.
std::string torch_name(const plan::Parameter& parameter);

/// The prefix that PyTorch's wrappers of a whole model (DataParallel and DistributedDataParallel:
/// `module.`; torch.compile: `_orig_mod.`) have put before every name of a file; empty: none. A
/// name that means nothing with it is read without.
std::string wrapper_in(const WeightFile& file);

/// PyTorch's batch norms count their batches in a whole number that only an average of all batches
/// reads (momentum=None); no plan has one.
inline constexpr const char* kBatchCount = "num_batches_tracked";
bool is_batch_count(const StoredTensor& tensor);

}  // namespace dtnn::runtime
