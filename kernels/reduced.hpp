#pragma once
/// Numbers of 16 bits, which values are stored in where a training asks for it. They are rounded
/// to the nearest, ties to even; arithmetic is done on what they widen to, which is exact:
///
///     BFloat16   8 bits of exponent, as a float, and 8 of precision
///     Float16    5 bits of exponent and 11 of precision (IEEE 754 binary16): 65504 is the largest,
///                2^-24 the smallest above 0

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/device.hpp"

namespace dtnn::kernels {

namespace detail {

DTNN_DEVICE inline std::uint32_t bits_of(float value) {
#if defined(__CUDA_ARCH__)
    return __float_as_uint(value);
#else
    return std::bit_cast<std::uint32_t>(value);
#endif
}

DTNN_DEVICE inline float float_of(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits);
#else
    return std::bit_cast<float>(bits);
#endif
}

DTNN_DEVICE inline std::uint16_t bfloat16_bits(float value) {
#if defined(__CUDA_ARCH__)
    std::uint16_t rounded;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
    return rounded;
#else
    const std::uint32_t bits = bits_of(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return std::uint16_t(bits >> 16 | 0x40U);
    return std::uint16_t((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
#endif
}

DTNN_DEVICE inline std::uint16_t float16_bits(float value) {
#if defined(__CUDA_ARCH__)
    std::uint16_t rounded;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
    return rounded;
#else
    const std::uint32_t bits = bits_of(value), size = bits & 0x7FFFFFFFU;
    const std::uint32_t sign = bits >> 16 & 0x8000U;
    if (size > 0x7F800000U) return std::uint16_t(sign | 0x7E00U);   // not a number
    if (size >= 0x47800000U) return std::uint16_t(sign | 0x7C00U);  // 65536 and more: infinity
    if (size < 0x38800000U) {
        // Below 2^-14: a multiple of 2^-24, which adding one half rounds to.
        const float rounded = float_of(size) + 0.5F;
        return std::uint16_t(sign | (bits_of(rounded) - bits_of(0.5F)));
    }
    // 65520 and more become infinity by the carry.
    return std::uint16_t(sign | (size - 0x38000000U + 0xFFFU + (size >> 13 & 1U)) >> 13);
#endif
}

DTNN_DEVICE inline float float_of_float16(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
    return wide;
#else
    const std::uint32_t sign = (bits & 0x8000U) << 16, size = bits & 0x7FFFU;
    if (size >= 0x7C00U) return float_of(sign | 0x7F800000U | (size & 0x3FFU) << 13);
    if (size < 0x400U) {  // a multiple of 2^-24
        const float value = float(size) * 0x1p-24F;
        return sign != 0 ? -value : value;
    }
    return float_of(sign | ((size << 13) + 0x38000000U));
#endif
}

}  // namespace detail

struct BFloat16 {
    std::uint16_t bits;

    BFloat16() = default;
    DTNN_DEVICE explicit BFloat16(float value) : bits(detail::bfloat16_bits(value)) {}
    DTNN_DEVICE explicit BFloat16(double value) : BFloat16(float(value)) {}
    DTNN_DEVICE explicit BFloat16(int value) : BFloat16(float(value)) {}
    DTNN_DEVICE operator float() const { return detail::float_of(std::uint32_t(bits) << 16); }
};

struct Float16 {
    std::uint16_t bits;

    Float16() = default;
    DTNN_DEVICE explicit Float16(float value) : bits(detail::float16_bits(value)) {}
    DTNN_DEVICE explicit Float16(double value) : Float16(float(value)) {}
    DTNN_DEVICE explicit Float16(int value) : Float16(float(value)) {}
    DTNN_DEVICE operator float() const { return detail::float_of_float16(bits); }
};

template <class T>
inline constexpr bool kIsReduced = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

/// The type of numbers that stand beside values of type T and are never rounded to 16 bits:
/// parameters, their gradients, statistics.
template <class T>
using Wide = std::conditional_t<kIsReduced<T>, float, T>;

}  // namespace dtnn::kernels
