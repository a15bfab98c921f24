#pragma once
/// How many parts of `units` numbers lie side by side in what a recurrent cell adds up at a step,
/// and in what it keeps of its gates (kernels/arguments/recurrent.hpp has their formulas).

#include <cstdint>

namespace dtnn {

inline constexpr std::int64_t kRnnParts = 1, kLstmParts = 4, kGruParts = 3, kGruGates = 4;

}  // namespace dtnn
