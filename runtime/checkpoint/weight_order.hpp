#pragma once
/// The meaning of tensors' names: the role of each, and the order of their layers.
///
/// The role is what a name ends with, alone or behind `.`, `/`, `_` or `:`
///
///     weights           weights, weight, kernel      running_mean      running_mean, moving_mean
///     bias              biases, bias                 running_variance  running_variance,
///     gamma, beta       gamma, beta                                    running_var,
///     hidden_weights    hidden_weights,                                moving_variance, moving_var
///                       recurrent_kernel     hidden_bias       hidden_bias
///
/// A `weight` of one axis and the `bias` beside it are a gamma and a beta: PyTorch calls those of
/// its norms so.
///
/// A file has an order of its own. Names have the natural one: text by its bytes, a run of digits
/// as a number, so 2 before 10. Writers of safetensors sort by name as text, 10 before 2: such a
/// file has no order of its own, and its names only where they differ in a number.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/checkpoint/safetensors.hpp"

namespace dtnn::runtime {

/// The role in a name, as plans call it; empty: none.
std::string role_in(const std::string& name);

/// The role that is spelled so, as plans call it; empty: none.
std::string role_spelled(std::string_view text);

/// The role of each tensor.
std::vector<std::string> roles_of(std::span<const StoredTensor* const> tensors);

/// The place where two names differ first, in natural order.
struct NameDifference {
    int sign = 0;            ///< below 0: the first name comes before the second
    bool in_number = false;  ///< the difference is one of numbers
};
NameDifference compare_names(std::string_view a, std::string_view b);

/// The tensors in the natural order of their names.
std::vector<const StoredTensor*> in_order_of_names(std::span<const StoredTensor* const> tensors);

/// Whether the tensors of each type are sorted by name as text, so that their order tells nothing.
bool sorted_as_text(std::span<const StoredTensor* const> tensors);

/// Two tensors of the same role, type and shape whose names differ first in text, so that names do
/// not tell which comes first.
std::optional<std::pair<const StoredTensor*, const StoredTensor*>> told_apart_by_text(
    std::span<const StoredTensor* const> tensors);

}  // namespace dtnn::runtime
