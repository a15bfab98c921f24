#include "kernels/arguments/elementwise.hpp"

#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Below this many elements waking the team costs more than it saves.
constexpr std::int64_t kExpressionGrain = 4096;

}  // namespace

template <class T>
void elementwise_chunked(const ElementwiseArguments<T>& arguments, ThreadTeam& team) {
    fill_tiles(arguments);
    if (arguments.loop != nullptr) {
        team.for_pieces(
            arguments.count, kExpressionGrain, [&](std::int64_t begin, std::int64_t end, int) {
                for_stretches(arguments, begin, end, end - begin,
                              [&](const T* const* sources, std::int64_t at, std::int64_t count) {
                                  arguments.loop(arguments.dst + at, untyped(sources), at,
                                                 at + count, arguments.functions);
                              });
            });
        return;
    }
    team.for_pieces(
        arguments.count, kExpressionGrain, [&](std::int64_t begin, std::int64_t end, int) {
            alignas(64) T stack[kStackDepth][kChunk<T>];
            for_values(arguments, begin, end, stack,
                       [&](const T* values, std::int64_t at, std::int64_t count) {
                           unary(arguments.dst + at, values, count, [](T x) { return x; });
                       });
        });
}

template <class T>
void elementwise_relu(const ElementwiseArguments<T>& arguments, ThreadTeam& team) {
    const T* const x = arguments.sources.data()[0];
    team.for_pieces(arguments.count, kExpressionGrain,
                    [&](std::int64_t begin, std::int64_t end, int) {
                        unary(arguments.dst + begin, x + begin, end - begin,
                              [](T v) { return v <= 0 ? T(0) : v; });
                    });
}

template <class T>
void elementwise_relu_backward(const ElementwiseArguments<T>& arguments, ThreadTeam& team) {
    const T* const diff = arguments.sources.data()[0];
    const T* const y = arguments.sources.data()[1];
    team.for_pieces(arguments.count, kExpressionGrain,
                    [&](std::int64_t begin, std::int64_t end, int) {
                        binary(arguments.dst + begin, diff + begin, y + begin, end - begin,
                               [](T d, T v) { return v > 0 ? d : T(0); });
                    });
}

template <class T>
void elementwise_add(const ElementwiseArguments<T>& arguments, ThreadTeam& team) {
    const T* const a = arguments.sources.data()[0];
    const T* const b = arguments.sources.data()[1];
    team.for_pieces(arguments.count, kExpressionGrain,
                    [&](std::int64_t begin, std::int64_t end, int) {
                        binary(arguments.dst + begin, a + begin, b + begin, end - begin,
                               [](T x, T y) { return x + y; });
                    });
}

template <class T>
void elementwise_add_relu(const ElementwiseArguments<T>& arguments, ThreadTeam& team) {
    const T* const a = arguments.sources.data()[0];
    const T* const b = arguments.sources.data()[1];
    team.for_pieces(arguments.count, kExpressionGrain,
                    [&](std::int64_t begin, std::int64_t end, int) {
                        binary(arguments.dst + begin, a + begin, b + begin, end - begin,
                               [](T x, T y) { return x + y <= 0 ? T(0) : x + y; });
                    });
}

DTNN_KERNEL(elementwise_chunked, ElementwiseArguments)
DTNN_KERNEL(elementwise_relu, ElementwiseArguments)
DTNN_KERNEL(elementwise_relu_backward, ElementwiseArguments)
DTNN_KERNEL(elementwise_add, ElementwiseArguments)
DTNN_KERNEL(elementwise_add_relu, ElementwiseArguments)

}  // namespace dtnn::kernels::DTNN_ISA
