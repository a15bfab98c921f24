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
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/conv2d.hpp"
#include "kernels/cuda/conv_terms.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/libraries/handles.hpp"

namespace dtnn::kernels::cuda {
namespace {

template <auto destroy>
struct Destroy {
    template <class Opaque>
    void operator()(Opaque* opaque) const {
        destroy(opaque);
    }
};
using MatmulDesc = std::unique_ptr<cublasLtMatmulDescOpaque_t, Destroy<cublasLtMatmulDescDestroy>>;
using MatrixLayout =
    std::unique_ptr<cublasLtMatrixLayoutOpaque_t, Destroy<cublasLtMatrixLayoutDestroy>>;
using Preference =
    std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, Destroy<cublasLtMatmulPreferenceDestroy>>;

/// A matrix as it is stored, column after column without gaps.
template <class T>
struct Matrix {
    T* data;
    std::int64_t rows, columns;
    bool transposed = false;  ///< in the product
};

/// d = a b; D is the type of d.
template <class T, class D>
struct Product {
    Matrix<const T> a, b;
    Matrix<D> d;
    bool tf32 = false;
};

template <class T>
constexpr cudaDataType_t kCublasType = CUDA_R_32F;
template <>
constexpr cudaDataType_t kCublasType<double> = CUDA_R_64F;
template <>
constexpr cudaDataType_t kCublasType<BFloat16> = CUDA_R_16BF;
template <>
constexpr cudaDataType_t kCublasType<Float16> = CUDA_R_16F;

/// A product for which cuBLASLt has chosen an algorithm.
template <class T, class D>
class Matmul {
  public:
    /// relu(product + bias[row]), of which `epilogue` may lack both; it has nothing else. `scratch`
    /// is what the algorithm may use. None: cuBLASLt does not do this.
    static std::optional<Matmul> plan(const Product<T, D>& product, const Epilogue<T>& epilogue,
                                      Workspace scratch, int& skip) {
        Matmul matmul(product, scratch);
        matmul.set(CUBLASLT_MATMUL_DESC_TRANSA, operation_of(product.a.transposed));
        matmul.set(CUBLASLT_MATMUL_DESC_TRANSB, operation_of(product.b.transposed));
        const std::uint32_t fused = CUBLASLT_EPILOGUE_DEFAULT |
                                    (epilogue.relu ? std::uint32_t(CUBLASLT_EPILOGUE_RELU) : 0) |
                                    (epilogue.bias ? std::uint32_t(CUBLASLT_EPILOGUE_BIAS) : 0);
        matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE, fused);
        if (epilogue.bias) matmul.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, epilogue.bias);
        if (!matmul.choose(skip)) return std::nullopt;
        return matmul;
    }

    void run(cudaStream_t stream) const {
        const Wide<T> one = 1, zero = 0;
        check(cublasLtMatmul(cublas_handle(), desc_.get(), &one, product_.a.data, a_.get(),
                             product_.b.data, b_.get(), &zero, product_.d.data, d_.get(),
                             product_.d.data, d_.get(), &algorithm_, scratch_.data(),
                             scratch_.size(), stream),
              "cublasLtMatmul");
    }

  private:
    /// Products of floats, not of TF32 unless it is asked for; products of 16 bits are added as
    /// floats.
    static cublasComputeType_t compute_type(bool tf32) {
        if (std::is_same_v<T, double>) return CUBLAS_COMPUTE_64F;
        return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    }

    Matmul(const Product<T, D>& product, Workspace scratch)
        : product_(product),
          scratch_(scratch),
          a_(layout_of(product.a)),
          b_(layout_of(product.b)),
          d_(layout_of(product.d)) {
        cublasLtMatmulDesc_t made = nullptr;
        check(cublasLtMatmulDescCreate(&made, compute_type(product.tf32), kCublasType<Wide<T>>),
              "cublasLtMatmulDescCreate");
        desc_.reset(made);
    }

    static cublasOperation_t operation_of(bool transposed) {
        return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    }

    template <class V>
    static MatrixLayout layout_of(const Matrix<V>& matrix) {
        cublasLtMatrixLayout_t made = nullptr;
        check(cublasLtMatrixLayoutCreate(&made, kCublasType<std::remove_const_t<V>>,
                                         std::uint64_t(matrix.rows), std::uint64_t(matrix.columns),
                                         matrix.rows),
              "cublasLtMatrixLayoutCreate");
        return MatrixLayout(made);
    }

    template <class V>
    void set(cublasLtMatmulDescAttributes_t name, const V& value) {
        check(cublasLtMatmulDescSetAttribute(desc_.get(), name, &value, sizeof(value)),
              "cublasLtMatmulDescSetAttribute");
    }

    template <class V>
    static void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t name,
                    const V& value) {
        check(cublasLtMatmulPreferenceSetAttribute(preference.get(), name, &value, sizeof(value)),
              "cublasLtMatmulPreferenceSetAttribute");
    }

    /// Whether there is an algorithm: the fastest whose sums are made in one order, behind `skip`
    /// others, which become fewer by as many as there are.
    bool choose(int& skip) {
        cublasLtMatmulPreference_t made = nullptr;
        check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
        const Preference preference(made);
        set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t(scratch_.size()));
        set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
            std::uint32_t(CUBLASLT_REDUCTION_SCHEME_NONE) |
                std::uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
        std::array<cublasLtMatmulHeuristicResult_t, 8> results{};
        int count = 0;
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
            cublas_handle(), desc_.get(), a_.get(), b_.get(), d_.get(), d_.get(), preference.get(),
            int(results.size()), results.data(), &count);
        if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
            return false;
        check(status, "cublasLtMatmulAlgoGetHeuristic");
        const auto end = results.begin() + count;
        const auto best = std::find_if(results.begin(), end, [&](const auto& result) {
            const bool fits =
                result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= scratch_.size();
            return fits && skip-- <= 0;
        });
        if (best == end) return false;
        algorithm_ = best->algo;
        return true;
    }

    Product<T, D> product_;
    Workspace scratch_;
    MatrixLayout a_, b_, d_;
    MatmulDesc desc_;
    cublasLtMatmulAlgo_t algorithm_{};
};

template <class T, class D = T>
struct DenseWay {
    std::optional<Matmul<T, D>> matmul;  ///< none: our own convolution does it
    bool fused = false;                  ///< with bias and relu
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
            return {std::move(matmul), true};
    return {Matmul<T, D>::plan(product, {}, scratch, skip), false};
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
    if (!way.matmul) {
        if (a.engine >= 0) throw NoSuchEngine{};
        return conv2d_direct(a, launch);
    }
    way.matmul->run(launch.stream());
    if (!way.fused) apply_epilogue(launch, epilogue, a.dst, result_of(a));
    sum_statistics(a, launch);
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
    if (!way.matmul) {
        if (a.engine >= 0) throw NoSuchEngine{};
        return conv2d_backward_data_direct(a, launch);
    }
    way.matmul->run(launch.stream());
    if (!way.fused) apply_epilogue(launch, epilogue, a.diff_src, image_of(a));
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
    if (!way.matmul) {
        if (a.engine >= 0) throw NoSuchEngine{};
        return conv2d_backward_weights_direct(a, launch);
    }
    way.matmul->run(launch.stream());
    sum_bias_gradient(a, launch);
}

}  // namespace dtnn::kernels::cuda
