#pragma once
/// Dense layers of a few rows (kernels/cpu/dense_few_rows.cpp): the inputs are cut into parts,
/// whose sums lie beside each other until they are added up.

#include <cstdint>

namespace dtnn::kernels {

inline constexpr std::int64_t kFewRows = 4;
inline constexpr std::int64_t kFewRowsParts = 16;  ///< at most
/// Inputs of a part.
__attribute__((always_inline)) constexpr std::int64_t few_rows_part(std::int64_t inputs) {
    return (inputs + kFewRowsParts - 1) / kFewRowsParts;
}

}  // namespace dtnn::kernels
