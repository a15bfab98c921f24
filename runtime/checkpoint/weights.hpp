#pragma once
/// A plan's parameters as a safetensors file: weights and moving statistics, in their logical
/// shape, row-major, by the plan's names. Optimizer state is not among them.

#include <string>

namespace dtnn::runtime {

class Executor;

/// `checksum` (of the plan) goes into the file's metadata.
void save_weights(const Executor& executor, const std::string& path, const std::string& checksum);

/// The same names, with the moving averages in place of the weights that have one: what evaluation
/// and prediction read.
void save_evaluated_weights(const Executor& executor, const std::string& path,
                            const std::string& checksum);

/// Moving averages begin as the weights. A tensor that is missing, too much, or of another type or
/// shape is a RunError (exit 5) that lists the differences; nothing has been changed then.
void load_weights(const Executor& executor, const std::string& path);

}  // namespace dtnn::runtime
