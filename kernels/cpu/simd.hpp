#pragma once
/// Vectors as wide as the instruction set this file is compiled for, by GCC's vector extensions:
/// arithmetic operators and comparisons work on them as on numbers. Everything is inlined and lives
/// in the instruction set's namespace.
///
///     using V = Simd<float>;
///     V::Vector sum = V::zero();
///     for (i = 0; i + V::kLanes <= n; i += V::kLanes) sum = V::fma(V::load(a + i), V::load(b + i),
///     sum); float total = V::reduce_add(sum);

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef DTNN_ISA
#define DTNN_ISA isa_baseline  // for tools that read a file outside the build
#endif

#define DTNN_INLINE __attribute__((always_inline)) inline

/// Begins a CPU kernel for the two floating types, of the arguments `a` and the threads `team`.
#define DTNN_KERNEL(function, Arguments) \
    DTNN_DEFINE_KERNEL(function, Arguments, ThreadTeam, team, DTNN_OF_FLOATS)
/// A kernel for float alone (f32_only).
#define DTNN_KERNEL_F32(function, Arguments) \
    DTNN_DEFINE_KERNEL(function, Arguments, ThreadTeam, team, DTNN_OF_FLOAT)

namespace dtnn::kernels::DTNN_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64, kVectorRegisters = 32;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32, kVectorRegisters = 16;
#elif defined(__aarch64__)
inline constexpr int kVectorBytes = 16, kVectorRegisters = 32;
#else
inline constexpr int kVectorBytes = 16, kVectorRegisters = 16;
#endif

/// The integer as wide as a floating type, for use in decltype only.
std::int32_t int_of(float);
std::int64_t int_of(double);

template <class T>
struct Simd {
    static constexpr int kLanes = kVectorBytes / int(sizeof(T));
    typedef T Vector __attribute__((vector_size(kVectorBytes)));
    typedef T Unaligned __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias));

    static DTNN_INLINE Vector zero() { return Vector{}; }
    static DTNN_INLINE Vector broadcast(T value) { return Vector{} + value; }
    static DTNN_INLINE Vector load(const T* from) {
        return *reinterpret_cast<const Unaligned*>(from);
    }
    static DTNN_INLINE void store(T* to, Vector value) {
        *reinterpret_cast<Unaligned*>(to) = value;
    }
    /// a * b + c; one rounding where the instruction set has it (-ffp-contract=fast).
    static DTNN_INLINE Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }
    /// By halves, always in the same order.
    static DTNN_INLINE T reduce_add(Vector value) {
        T lanes[kLanes];
        for (int lane = 0; lane < kLanes; ++lane)
            lanes[lane] = value[lane];
        for (int half = kLanes / 2; half > 0; half /= 2) {
            for (int lane = 0; lane < half; ++lane)
                lanes[lane] += lanes[lane + half];
        }
        return lanes[0];
    }
};

/// Vectors of any power of two of lanes up to the native count, for channels that do not fill a
/// register. `Ints` has integers as wide as T (what comparisons give), `Bytes` one byte per lane,
/// `Doubles` the same lanes in double.
template <class T, int kCount>
struct Lanes {
    static constexpr int kLanes = kCount;
    using Int = decltype(int_of(T()));
    typedef T Vector __attribute__((vector_size(kCount * sizeof(T))));
    typedef Int Ints __attribute__((vector_size(kCount * sizeof(T))));
    typedef std::uint8_t Bytes __attribute__((vector_size(kCount)));
    typedef double Doubles __attribute__((vector_size(kCount * sizeof(double))));

    static DTNN_INLINE Vector zero() { return Vector{}; }
    static DTNN_INLINE Vector broadcast(T value) { return Vector{} + value; }
    static DTNN_INLINE Ints broadcast_int(Int value) { return Ints{} + value; }
    static DTNN_INLINE Vector load(const T* from) {
        Vector value;
        __builtin_memcpy(&value, from, sizeof(value));
        return value;
    }
    static DTNN_INLINE void store(T* to, Vector value) {
        __builtin_memcpy(to, &value, sizeof(value));
    }
    static DTNN_INLINE Ints load_bytes(const std::uint8_t* from) {
        Bytes bytes;
        __builtin_memcpy(&bytes, from, sizeof(bytes));
        return __builtin_convertvector(bytes, Ints);
    }
    static DTNN_INLINE void store_bytes(std::uint8_t* to, Ints value) {
        const Bytes bytes = __builtin_convertvector(value, Bytes);
        __builtin_memcpy(to, &bytes, sizeof(bytes));
    }
    static DTNN_INLINE Doubles to_double(Vector value) {
        return __builtin_convertvector(value, Doubles);
    }
    /// Lane i of the mask is bit i.
    static DTNN_INLINE Ints mask_of_bits(unsigned bits) {
        Ints lane_bit;
        for (int lane = 0; lane < kCount; ++lane)
            lane_bit[lane] = Int(1) << lane;
        return (broadcast_int(Int(bits)) & lane_bit) != 0;
    }
    static DTNN_INLINE unsigned bits_of_mask(Ints mask) {
#if defined(__AVX512DQ__)
        if constexpr (sizeof(mask) == 64 && sizeof(T) == 4) {
            return unsigned(_mm512_movepi32_mask(__m512i(mask)));
        }
        if constexpr (sizeof(mask) == 64 && sizeof(T) == 8) {
            return unsigned(_mm512_movepi64_mask(__m512i(mask)));
        }
#endif
#if defined(__AVX2__)
        if constexpr (sizeof(mask) == 32 && sizeof(T) == 4) {
            return unsigned(_mm256_movemask_ps(__m256(mask)));
        }
        if constexpr (sizeof(mask) == 32 && sizeof(T) == 8) {
            return unsigned(_mm256_movemask_pd(__m256d(mask)));
        }
#endif
#if defined(__SSE2__)
        if constexpr (sizeof(mask) == 16 && sizeof(T) == 4) {
            return unsigned(_mm_movemask_ps(__m128(mask)));
        }
        if constexpr (sizeof(mask) == 16 && sizeof(T) == 8) {
            return unsigned(_mm_movemask_pd(__m128d(mask)));
        }
#endif
        unsigned bits = 0;
        for (int lane = 0; lane < kCount; ++lane)
            bits |= unsigned(mask[lane] & 1) << lane;
        return bits;
    }
};

/// Calls body(Lanes<T, n>{}, channel) so that the calls cover [0, channels): native vectors first,
/// then halves.
template <class T, class Body>
DTNN_INLINE void for_channels(std::int64_t channels, Body body) {
    constexpr int kNative = Simd<T>::kLanes;
    std::int64_t c = 0;
    for (; c + kNative <= channels; c += kNative)
        body(Lanes<T, kNative>{}, c);
    if constexpr (kNative > 8) {
        if (c + 8 <= channels) body(Lanes<T, 8>{}, c), c += 8;
    }
    if constexpr (kNative > 4) {
        if (c + 4 <= channels) body(Lanes<T, 4>{}, c), c += 4;
    }
    if constexpr (kNative > 2) {
        if (c + 2 <= channels) body(Lanes<T, 2>{}, c), c += 2;
    }
    if (c < channels) body(Lanes<T, 1>{}, c);
}

}  // namespace dtnn::kernels::DTNN_ISA
