#pragma once
/// How deep the stack of an expression may be: for the kernels, and for those who choose them.

namespace dtnn::kernels::cuda {

inline constexpr int kShallowStack = 8;  ///< in registers
inline constexpr int kDeepStack = 64;    ///< in memory of the thread's own

}  // namespace dtnn::kernels::cuda
