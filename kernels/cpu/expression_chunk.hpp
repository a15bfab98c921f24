#pragma once
/// Elementwise expressions over short stretches: every operation is a loop over a chunk, and the
/// chunks of the stack stay in the first-level cache.

#include <cmath>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/vector_math.hpp"
#include "kernels/workspace/elementwise.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Elements of a chunk: a stack of eight of them stays in the first-level cache.
template <class T>
constexpr std::int64_t kChunk = 2048 / std::int64_t(sizeof(T));
inline constexpr int kStackDepth = 8;

// clang's analyzer does not see that a place of the stack is written before it is read.
// NOLINTBEGIN(clang-analyzer-core.*)

// The destination may be one of the sources: every element is read before it is written, so the
// loops may be vectorised (ivdep), but the pointers are not `restrict`.
template <class T, class Operation>
DTNN_INLINE void unary(T* dst, const T* a, std::int64_t count, Operation operation) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i)
        dst[i] = operation(a[i]);
}

template <class T, class Operation>
DTNN_INLINE void binary(T* dst, const T* a, const T* b, std::int64_t count, Operation operation) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i)
        dst[i] = operation(a[i], b[i]);
}

/// A list of pointers as generated code takes it.
template <class T>
DTNN_INLINE const void* const* untyped(const T* const* sources) {
    return reinterpret_cast<const void* const*>(sources);
}

/// Whole vectors: behind the last element there is room in the chunk.
template <class T>
void by_vector(const void* function, T* data, std::int64_t count) {
    const auto f = reinterpret_cast<UnaryVectorFunction<T>>(const_cast<void*>(function));
    using V = NativeLanes<T>;
    for (std::int64_t i = 0; i < count; i += V::kLanes)
        V::store(data + i, f(V::load(data + i)));
}

template <class T>
void by_vector(const void* function, T* dst, const T* other, std::int64_t count) {
    const auto f = reinterpret_cast<BinaryVectorFunction<T>>(const_cast<void*>(function));
    using V = NativeLanes<T>;
    for (std::int64_t i = 0; i < count; i += V::kLanes)
        V::store(dst + i, f(V::load(dst + i), V::load(other + i)));
}

/// One operation of the stack machine over a chunk. `stack[p]` is the chunk at place p, `top` the
/// last one in use. max and min keep what is not a number.
template <class T>
void apply(Term term, T (*stack)[kChunk<T>], int top, std::int64_t count) {
    T* const b = stack[top];
    T* const a = stack[top > 0 ? top - 1 : 0];
    switch (term) {
        case Term::add:
            binary(a, a, b, count, [](T x, T y) { return x + y; });
            break;
        case Term::sub:
            binary(a, a, b, count, [](T x, T y) { return x - y; });
            break;
        case Term::mul:
            binary(a, a, b, count, [](T x, T y) { return x * y; });
            break;
        case Term::div:
            binary(a, a, b, count, [](T x, T y) { return x / y; });
            break;
        case Term::max:
            binary(a, a, b, count, [](T x, T y) { return x >= y || x != x ? x : y; });
            break;
        case Term::min:
            binary(a, a, b, count, [](T x, T y) { return x <= y || x != x ? x : y; });
            break;
        case Term::gt:
            binary(a, a, b, count, [](T x, T y) { return x > y ? T(1) : T(0); });
            break;
        case Term::ge:
            binary(a, a, b, count, [](T x, T y) { return x >= y ? T(1) : T(0); });
            break;
        case Term::eq:
            binary(a, a, b, count, [](T x, T y) { return x == y ? T(1) : T(0); });
            break;
        case Term::neg:
            unary(b, b, count, [](T x) { return -x; });
            break;
        case Term::abs:
            unary(b, b, count, [](T x) { return x < 0 ? -x : x; });
            break;
        case Term::sqrt:
            unary(b, b, count, [](T x) { return std::sqrt(x); });
            break;
        case Term::exp:
        case Term::expm1:
        case Term::log:
        case Term::log1p:
        case Term::tanh:
        case Term::atanh:
        case Term::sigmoid:
        case Term::erf:
        case Term::floor:
            by_vector(vector_functions<T>()[int(term)], b, count);
            break;
        case Term::square:
            unary(b, b, count, [](T x) { return x * x; });
            break;
        case Term::pow:
            by_vector(vector_functions<T>()[int(term)], a, b, count);
            break;
        case Term::select: {
            T* const condition = stack[top - 2];
#pragma GCC ivdep
            for (std::int64_t i = 0; i < count; ++i) {
                condition[i] = condition[i] != T(0) ? a[i] : b[i];
            }
            break;
        }
        case Term::input:
        case Term::number:
            break;
    }
}

