#pragma once
/// The networks that are evaluated, or asked for predictions.

#include <string>

namespace dtnn {

/// A plan, and the weights that it is used with.
struct TrainedNetwork {
    std::string name;  ///< as the user has it: the folder of a run, or the plan's file
    std::string plan;
    std::string weights;
};

/// `path` is a plan, of which `weights` says the weights, or the folder of a run, which has both;
/// `weights` may be others then. What is missing is a RunError: of usage where nobody has said it,
/// else that the run has none.
TrainedNetwork trained_network(const std::string& path, const std::string& weights);

}  // namespace dtnn
