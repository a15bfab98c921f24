#pragma once
/// Sums and maxima of whole arrays, for ranks of one process.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "plan/plan.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

template <typename T>
void reduce_as(T* into, const T* from, std::int64_t elements, Reduction reduction) {
    if (reduction == Reduction::sum) {
        for (std::int64_t i = 0; i < elements; ++i)
            into[i] += from[i];
    } else {
        for (std::int64_t i = 0; i < elements; ++i)
            into[i] = std::max(into[i], from[i]);
    }
}

/// f32, f64 and i64 are what ranks exchange.
inline bool can_reduce(DType dtype) {
    return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i64;
}

inline void require_reducible(DType dtype, const std::string& name) {
    if (can_reduce(dtype)) return;
    throw RunError(Exit::internal, "all_reduce `" + name + "` is of a type that ranks do not add",
                   "please report this");
}

/// Precondition: can_reduce(dtype).
inline void reduce(void* into, const void* from, std::int64_t elements, DType dtype,
                   Reduction reduction) {
    if (dtype == DType::f32) {
        reduce_as(static_cast<float*>(into), static_cast<const float*>(from), elements, reduction);
    } else if (dtype == DType::f64) {
        reduce_as(static_cast<double*>(into), static_cast<const double*>(from), elements,
                  reduction);
    } else {
        reduce_as(static_cast<std::int64_t*>(into), static_cast<const std::int64_t*>(from),
                  elements, reduction);
    }
}

}  // namespace dtnn::runtime
