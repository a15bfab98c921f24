#pragma once
/// The types of a tensor's elements.

#include <cstdint>

#include "base/enum_names.hpp"

namespace dtnn {

enum class DType { f32, f64, i32, i64, u8, bf16, fp16 };

constexpr auto names_of(DType) {
    return std::to_array<const char*>({"f32", "f64", "i32", "i64", "u8", "bf16", "fp16"});
}

/// Bytes of one element.
constexpr std::int64_t size_of(DType dtype) {
    constexpr std::int64_t kSizes[] = {4, 8, 4, 8, 1, 2, 2};
    return kSizes[std::size_t(dtype)];
}

/// The type is one of 16 bits, in which values may be stored.
constexpr bool is_reduced(DType dtype) {
    return dtype == DType::bf16 || dtype == DType::fp16;
}

/// The type of what stands beside values of this type and is never rounded to 16 bits: parameters,
/// their gradients, statistics.
constexpr DType wide_of(DType dtype) {
    return is_reduced(dtype) ? DType::f32 : dtype;
}

}  // namespace dtnn
