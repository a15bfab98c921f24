#pragma once
/// A plan's parameters as files: weights and moving statistics, in their logical shape, row-major,
/// by the plan's names. Optimizer state is not among them.

#include <string>
#include <vector>

#include "runtime/checkpoint/weight_match.hpp"

namespace dtnn::runtime {

class Executor;

/// A safetensors file; `checksum` (of the plan) goes into its metadata.
void save_weights(const Executor& executor, const std::string& path, const std::string& checksum);

/// The same names, with the moving averages in place of the weights that have one: what evaluation
/// and prediction read.
void save_evaluated_weights(const Executor& executor, const std::string& path,
                            const std::string& checksum);

/// What loading left as it was.
struct LoadedWeights {
    std::vector<std::string> kept;    ///< parameters that no tensor went to
    std::vector<std::string> unused;  ///< tensors that went nowhere
    WeightLayout layout = WeightLayout::own;
};

/// Reads a safetensors or .npz file as weight_match.hpp says. Moving averages begin as the weights.
/// Whatever does not fit (missing, too much, of another type or shape) is one RunError (exit 5)
/// that lists all differences; nothing has been changed then.
LoadedWeights load_weights(const Executor& executor, const WeightRequest& request);

/// The same for weights of exactly this plan.
void load_weights(const Executor& executor, const std::string& path);

}  // namespace dtnn::runtime
