/// Convolutions by cuDNN and cuBLASLt. What they have been asked is kept (launch.hpp): of the ways
/// to do a convolution the first that an engine takes, in this order: a product of matrices, where
/// a convolution is one (windows of one pixel) or its gradient of weights is best made one
/// (columns, below); one graph of cuDNN for the convolution and what is done with its sums
/// (Epilogue); the convolution alone, and a kernel of our own behind it; our own convolution
/// (conv2d.hpp), which also does extents of zero and results that are written over an operand.
/// Statistics and gradients of biases are always summed by kernels of our own.

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/conv2d.hpp"
#include "kernels/cuda/conv_columns.hpp"
#include "kernels/cuda/conv_terms.hpp"
#include "kernels/cuda/gather_columns.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/libraries/cudnn_graph.hpp"
#include "kernels/cuda/libraries/matmul.hpp"

namespace dtnn::kernels::cuda {
namespace {

using Dims = CudnnGraph::Dims;
using Tensor = CudnnGraph::Tensor;

template <class T>
CudnnNumbers numbers_of(bool tf32) {
    return {kCudnnType<Wide<T>>, !std::is_same_v<T, float>, tf32};
}

Dims image_dims(const ConvShape& s) {
    return {s.batch, s.channels, s.height, s.width};
}
Dims filter_dims(const ConvShape& s) {
    return {s.filters, s.group_channels(), s.kernel_height, s.kernel_width};
}
Dims result_dims(const ConvShape& s) {
    return {s.batch, s.filters, s.out_height, s.out_width};
}

struct ConvWay {
    std::optional<CudnnGraph> graph;
    bool fused = false;                ///< with what is done with its sums
    const float* unrounded = nullptr;  ///< the sums, where what is done with them is left to us
    /// In place of a graph. Neither: our own convolution does it.
    std::function<void(const Launch&)> product;

