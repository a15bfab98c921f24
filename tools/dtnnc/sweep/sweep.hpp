#pragma once
/// Sweeps: settings with several values each, and their combinations.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dtnn::tools {

inline constexpr std::int64_t kMaximumCombinations = 1000;

/// One --sweep PATH=V1,V2,...
struct Sweep {
    std::string path;
    std::vector<std::string> values;  ///< YAML, as written between the commas
};

/// One choice of a value for every sweep.
struct Combination {
    std::vector<std::string> values;    ///< one per sweep
    std::vector<std::string> settings;  ///< "path=value", as --set takes them
    std::string file;                   ///< "batch_size-32_momentum-0.9"; no other's
};

/// Values are apart at commas outside brackets and quotes. Throws UsageError for a sweep without a
/// path, with an empty or repeated value, of a path that another one or one of the `settings` (of
/// --set) has too, and for more than kMaximumCombinations combinations.
std::vector<Sweep> parse_sweeps(const std::vector<std::string>& texts,
                                const std::vector<std::string>& settings);

/// All of them; the first sweep changes slowest.
std::vector<Combination> combinations(const std::vector<Sweep>& sweeps);

/// "training.batch_size=32, training.epochs=2"
std::string describe(const Combination& combination);

}  // namespace dtnn::tools
