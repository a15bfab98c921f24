#pragma once
/// Elementwise expressions over short stretches: every operation is a loop over a chunk, and the
/// chunks of the stack stay in the first-level cache, but for the deepest.

#include <cmath>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/vector_math.hpp"
#include "kernels/workspace/elementwise.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Elements of a chunk: those that most expressions need stay in the first-level cache.
template <class T>
constexpr std::int64_t kChunk = 2048 / std::int64_t(sizeof(T));

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

/// What a step reads of a chunk: elements, or where there are none the same number everywhere.
template <class T>
struct ChunkOperand {
    const T* data = nullptr;
    T number = 0;
};

template <class T>
DTNN_INLINE void fill(T* dst, T value, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        dst[i] = value;
}

template <class T>
DTNN_INLINE void copy(T* dst, const T* a, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        dst[i] = a[i];
}

template <class T, class Operation>
DTNN_INLINE void unary(T* dst, const ChunkOperand<T>& a, std::int64_t count, Operation operation) {
    if (a.data == nullptr) return fill(dst, operation(a.number), count);
    unary(dst, a.data, count, operation);
}

template <class T, class Operation>
DTNN_INLINE void binary(T* dst, const ChunkOperand<T>& a, const ChunkOperand<T>& b,
                        std::int64_t count, Operation operation) {
    const T x = a.number, y = b.number;
    if (a.data != nullptr && b.data != nullptr)
        return binary(dst, a.data, b.data, count, operation);
    if (a.data != nullptr)
        return unary(dst, a.data, count, [=](T each) { return operation(each, y); });
    if (b.data != nullptr)
        return unary(dst, b.data, count, [=](T each) { return operation(x, each); });
    fill(dst, operation(x, y), count);
}

template <class T>
DTNN_INLINE void select(T* dst, const ChunkOperand<T>& condition, const ChunkOperand<T>& a,
                        const ChunkOperand<T>& b, std::int64_t count) {
    const T x = a.number, y = b.number;
    if (condition.data == nullptr)
        return unary(dst, condition.number != T(0) ? a : b, count, [](T each) { return each; });
    if (a.data == nullptr)
        return binary(dst, condition, b, count, [=](T c, T each) { return c != T(0) ? x : each; });
    if (b.data == nullptr)
        return binary(dst, condition, a, count, [=](T c, T each) { return c != T(0) ? each : y; });
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i)
        dst[i] = condition.data[i] != T(0) ? a.data[i] : b.data[i];
}

/// A function of vectors, of the operands' elements: whole vectors, then what is left.
template <class T, class... Operands>
DTNN_INLINE void by_vector(const void* function, T* dst, std::int64_t count,
                           const Operands&... operands) {
    using V = NativeLanes<T>;
    using Function = typename V::Vector (*)(typename Operands::Vector...);
    const auto f = reinterpret_cast<Function>(const_cast<void*>(function));
    const std::int64_t whole = count - count % V::kLanes;
    for (std::int64_t i = 0; i < whole; i += V::kLanes)
        V::store(dst + i, f(operands.at(i)...));
    if (whole == count) return;
    alignas(64) T last[V::kLanes];
    V::store(last, f(operands.some(whole, count - whole)...));
    for (std::int64_t i = whole; i < count; ++i)
        dst[i] = last[i - whole];
}

template <class T>
struct VectorOperand {
    using V = NativeLanes<T>;
    using Vector = typename V::Vector;

    const ChunkOperand<T>& from;

    DTNN_INLINE Vector at(std::int64_t i) const {
        return from.data != nullptr ? V::load(from.data + i) : V::broadcast(from.number);
    }
    DTNN_INLINE Vector some(std::int64_t begin, std::int64_t count) const {
        alignas(64) T all[V::kLanes];
        for (std::int64_t i = 0; i < V::kLanes; ++i)
            all[i] = from.data != nullptr && i < count ? from.data[begin + i] : from.number;
        return V::load(all);
    }
};

/// Whether max and min of `a` and `b` are one instruction, to the same bits: elements, which may be
/// no numbers, and a number.
template <class T>
DTNN_INLINE bool is_bound(const ChunkOperand<T>& a, const ChunkOperand<T>& b) {
    return a.data != nullptr && b.data == nullptr && b.number == b.number;
}

