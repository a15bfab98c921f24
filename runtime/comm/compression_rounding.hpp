#pragma once
/// Numbers in 16 bits: how f32 is rounded for the way between ranks, and back. Rounding is to the
/// nearest, ties to even; infinities and NaNs stay what they are, so that a search for them
/// finds them on every rank. Pure functions, written so that loops of them become vector
/// instructions.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace dtnn::runtime {

/// The upper half of f32: as large numbers, 8 bits of precision.
inline std::uint16_t bf16_of(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const std::uint32_t none = (bits >> 16) | 0x40U;  // stays one when the lower half goes
    return std::uint16_t((bits & 0x7fffffffU) > 0x7f800000U ? none : rounded);
}

inline float from_bf16(std::uint16_t x) {
    return std::bit_cast<float>(std::uint32_t(x) << 16);
}

/// IEEE 754 binary16: up to 65504, 11 bits of precision from 2^-14 on, steps of 2^-24 below.
inline std::uint16_t fp16_of(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t size = bits & 0x7fffffffU;
    const std::uint32_t normal = ((size + 0xfffU + ((size >> 13) & 1U)) >> 13) - (112U << 10);
    // Beside a half, floats are 2^-24 apart: the sum is rounded to whole steps of binary16.
    const std::uint32_t small =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5F) - 0x3f000000U;
    std::uint32_t result = size < 0x38800000U ? small : normal;
    result = size >= 0x477ff000U ? 0x7c00U : result;
    result = size > 0x7f800000U ? 0x7e00U : result;
    return std::uint16_t(sign | result);
}

inline float from_fp16(std::uint16_t x) {
    const std::uint32_t sign = std::uint32_t(x & 0x8000U) << 16;
    const std::uint32_t size = x & 0x7fffU;
    const std::uint32_t normal = (size << 13) + (112U << 23);
    const std::uint32_t small = std::bit_cast<std::uint32_t>(float(std::int32_t(size)) * 0x1p-24F);
    std::uint32_t result = size < 0x400U ? small : normal;
    result = size >= 0x7c00U ? normal + (112U << 23) : result;
    return std::bit_cast<float>(sign | result);
}

enum class Rounding { bf16, fp16 };

/// Packs numbers first to first + count - 1 of `from` to their place in `packed`
/// (plan/rules/compression.hpp: packed_bytes). `first` is the start of a block. A block of fp16 is
/// multiplied by the power of two that brings its largest finite number to between 2^14 and 2^15.
void pack(Rounding rounding, const float* from, std::int64_t first, std::int64_t count,
          std::byte* packed);
/// The inverse; `packed` and `to` are those of the whole exchange.
void unpack(Rounding rounding, const std::byte* packed, std::int64_t first, std::int64_t count,
            float* to);
/// Adds a part of another rank's numbers, which begins at `packed`, to `sum`.
void add_packed(Rounding rounding, const std::byte* packed, std::int64_t count, float* sum);

/// Blocks are shared by the ranks, as evenly as may be and one after the other: numbers from
/// first_of(rank) to before first_of(rank + 1) are the part of `rank`.
std::int64_t first_of_part(std::int64_t elements, int rank, int ranks);

}  // namespace dtnn::runtime
