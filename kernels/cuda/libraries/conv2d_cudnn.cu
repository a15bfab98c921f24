/// Convolutions by cuDNN. What it has been asked is kept (launch.hpp): of the ways to do a
/// convolution the first that an engine takes, in this order: one graph for the convolution and
/// what is done with its sums (Epilogue); the convolution alone, and a kernel of our own behind it;
/// our own convolution (conv2d.hpp), which also does extents of zero and results that are written
/// over an operand. Statistics and gradients of biases are always summed by kernels of our own.

#include <algorithm>
#include <utility>

#include "kernels/cuda/conv2d.hpp"
#include "kernels/cuda/conv_terms.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/libraries/cudnn_graph.hpp"

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
    std::optional<CudnnGraph> graph;  ///< none: our own convolution does it
    bool fused = false;               ///< with what is done with its sums
    bool narrow = false;              ///< gives gradients of weights in 16 bits, to be widened
};

/// Our own convolution is no engine that may be asked for.
template <class Arguments>
void need_no_engine(const Arguments& a) {
    if (a.engine >= 0) throw NoSuchEngine{};
}

/// The first way that an engine takes, behind `skip` other engines. describe(graph, epilogue) adds
/// the operations.
template <class T, class Arguments, class Describe>
ConvWay way_of(const Arguments& a, const Epilogue<T>& epilogue, int& skip,
               const Describe& describe) {
    if (is_empty(a.shape)) return {};
    for (const bool fused : {true, false}) {
        if (!fused && epilogue.empty()) break;
        CudnnGraph graph(numbers_of<T>(a.tf32));
        const bool found = succeeds([&] {
            describe(graph, fused ? epilogue : Epilogue<T>{});
            return graph.plan(scratch_of(a).library, skip);
        });
        if (found) return {std::move(graph), fused, false};
    }
    return {};
}

/// Adds a convolution, convolve(sum), and the operations that lead from the sums to `to`.
template <class T, class Convolve>
void describe_sums(CudnnGraph& graph, const Epilogue<T>& epilogue, const Dims& dims, T* to,
                   const Convolve& convolve) {
    int left = int(epilogue.residual != nullptr) + int(epilogue.bias != nullptr) +
               int(epilogue.relu) + int(epilogue.mask != nullptr);
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
    if (epilogue.mask) graph.relu_gradient(sum, graph.operand(dims, epilogue.mask), next());
}

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(conv2d_cudnn, Conv2dArguments) {
    const ConvShape& s = a.shape;
    const Epilogue<T> epilogue = epilogue_of(a);
    const ConvWay& way = launch.state<ConvWay>([&]() -> ConvWay {
        int skip = std::max(a.engine, 0);
        if (a.residual == a.dst) return {};
        return way_of(a, epilogue, skip, [&](CudnnGraph& graph, const Epilogue<T>& with) {
            const Tensor src = graph.operand(image_dims(s), a.src);
            const Tensor weights = graph.operand(filter_dims(s), a.weights);
            describe_sums(graph, with, result_dims(s), a.dst, [&](Tensor sum) {
                graph.convolution(ConvDirection::forward, s, src, weights, sum);
            });
        });
    });
    if (!way.graph) {
        need_no_engine(a);
        return conv2d_direct(a, launch);
    }
    way.graph->run(launch.stream());
    if (!way.fused) apply_epilogue(launch, epilogue, a.dst, result_of(a));
    sum_statistics(a, launch);
}

DTNN_CUDA_KERNEL_OF_VALUES(conv2d_backward_data_cudnn, Conv2dBackwardDataArguments) {
    const ConvShape& s = a.shape;
    const Epilogue<T> epilogue = epilogue_of(a);
    const ConvWay& way = launch.state<ConvWay>([&]() -> ConvWay {
        int skip = std::max(a.engine, 0);
        if (a.mask == a.diff_src) return {};
        return way_of(a, epilogue, skip, [&](CudnnGraph& graph, const Epilogue<T>& with) {
            const Tensor diff_dst = graph.operand(result_dims(s), a.diff_dst);
            const Tensor weights = graph.operand(filter_dims(s), a.weights);
            describe_sums(graph, with, image_dims(s), a.diff_src, [&](Tensor sum) {
                graph.convolution(ConvDirection::backward_data, s, sum, weights, diff_dst);
            });
        });
    });
    if (!way.graph) {
        need_no_engine(a);
        return conv2d_backward_data_direct(a, launch);
    }
    way.graph->run(launch.stream());
    if (!way.fused) apply_epilogue(launch, epilogue, a.diff_src, image_of(a));
}

DTNN_CUDA_KERNEL_OF_VALUES(conv2d_transpose_cudnn, Conv2dTransposeArguments) {
    conv2d_backward_data_cudnn(a, launch);
}

DTNN_CUDA_KERNEL_OF_VALUES(conv2d_backward_weights_cudnn, Conv2dBackwardWeightsArguments) {
    const ConvShape& s = a.shape;
    const Workspace scratch = scratch_of(a).library;
    const auto narrow_bytes =
        std::size_t(whole_steps(s.weight_elements() * std::int64_t(sizeof(T))));
    const ConvWay& way = launch.state<ConvWay>([&]() -> ConvWay {
        int skip = std::max(a.engine, 0);
        const auto describe = [&](CudnnGraph& graph, auto* to) {
            const Tensor src = graph.operand(image_dims(s), a.src);
            const Tensor diff_dst = graph.operand(result_dims(s), a.diff_dst);
            const Tensor diff_weights = graph.operand(filter_dims(s), to);
            graph.convolution(ConvDirection::backward_weights, s, src, diff_weights, diff_dst);
        };
        ConvWay wide = way_of(a, Epilogue<T>{}, skip, [&](CudnnGraph& graph, const Epilogue<T>&) {
            describe(graph, a.diff_weights);
        });
        if (wide.graph || !kIsReduced<T> || is_empty(s) || narrow_bytes > scratch.size())
            return wide;
        // No engine gives floats of numbers of 16 bits: its sums are rounded once more.
        CudnnGraph graph(numbers_of<T>(a.tf32));
        const bool found = succeeds([&] {
            describe(graph, reinterpret_cast<T*>(scratch.data()));
            return graph.plan(scratch.subspan(narrow_bytes), skip);
        });
        if (found) return {std::move(graph), false, true};
        return {};
    });
    if (!way.graph) {
        need_no_engine(a);
        return conv2d_backward_weights_direct(a, launch);
    }
    way.graph->run(launch.stream());
    if (way.narrow) {
        const auto* const from = reinterpret_cast<const T*>(scratch.data());
        auto* const to = a.diff_weights;
        launch.each(s.weight_elements(),
                    [=] DTNN_DEVICE(std::int64_t i) { to[i] = Wide<T>(from[i]); });
    }
    sum_bias_gradient(a, launch);
}

}  // namespace dtnn::kernels::cuda
