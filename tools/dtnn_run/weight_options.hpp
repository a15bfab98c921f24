#pragma once
/// Weights as the command line asks for them.

#include <string>

#include "runtime/checkpoint/weight_match.hpp"

namespace dtnn::runtime {
class Executor;
}

namespace dtnn {

/// --map, --layout, --match, --allow-missing and --cast, as every command has them that loads
/// weights.
struct WeightOptions {
    std::string map;
    std::string layout = "auto";
    std::string match = "auto";
    bool allow_missing = false;
    bool cast = false;
};

runtime::WeightRequest weight_request(const std::string& path, const WeightOptions& options);

/// Loads the file, and tells on stderr what stayed as it was initialised.
void load_wanted_weights(const runtime::Executor& executor, const std::string& path,
                         const WeightOptions& options);

}  // namespace dtnn