/// The expression for the elements [at, at + count), at most a chunk; the values are left in
/// stack[0].
template <class T>
void evaluate_chunk(const Postfix& expression, const T* const* sources, std::int64_t at,
                    std::int64_t count, T (*stack)[kChunk<T>]) {
    const Instruction* const first = expression.instructions.data();
    const std::size_t instructions = expression.instructions.size();
    int top = -1;
    for (std::size_t place = 0; place < instructions; ++place) {
        const Instruction& instruction = first[place];
        if (instruction.term == Term::input) {
            unary(stack[++top], sources[instruction.index] + at, count, [](T x) { return x; });
        } else if (instruction.term == Term::number) {
            const T value = T(instruction.number);
            T* const constants = stack[++top];
            for (std::int64_t i = 0; i < count; ++i)
                constants[i] = value;
        } else {
            apply<T>(instruction.term, stack, top, count);
            top -= instruction.operands - 1;
        }
    }
}

// NOLINTEND(clang-analyzer-core.*)

/// Repeats the numbers by channel in the workspace, before for_stretches.
template <class T>
void fill_tiles(const ElementwiseArguments<T>& arguments) {
    T* tile = arguments.tiles;
    for (std::size_t s = 0; s < arguments.periods.size(); ++s) {
        const std::int64_t numbers = arguments.periods.data()[s];
        const std::int64_t stride = numbers > 1 ? arguments.channel_stride : 1;
        const std::int64_t all = tile_of(numbers, stride), places = numbers * stride;
        const T* const source = arguments.sources.data()[s];
        for (std::int64_t i = 0; i < all; i += places)
            for (std::int64_t c = 0; c < places && i + c < all; ++c)
                tile[i + c] = source[stride == 1 ? c : c / stride];
        tile += all;
    }
}

/// use(sources, at, count) for stretches of at most `most` elements that follow each other in
/// [first, last): element i of source s is sources[s][i].
template <class T, class Use>
DTNN_INLINE void for_stretches(const ElementwiseArguments<T>& arguments, std::int64_t first,
                               std::int64_t last, std::int64_t most, const Use& use) {
    const T* const* const given = arguments.sources.data();
    const std::size_t tiled = arguments.periods.size();
    if (tiled == 0) {
        for (std::int64_t at = first; at < last; at += most)
            use(given, at, last - at < most ? last - at : most);
        return;
    }
    const T* sources[kMostTiledSources];
    if (most > kTile) most = kTile;
    for (std::int64_t at = first; at < last;) {
        std::int64_t count = last - at < most ? last - at : most;
        const T* tile = arguments.tiles;
        for (std::size_t s = 0; s < tiled; ++s) {
            const std::int64_t numbers = arguments.periods.data()[s];
            sources[s] = given[s];
            if (numbers == 0) continue;
            const std::int64_t stride = numbers > 1 ? arguments.channel_stride : 1;
            const std::int64_t length = tile_of(numbers, stride), places = numbers * stride;
            const std::int64_t place = at % places;
            sources[s] = (length > 0 ? tile : given[s]) + place - at;
            // Numbers that are not repeated end with their row.
            if (length <= places && places - place < count) count = places - place;
            tile += length;
        }
        use(sources, at, count);
        at += count;
    }
}

/// dst[i - first] of sources[0][i], ..., for first <= i < last, for a kernel that makes the sources
/// itself; dst may be where one of them has element `first`.
template <class T>
DTNN_INLINE void evaluate_into(const ElementwiseArguments<T>& arguments, const T* const* sources,
                               std::int64_t first, std::int64_t last, T* dst) {
    if (arguments.loop != nullptr) {
        arguments.loop(dst, untyped(sources), first, last, arguments.functions);
        return;
    }
    alignas(64) T stack[kStackDepth][kChunk<T>];
    for (std::int64_t at = first; at < last; at += kChunk<T>) {
        const std::int64_t count = last - at < kChunk<T> ? last - at : kChunk<T>;
        evaluate_chunk<T>(arguments.expression, sources, at, count, stack);
        unary(dst + (at - first), stack[0], count, [](T x) { return x; });
    }
}

/// data[i] = the expression of data[i] for first <= i < first + count.
template <class T>
void rewrite(const ElementwiseArguments<T>& arguments, T* data, std::int64_t first,
             std::int64_t count) {
    const T* const sources[] = {data};
    evaluate_into(arguments, sources, first, first + count, data + first);
}

/// use(values, at, count) for the values of the expression in [first, last), a chunk at a time;
/// `stack` is where they are worked out.
template <class T, class Use>
DTNN_INLINE void for_values(const ElementwiseArguments<T>& arguments, std::int64_t first,
                            std::int64_t last, T (*stack)[kChunk<T>], const Use& use) {
    for_stretches(arguments, first, last, kChunk<T>,
                  [&](const T* const* sources, std::int64_t at, std::int64_t count) {
                      if (arguments.loop != nullptr)
                          arguments.loop(stack[0], untyped(sources), at, at + count,
                                         arguments.functions);
                      else
                          evaluate_chunk<T>(arguments.expression, sources, at, count, stack);
                      use(stack[0], at, count);
                  });
}

}  // namespace dtnn::kernels::DTNN_ISA