/// One step over a chunk. max and min keep what is not a number.
template <class T>
void apply(Term term, T* dst, const ChunkOperand<T>* operands, std::int64_t count) {
    const ChunkOperand<T>&a = operands[0], &b = operands[1];
    switch (term) {
        case Term::add:
            binary(dst, a, b, count, [](T x, T y) { return x + y; });
            break;
        case Term::sub:
            binary(dst, a, b, count, [](T x, T y) { return x - y; });
            break;
        case Term::mul:
            binary(dst, a, b, count, [](T x, T y) { return x * y; });
            break;
        case Term::div:
            binary(dst, a, b, count, [](T x, T y) { return x / y; });
            break;
        case Term::max:
            if (is_bound(a, b))
                unary(dst, a.data, count, [y = b.number](T x) { return y > x ? y : x; });
            else
                binary(dst, a, b, count, [](T x, T y) { return x >= y || x != x ? x : y; });
            break;
        case Term::min:
            if (is_bound(a, b))
                unary(dst, a.data, count, [y = b.number](T x) { return y < x ? y : x; });
            else
                binary(dst, a, b, count, [](T x, T y) { return x <= y || x != x ? x : y; });
            break;
        case Term::gt:
            binary(dst, a, b, count, [](T x, T y) { return x > y ? T(1) : T(0); });
            break;
        case Term::ge:
            binary(dst, a, b, count, [](T x, T y) { return x >= y ? T(1) : T(0); });
            break;
        case Term::eq:
            binary(dst, a, b, count, [](T x, T y) { return x == y ? T(1) : T(0); });
            break;
        case Term::neg:
            unary(dst, a, count, [](T x) { return -x; });
            break;
        case Term::abs:
            unary(dst, a, count, [](T x) { return x < 0 ? -x : x; });
            break;
        case Term::sqrt:
            unary(dst, a, count, [](T x) { return std::sqrt(x); });
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
            by_vector(vector_functions<T>()[int(term)], dst, count, VectorOperand<T>{a});
            break;
        case Term::square:
            unary(dst, a, count, [](T x) { return x * x; });
            break;
        case Term::pow:
            by_vector(vector_functions<T>()[int(term)], dst, count, VectorOperand<T>{a},
                      VectorOperand<T>{b});
            break;
        case Term::select:
            select(dst, a, b, operands[2], count);
            break;
        case Term::input:
        case Term::number:
            break;
    }
}

/// The expression for the elements [at, at + count), at most a chunk: dst[i - at], which may be one
/// of the sources, or the first slot.
template <class T>
void evaluate_chunk(const ExpressionSteps& expression, const T* const* sources, std::int64_t at,
                    std::int64_t count, T (*slots)[kChunk<T>], T* dst) {
    const auto read = [&](const StepOperand& operand) {
        ChunkOperand<T> chunk;
        if (operand.from == StepOperand::From::input) chunk.data = sources[operand.index] + at;
        if (operand.from == StepOperand::From::slot) chunk.data = slots[operand.index];
        if (operand.from == StepOperand::From::number) chunk.number = T(operand.number);
        return chunk;
    };
    const std::size_t steps = expression.steps.size();
    if (steps == 0) return unary(dst, read(expression.value), count, [](T each) { return each; });
    for (std::size_t place = 0; place < steps; ++place) {
        const ExpressionStep& step = expression.steps.data()[place];
        const ChunkOperand<T> operands[] = {read(step.operands[0]), read(step.operands[1]),
                                            read(step.operands[2])};
        apply<T>(step.term, place + 1 < steps ? slots[step.slot] : dst, operands, count);
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
    alignas(64) T slots[kExpressionSlots][kChunk<T>];
    for (std::int64_t at = first; at < last; at += kChunk<T>) {
        const std::int64_t count = last - at < kChunk<T> ? last - at : kChunk<T>;
        evaluate_chunk<T>(arguments.steps, sources, at, count, slots, dst + (at - first));
    }
}

/// data[i] = the expression of data[i] for first <= i < first + count.
template <class T>
void rewrite(const ElementwiseArguments<T>& arguments, T* data, std::int64_t first,
             std::int64_t count) {
    const T* const sources[] = {data};
    evaluate_into(arguments, sources, first, first + count, data + first);
}

/// row(r)[j] = the expression of itself for 0 <= r < rows and 0 <= j < columns; rows are in the
/// order of their memory. Those that follow each other are one stretch. Without a loop, short rows
/// that do not are gathered to a chunk: its steps are read once for all of them.
template <class T, class Row>
DTNN_INLINE void rewrite_rows(const ElementwiseArguments<T>& arguments, std::int64_t rows,
                              std::int64_t columns, const Row& row) {
    const std::int64_t most = kChunk<T> / columns;
    const bool whole = rows > 0 && row(rows - 1) - row(0) == (rows - 1) * columns;
    if (arguments.loop != nullptr || most < 2 || whole) {
        for (std::int64_t first = 0, last = 0; first < rows; first = last) {
            for (last = first + 1; last < rows && row(last) == row(last - 1) + columns;)
                ++last;
            rewrite(arguments, row(first), 0, (last - first) * columns);
        }
        return;
    }
    alignas(64) T slots[kExpressionSlots][kChunk<T>];
    alignas(64) T gathered[kChunk<T>];
    const T* const sources[] = {gathered};
    for (std::int64_t begin = 0; begin < rows; begin += most) {
        const std::int64_t count = rows - begin < most ? rows - begin : most;
        for (std::int64_t r = 0; r < count; ++r)
            copy(gathered + r * columns, row(begin + r), columns);
        evaluate_chunk<T>(arguments.steps, sources, 0, count * columns, slots, gathered);
        for (std::int64_t r = 0; r < count; ++r)
            copy(row(begin + r), gathered + r * columns, columns);
    }
}

/// use(values, at, count) for the values of the expression in [first, last), a chunk at a time;
/// `slots` are where they are worked out.
template <class T, class Use>
DTNN_INLINE void for_values(const ElementwiseArguments<T>& arguments, std::int64_t first,
                            std::int64_t last, T (*slots)[kChunk<T>], const Use& use) {
    for_stretches(arguments, first, last, kChunk<T>,
                  [&](const T* const* sources, std::int64_t at, std::int64_t count) {
                      if (arguments.loop != nullptr)
                          arguments.loop(slots[0], untyped(sources), at, at + count,
                                         arguments.functions);
                      else
                          evaluate_chunk<T>(arguments.steps, sources, at, count, slots, slots[0]);
                      use(slots[0], at, count);
                  });
}

}  // namespace dtnn::kernels::DTNN_ISA
