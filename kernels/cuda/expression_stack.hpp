#pragma once
/// How deep the stack of an expression may be: for the kernels, and for those who choose them.

namespace dtnn::kernels::cuda {

/// Both lie in memory of the thread's own, as an index says which place is meant; the shallow one
/// takes 128 to 256 bytes of it, which the first cache holds.
inline constexpr int kShallowStack = 8, kDeepStack = 64;

}  // namespace dtnn::kernels::cuda
