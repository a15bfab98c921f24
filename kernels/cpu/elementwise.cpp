#include "kernels/arguments/elementwise.hpp"

#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Below this many elements waking the team costs more than it saves.
constexpr std::int64_t kExpressionGrain = 4096;

}  // namespace

DTNN_KERNEL(elementwise_chunked, ElementwiseArguments) {
    fill_tiles(a);
    team.for_pieces(a.count, kExpressionGrain, [&](std::int64_t begin, std::int64_t end, int) {
        for_stretches(a, begin, end, end - begin,
                      [&](const T* const* sources, std::int64_t at, std::int64_t count) {
                          evaluate_into(a, sources, at, at + count, a.dst + at);
                      });
    });
}

DTNN_KERNEL(elementwise_relu, ElementwiseArguments) {
    const T* const x = a.sources.data()[0];
    team.for_pieces(a.count, kExpressionGrain, [&](std::int64_t begin, std::int64_t end, int) {
        unary(a.dst + begin, x + begin, end - begin, [](T v) { return v <= 0 ? T(0) : v; });
    });
}

DTNN_KERNEL(elementwise_relu_backward, ElementwiseArguments) {
    const T* const diff = a.sources.data()[0];
    const T* const y = a.sources.data()[1];
    team.for_pieces(a.count, kExpressionGrain, [&](std::int64_t begin, std::int64_t end, int) {
        binary(a.dst + begin, diff + begin, y + begin, end - begin,
               [](T d, T v) { return v > 0 ? d : T(0); });
    });
}

DTNN_KERNEL(elementwise_add, ElementwiseArguments) {
    const T* const x = a.sources.data()[0];
    const T* const y = a.sources.data()[1];
    team.for_pieces(a.count, kExpressionGrain, [&](std::int64_t begin, std::int64_t end, int) {
        binary(a.dst + begin, x + begin, y + begin, end - begin, [](T p, T q) { return p + q; });
    });
}

DTNN_KERNEL(elementwise_add_relu, ElementwiseArguments) {
    const T* const x = a.sources.data()[0];
    const T* const y = a.sources.data()[1];
    team.for_pieces(a.count, kExpressionGrain, [&](std::int64_t begin, std::int64_t end, int) {
        binary(a.dst + begin, x + begin, y + begin, end - begin,
               [](T p, T q) { return p + q <= 0 ? T(0) : p + q; });
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
