#pragma once
/// The numbers in tensors of reals, whatever their width.

#include <utility>

#include "kernels/reduced.hpp"
#include "runtime/checkpoint/safetensors.hpp"

namespace dtnn::runtime {

/// Calls visit(T{}) with the type of the tensor's numbers: float, double, or one of 16 bits, which
/// widens to a float. The tensor is one of reals.
template <class Visit>
decltype(auto) with_type_of(const StoredTensor& tensor, Visit&& visit) {
    switch (tensor.dtype) {
        case DType::f64:
            return std::forward<Visit>(visit)(double{});
        case DType::bf16:
            return std::forward<Visit>(visit)(kernels::BFloat16{});
        case DType::fp16:
            return std::forward<Visit>(visit)(kernels::Float16{});
        default:
            return std::forward<Visit>(visit)(float{});
    }
}

}  // namespace dtnn::runtime
