#pragma once
/// Register tiles of matrix products: R rows of scalars, each broadcast against V vectors of L
/// lanes, the sums staying in registers over the whole inner dimension. R, V and L are chosen so
/// that the sums fill the register file; loops over them are unrolled by templates, because only
/// constant subscripts keep an array in registers. Included by files that are compiled once per
/// instruction set, hence everything here is internal to each.

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// 8 rows by 2 or 3 vectors of 32 registers, 6 by 2 of 16. Three only where panels, which plans
/// book, are as wide.
inline constexpr int kTileRows = kVectorRegisters == 32 ? 8 : 6;
inline constexpr int kTileVectors = kVectorBytes == 64 ? 3 : 2;  ///< at most

template <class T>
inline constexpr int kLanes = kVectorBytes / int(sizeof(T));

template <class T, int L>
struct VectorOf {
    typedef T Type __attribute__((vector_size(sizeof(T) * L)));
    typedef T Unaligned __attribute__((vector_size(sizeof(T) * L), aligned(alignof(T)), may_alias));
};
template <class T, int L>
using Vector = typename VectorOf<T, L>::Type;

#define DTNN_UNROLLED __attribute__((always_inline))

template <class T, int L>
DTNN_INLINE Vector<T, L> load(const T* from) {
    return *reinterpret_cast<const typename VectorOf<T, L>::Unaligned*>(from);
}

template <class T, int L>
DTNN_INLINE void store(T* to, Vector<T, L> value) {
    *reinterpret_cast<typename VectorOf<T, L>::Unaligned*>(to) = value;
}

template <class T, int L>
DTNN_INLINE Vector<T, L> broadcast(T value) {
    return value - Vector<T, L>{};
}

template <class Body, int... I>
DTNN_INLINE void unroll_indices(std::integer_sequence<int, I...>, Body&& body) {
    (body(std::integral_constant<int, I>{}), ...);
}

/// body(0) .. body(N-1), each with its index as a constant.
template <int N, class Body>
DTNN_INLINE void unroll(Body&& body) {
    unroll_indices(std::make_integer_sequence<int, N>{}, body);
}

template <int... i>
using Indices = std::integer_sequence<int, i...>;

/// body(Indices<0, ..., N-1>): for a fold over them. Far less to compile than `unroll`, which makes
/// a function of every index.
template <int N, class Body>
DTNN_INLINE void expand(Body&& body) {
    body(std::make_integer_sequence<int, N>{});
}

/// Bytes that caches may still hold of what the operator before has written: beyond, memory is
/// waited for, and what comes next is worth asking for.
inline constexpr std::int64_t kCachedBytes = std::int64_t{12} << 20;

/// Memory that is wanted soon: a line of it is asked for at every step of an inner loop, so that it
/// comes while there is arithmetic to do. What lies past its end is only asked for, never read.
struct Ahead {
    const char* at = nullptr;
    std::int64_t step = 0;  ///< bytes; 0: nothing is wanted
};

/// sums[r][v] += rows[r][k] * panel[k][v] over k in [0, length), v in [0, V*L); rows of the panel
/// are `stride` elements apart.
template <class T, int L, int R, int V>
DTNN_INLINE void multiply_rows(Vector<T, L> (&sums)[R][V], const T* const* rows,
                               std::int64_t length, const T* panel, std::int64_t stride,
                               Ahead& ahead) {
    const T* row[R];
    const char* at = ahead.at;
    const std::int64_t step = ahead.step;
    unroll<R>([&](auto r) DTNN_UNROLLED { row[r] = rows[r]; });
    for (std::int64_t k = 0; k < length; ++k, panel += stride, at += step) {
        __builtin_prefetch(at);
        Vector<T, L> b[V];
        unroll<V>([&](auto v) DTNN_UNROLLED { b[v] = load<T, L>(panel + v * L); });
        unroll<R>([&](auto r) DTNN_UNROLLED {
            const Vector<T, L> a = broadcast<T, L>(row[r][k]);
            unroll<V>([&](auto v) DTNN_UNROLLED { sums[r][v] += a * b[v]; });
        });
    }
    ahead.at = at;
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