    bool found() const { return graph || product; }
    void run(const Launch& launch) const {
        if (product) {
            product(launch);
        } else {
            graph->run(launch.stream());
        }
    }
};

/// Our own convolution is no engine that may be asked for.
template <class Arguments>
void need_no_engine(const Arguments& a) {
    if (a.engine >= 0) throw NoSuchEngine{};
}

/// The product with its epilogue, behind `skip` other engines; none: cuBLASLt does not do it.
template <class T, class D>
std::function<void(const Launch&)> product_of(const Product<T, D>& product,
                                              const Epilogue<T>& epilogue, Workspace scratch,
                                              int& skip) {
    auto planned = Matmul<T, D>::plan(product, epilogue, scratch, skip);
    if (!planned) return {};
    const auto shared = std::make_shared<Matmul<T, D>>(std::move(*planned));
    return [shared](const Launch& launch) { shared->run(launch.stream()); };
}

/// Of a convolution whose windows are one pixel; product(result) describes it.
template <class T, class Arguments>
ConvWay pointwise_way_of(const Arguments& a, const Epilogue<T>& epilogue,
                         const Product<T, T>& product, int& skip) {
    // cuBLASLt wants the bias in the type of the result, and we have it in floats.
    const bool takes_bias = !kIsReduced<T> || !epilogue.bias;
    if (!is_pointwise(a.shape) || epilogue.residual || epilogue.mask || !takes_bias) return {};
    return {std::nullopt, true, nullptr,
            product_of(product, epilogue, scratch_of(a).library, skip)};
}

/// The gradient of weights as the product of columns (conv_columns.hpp) and diff_dst, a part of the
/// pixels after the other, because all columns would be too many.
template <class T>
ConvWay columns_way_of(const Conv2dBackwardWeightsArguments<T>& a, int& skip) {
    const ConvShape& s = a.shape;
    const Workspace scratch = scratch_of(a).library;
    const ColumnRoom room = column_room(s, sizeof(T), std::int64_t(scratch.size()));
    if (room.rows == 0) return {};
    auto* const columns = reinterpret_cast<T*>(scratch.data());
    const Workspace rest = scratch.subspan(std::size_t(room.bytes));
    std::vector<std::function<void(const Launch&)>> parts;
    const int asked = skip;
    for (std::int64_t first = 0; first < s.out_pixels(); first += room.rows) {
        const std::int64_t rows = std::min(room.rows, s.out_pixels() - first);
        skip = asked;
        auto product =
            product_of<T, Wide<T>>({{columns, s.taps() * s.channels, rows, false, room.stride},
                                    {a.diff_dst + first * s.filters, s.filters, rows, true},
                                    {a.diff_weights, s.taps() * s.channels, s.filters},
                                    a.tf32,
                                    first > 0},
                                   {}, rest, skip);
        if (!product) return {};
        parts.push_back([=, src = a.src](const Launch& launch) {
            gather_columns(launch, s, src, first, rows, room.stride, columns);
            product(launch);
        });
    }
    return {std::nullopt, true, nullptr, [parts](const Launch& launch) {
                for (const auto& part : parts)
                    part(launch);
            }};
}

/// The first graph that an engine takes, behind `skip` other engines, to a result of so many cells.
/// describe(graph, epilogue, to) adds the operations.
template <class T, class Arguments, class To, class Describe>
ConvWay graph_way_of(const Arguments& a, const Epilogue<T>& epilogue, To* to, std::int64_t cells,
                     int& skip, const Describe& describe) {
    const Workspace scratch = scratch_of(a).library;
    const auto planned = [&](const Epilogue<T>& with, auto* where, Workspace room) {
        std::optional<CudnnGraph> graph(numbers_of<T>(a.tf32));
        const bool found = succeeds([&] {
            describe(*graph, with, where);
            return graph->plan(room, skip);
        });
        return found ? std::move(graph) : std::nullopt;
    };
    if (auto graph = planned(epilogue, to, scratch)) return {std::move(graph), true};
    if (epilogue.empty()) return {};
    if constexpr (kIsReduced<T>) {
        const Unrounded unrounded(scratch, cells);
        if (unrounded.sums == nullptr) return {};
        return {planned({}, unrounded.sums, unrounded.rest), false, unrounded.sums};
    } else {
        return {planned({}, to, scratch), false};
    }
}

/// Adds a convolution, convolve(sum), and the operations that lead from the sums to `to`.
template <class T, class To, class Convolve>
void describe_sums(CudnnGraph& graph, const Epilogue<T>& epilogue, const Dims& dims, To* to,
                   const Convolve& convolve) {
    // Sums of products of 16 bits are given as floats by an operation behind them alone.
    constexpr bool kUnrounded = !std::is_same_v<To, T>;
    int left = int(epilogue.residual != nullptr) + int(epilogue.bias != nullptr) +
               int(epilogue.relu) + int(epilogue.mask != nullptr) + int(kUnrounded);
    const auto next = [&] {
        return left-- == 0 ? graph.operand(dims, to) : graph.intermediate(dims);
    };
    Tensor sum = next();
    convolve(sum);
    // In this order, because it is the one that engines which are compiled beforehand know.
    if (epilogue.residual) {
        const Tensor more = next();
        graph.pointwise(CUDNN_POINTWISE_ADD, sum, graph.operand(dims, epilogue.residual), more);
        sum = more;
    }
    if (epilogue.bias) {
        const Tensor more = next();
        graph.pointwise(CUDNN_POINTWISE_ADD, sum, graph.operand({1, dims[1], 1, 1}, epilogue.bias),
                        more);
        sum = more;
    }
    if (epilogue.relu) {
        const Tensor more = next();
        graph.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, {}, more);
        sum = more;
    }
    if (epilogue.mask) {
        const Tensor more = next();
        graph.relu_gradient(sum, graph.operand(dims, epilogue.mask), more);
        sum = more;
    }
    if (kUnrounded) graph.pointwise(CUDNN_POINTWISE_IDENTITY, sum, {}, next());
}

/// What a way leaves to us.
template <class T>
void finish(const ConvWay& way, const Epilogue<T>& epilogue, T* to, const ImageLayout& layout,
            const Launch& launch) {
    if (way.fused) return;
    if (way.unrounded != nullptr) {
        apply_epilogue(launch, epilogue, way.unrounded, to, layout);
    } else {
        apply_epilogue(launch, epilogue, to, to, layout);
    }
}

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(conv2d_cudnn, Conv2dArguments) {
    const ConvShape& s = a.shape;
    const Epilogue<T> epilogue = epilogue_of(a);
    const ConvWay& way = launch.state<ConvWay>([&]() -> ConvWay {
        if (a.residual == a.dst || is_empty(s)) return {};
        int skip = std::max(a.engine, 0);
        const Product<T, T> product{{a.weights, s.channels, s.filters, true},
                                    {a.src, s.channels, s.pixels()},
                                    {a.dst, s.filters, s.pixels()},
                                    a.tf32};
        if (auto way = pointwise_way_of(a, epilogue, product, skip); way.found()) return way;
        return graph_way_of(a, epilogue, a.dst, s.out_pixels() * s.filters, skip,
                            [&](CudnnGraph& graph, const Epilogue<T>& with, auto* to) {
                                const Tensor src = graph.operand(image_dims(s), a.src);
                                const Tensor weights = graph.operand(filter_dims(s), a.weights);
                                describe_sums(graph, with, result_dims(s), to, [&](Tensor sum) {
                                    graph.convolution(ConvDirection::forward, s, src, weights, sum);
                                });
                            });
    });
    if (!way.found()) {
        need_no_engine(a);
        return conv2d_direct(a, launch);
    }
    way.run(launch);
    finish(way, epilogue, a.dst, result_of(a), launch);
}

DTNN_CUDA_KERNEL_OF_VALUES(conv2d_backward_data_cudnn, Conv2dBackwardDataArguments) {
    const ConvShape& s = a.shape;
    const Epilogue<T> epilogue = epilogue_of(a);
    const ConvWay& way = launch.state<ConvWay>([&]() -> ConvWay {
        if (a.mask == a.diff_src || is_empty(s)) return {};
        int skip = std::max(a.engine, 0);
        const Product<T, T> product{{a.weights, s.channels, s.filters},
                                    {a.diff_dst, s.filters, s.pixels()},
                                    {a.diff_src, s.channels, s.pixels()},
                                    a.tf32};
        if (auto way = pointwise_way_of(a, epilogue, product, skip); way.found()) return way;
        return graph_way_of(a, epilogue, a.diff_src, s.pixels() * s.channels, skip,
                            [&](CudnnGraph& graph, const Epilogue<T>& with, auto* to) {
                                const Tensor diff_dst = graph.operand(result_dims(s), a.diff_dst);
                                const Tensor weights = graph.operand(filter_dims(s), a.weights);
                                describe_sums(graph, with, image_dims(s), to, [&](Tensor sum) {
                                    graph.convolution(ConvDirection::backward_data, s, sum, weights,
                                                      diff_dst);
                                });
                            });
    });
    if (!way.found()) {
        need_no_engine(a);
        return conv2d_backward_data_direct(a, launch);
    }
    way.run(launch);
    finish(way, epilogue, a.diff_src, image_of(a), launch);
}

DTNN_CUDA_KERNEL_OF_VALUES(conv2d_transpose_cudnn, Conv2dTransposeArguments) {
    conv2d_backward_data_cudnn(a, launch);
}

DTNN_CUDA_KERNEL_OF_VALUES(conv2d_backward_weights_cudnn, Conv2dBackwardWeightsArguments) {
    const ConvShape& s = a.shape;
    const ConvWay& way = launch.state<ConvWay>([&]() -> ConvWay {
        if (is_empty(s)) return {};
        int skip = std::max(a.engine, 0);
        if (is_pointwise(s)) {
            const Product<T, Wide<T>> product{{a.src, s.channels, s.pixels()},
                                              {a.diff_dst, s.filters, s.pixels(), true},
                                              {a.diff_weights, s.channels, s.filters},
                                              a.tf32};
            if (auto made = product_of(product, Epilogue<T>{}, scratch_of(a).library, skip))
                return {std::nullopt, true, nullptr, std::move(made)};
        }
        if (auto way = columns_way_of(a, skip); way.found()) return way;
        return graph_way_of(a, Epilogue<T>{}, a.diff_weights, s.weight_elements(), skip,
                            [&](CudnnGraph& graph, const Epilogue<T>& with, auto* to) {
                                const Tensor src = graph.operand(image_dims(s), a.src);
                                const Tensor diff_dst = graph.operand(result_dims(s), a.diff_dst);
                                describe_sums(graph, with, filter_dims(s), to, [&](Tensor sum) {
                                    graph.convolution(ConvDirection::backward_weights, s, src, sum,
                                                      diff_dst);
                                });
                            });
    });
    if (!way.found()) {
        need_no_engine(a);
        return conv2d_backward_weights_direct(a, launch);
    }
    way.run(launch);
    sum_bias_gradient(a, launch);
}

}  // namespace dtnn::kernels::cuda
