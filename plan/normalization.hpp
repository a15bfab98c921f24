#pragma once
/// Mean and deviation of well-known datasets' pixels (in [0, 1], per channel over the training
/// images), as `normalize` knows them by name.

#include <string>
#include <string_view>
#include <vector>

namespace dtnn::plan {

struct NormalizationConstants {
    std::string_view name;
    std::vector<double> mean;  ///< one number for each channel
    std::vector<double> deviation;
    std::string_view doc;  ///< whose numbers they are
};

const std::vector<NormalizationConstants>& normalization_constants();
/// Null: there are none of this name.
const NormalizationConstants* find_normalization_constants(std::string_view name);

}  // namespace dtnn::plan
