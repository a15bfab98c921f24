/// Dense layers by cuBLASLt. What it has been asked is kept (launch.hpp): of the ways to do a
/// product the first for which it has an algorithm, in this order: with bias and relu in it; alone,
/// and a kernel of our own behind it; our own convolution of one-pixel images (conv2d.hpp), which
/// also does extents of zero and results that are written over an operand. Sums of gradients are
/// always made by kernels of our own.
///
/// cuBLASLt has columns one after the other, our matrices have rows: what it sees is each matrix's
/// transpose, so D = A B is asked for as transpose(D) = transpose(B) transpose(A). In its words,
/// with N the batch, K the channels, U the units:
///   dense                    dst [U,N] = weights [U,K] src [K,N]
///   dense_backward_data      diff_src [K,N] = transpose(weights [U,K]) diff_dst [U,N]
///   dense_backward_weights   diff_weights [U,K] = diff_dst [U,N] transpose(src [K,N])

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/conv2d.hpp"
#include "kernels/cuda/conv_terms.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/libraries/matmul.hpp"

namespace dtnn::kernels::cuda {
namespace {

template <class T, class D = T>
struct DenseWay {
    std::optional<Matmul<T, D>> matmul;
    /// The sums as floats, where what is done with them is left to us. Neither: our own convolution
    /// does it.
    std::optional<Matmul<T, float>> unrounded;
    bool fused = false;  ///< with bias and relu

    bool found() const { return matmul || unrounded; }
    void run(Stream stream) const {
        if (matmul) {
            matmul->run(stream);
        } else {
            unrounded->run(stream);
        }
    }
};

/// The first way for which there is an algorithm.
template <class T, class D, class Arguments>
DenseWay<T, D> way_of(const Arguments& a, const Epilogue<T>& epilogue,
                      const Product<T, D>& product) {
    if (is_empty(a.shape)) return {};
    int skip = std::max(a.engine, 0);
    const Workspace scratch = scratch_of(a).library;
    // cuBLASLt wants the bias in the type of the result, and we have it in floats.
    const bool takes_bias = !kIsReduced<T> || !epilogue.bias;
    if (!epilogue.residual && !epilogue.mask && takes_bias)
        if (auto matmul = Matmul<T, D>::plan(product, epilogue, scratch, skip))
            return {std::move(matmul), std::nullopt, true};
    if constexpr (kIsReduced<T>) {
        const Unrounded unrounded(scratch, product.d.rows * product.d.columns);
        if (unrounded.sums == nullptr) return {};
        const Matrix<float> sums{unrounded.sums, product.d.rows, product.d.columns};
        return {std::nullopt, Matmul<T, float>::plan({product.a, product.b, sums, product.tf32}, {},
                                                     unrounded.rest, skip)};
    } else {
        return {Matmul<T, D>::plan(product, {}, scratch, skip), std::nullopt};
    }
}

/// What a way leaves to us.
template <class T>
void finish(const DenseWay<T>& way, const Epilogue<T>& epilogue, T* to, const ImageLayout& layout,
            const Launch& launch) {
    if (way.fused) return;
    if (way.unrounded) {
        apply_epilogue(launch, epilogue, way.unrounded->result(), to, layout);
    } else {
        apply_epilogue(launch, epilogue, to, to, layout);
    }
}

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(dense_cublas, DenseArguments) {
    const ConvShape& s = a.shape;
    const Epilogue<T> epilogue = epilogue_of(a);
    const DenseWay<T>& way = launch.state<DenseWay<T>>([&]() -> DenseWay<T> {
        if (a.residual == a.dst) return {};
        return way_of<T, T>(a, epilogue,
                            {{a.weights, s.filters, s.channels},
                             {a.src, s.channels, s.batch},
                             {a.dst, s.filters, s.batch},
                             a.tf32});
    });
    if (!way.found()) {
        if (a.engine >= 0) throw NoSuchEngine{};
        return conv2d_direct(a, launch);
    }
    way.run(launch.stream());
    finish(way, epilogue, a.dst, result_of(a), launch);
}

DTNN_CUDA_KERNEL_OF_VALUES(dense_backward_data_cublas, DenseBackwardDataArguments) {
    const ConvShape& s = a.shape;
    const Epilogue<T> epilogue = epilogue_of(a);
    const DenseWay<T>& way = launch.state<DenseWay<T>>([&]() -> DenseWay<T> {
        if (a.mask == a.diff_src) return {};
        return way_of<T, T>(a, epilogue,
                            {{a.weights, s.filters, s.channels, true},
                             {a.diff_dst, s.filters, s.batch},
                             {a.diff_src, s.channels, s.batch},
                             a.tf32});
    });
    if (!way.found()) {
        if (a.engine >= 0) throw NoSuchEngine{};
        return conv2d_backward_data_direct(a, launch);
    }
    way.run(launch.stream());
    finish(way, epilogue, a.diff_src, image_of(a), launch);
}

DTNN_CUDA_KERNEL_OF_VALUES(dense_backward_weights_cublas, DenseBackwardWeightsArguments) {
    const ConvShape& s = a.shape;
    using Way = DenseWay<T, Wide<T>>;
    const Way& way = launch.state<Way>([&] {
        return way_of<T, Wide<T>>(a, Epilogue<T>{},
                                  {{a.diff_dst, s.filters, s.batch},
                                   {a.src, s.channels, s.batch, true},
                                   {a.diff_weights, s.filters, s.channels},
                                   a.tf32});
    });
    if (!way.found()) {
        if (a.engine >= 0) throw NoSuchEngine{};
        return conv2d_backward_weights_direct(a, launch);
    }
    way.run(launch.stream());
    sum_bias_gradient(a, launch);
}

}  // namespace dtnn::kernels::cuda
