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

#ifndef DTNN_ISA
#define DTNN_ISA isa_baseline  // for tools that read a file outside the build
#endif

#define DTNN_INLINE __attribute__((always_inline)) inline

/// Instantiates a CPU kernel for the two floating types.
#define DTNN_KERNEL(function, Arguments)                                 \
    template void function<float>(const Arguments<float>&, ThreadTeam&); \
    template void function<double>(const Arguments<double>&, ThreadTeam&);

namespace dtnn::kernels::DTNN_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

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
    /// The first `count` lanes, 0 <= count <= kLanes; the others are zero and are not touched in
    /// memory.
    static DTNN_INLINE Vector load_first(const T* from, int count) {
        Vector value{};
        for (int lane = 0; lane < kLanes; ++lane) {
            if (lane < count) value[lane] = from[lane];
        }
        return value;
    }
    static DTNN_INLINE void store_first(T* to, Vector value, int count) {
        for (int lane = 0; lane < kLanes; ++lane) {
            if (lane < count) to[lane] = value[lane];
        }
    }
    /// a * b + c; one rounding where the instruction set has it (-ffp-contract=fast).
    static DTNN_INLINE Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }
    static DTNN_INLINE Vector max(Vector a, Vector b) { return a > b ? a : b; }
    static DTNN_INLINE Vector min(Vector a, Vector b) { return a < b ? a : b; }
    /// Lane by lane: mask ? a : b. Masks are what comparisons of vectors give.
    template <class Mask>
    static DTNN_INLINE Vector select(Mask mask, Vector a, Vector b) {
        return mask ? a : b;
    }
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
    static DTNN_INLINE T reduce_max(Vector value) {
        T result = value[0];
        for (int lane = 1; lane < kLanes; ++lane)
            result = result > value[lane] ? result : value[lane];
        return result;
    }
};

}  // namespace dtnn::kernels::DTNN_ISA
