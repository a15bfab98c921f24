#pragma once
/// Weights as the command line asks for them.

#include <string>
#include <vector>

#include "runtime/checkpoint/weights.hpp"

namespace dtnn::runtime {
class Executor;
}

namespace dtnn {

/// --map, --layout, --match, --keep, --allow-missing and --cast, as every command has them that
/// loads weights.
struct WeightOptions {
    std::string map;
    std::string layout = "auto";
    std::string match = "auto";
    std::vector<std::string> keep;
    bool allow_missing = false;
    bool cast = false;
};

/// The names of those options.
std::vector<std::string> weight_option_names();

runtime::WeightRequest weight_request(const std::string& path, const WeightOptions& options);

/// Tells on stderr what was read by, and what went nowhere or stayed as it was.
void tell_what_is_left(const runtime::LoadedWeights& loaded);

/// Loads the file, draws the first values of what is not in it, and tells on stderr what that is.
void load_wanted_weights(runtime::Executor& executor, const std::string& path,
                         const WeightOptions& options);

}  // namespace dtnn
