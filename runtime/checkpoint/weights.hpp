#pragma once
/// A plan's parameters as files: weights and moving statistics, in their logical shape, row-major,
/// by the plan's names. Optimizer state is not among them.

#include <string>
#include <vector>

#include "runtime/checkpoint/weight_file.hpp"
#include "runtime/checkpoint/weight_maps.hpp"
#include "runtime/checkpoint/weight_match.hpp"

namespace dtnn::runtime {

class Executor;

/// The names of the classes that a network tells apart, and of the numbers that it reads, in their
/// order; none where they have no names.
struct TrainedNames {
    std::vector<std::string> classes;
    std::vector<std::string> features;
};

/// A safetensors file; `checksum` (of the plan) and the names go into its metadata, these as JSON
/// lists, `class_names` and `feature_names`, and only up to 10,000 of each.
void save_weights(const Executor& executor, const std::string& path, const std::string& checksum,
                  const TrainedNames& names = {});

/// The same names, with the moving averages in place of the weights that have one: what evaluation
/// and prediction read.
void save_evaluated_weights(const Executor& executor, const std::string& path,
                            const std::string& checksum, const TrainedNames& names = {});

/// The names that the weights of a run have; none in files of others. Nothing else of the file is
/// looked at: whoever reads the weights says what is wrong with it.
TrainedNames read_trained_names(const std::string& path);

/// A file and how it becomes a plan's parameters.
struct ReadWeights {
    WeightFile file;
    std::string map;    ///< the name of the shipped map that its names were read by; empty: none
    WeightMatch match;  ///< points into the file
};

/// Reads a safetensors or .npz file as weight_match.hpp says, by the map that weight_maps.hpp says.
/// Whatever does not fit (missing, too much, of another type or shape) is one RunError (exit 5)
/// that counts what fits and lists the first differences.
ReadWeights read_weights(const plan::Plan& plan, const WeightRequest& request);

/// The parameters and tensors that loading left as they were.
struct LoadedWeights {
    std::vector<std::string> kept;     ///< parameters that no tensor went to
    std::vector<std::string> unused;   ///< tensors that went nowhere
    std::vector<std::string> dropped;  ///< tensors that a shipped map leaves out
    std::string map;                   ///< its name; empty: none
    WeightLayout layout = WeightLayout::own;
};
LoadedWeights what_is_left(const plan::Plan& plan, const ReadWeights& read);

/// Reads and sets them. Moving averages begin as the weights. Where there is an error, nothing has
/// been changed.
LoadedWeights load_weights(const Executor& executor, const WeightRequest& request);

/// The same for weights of exactly this plan.
void load_weights(const Executor& executor, const std::string& path);

}  // namespace dtnn::runtime
