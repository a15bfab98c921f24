#pragma once
/// A product of matrices by cuBLASLt.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "kernels/cuda/conv_terms.hpp"
#include "kernels/cuda/libraries/handles.hpp"

namespace dtnn::kernels::cuda {

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

/// Of operands, in bytes: the plan's (dispatch.hpp).
inline constexpr std::uint32_t kMatrixAlignment = 64;

/// A matrix as it is stored, column after column.
template <class T>
struct Matrix {
    T* data;
    std::int64_t rows, columns;
    bool transposed = false;  ///< in the product
    std::int64_t stride = 0;  ///< from a column to the next; 0: there are no gaps
};

/// d = a b, or d += a b; D is the type of d.
template <class T, class D>
struct Product {
    Matrix<const T> a, b;
    Matrix<D> d;
    bool tf32 = false;
    bool adds = false;
};

template <class T>
inline constexpr cudaDataType_t kCublasType = CUDA_R_32F;
template <>
inline constexpr cudaDataType_t kCublasType<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType_t kCublasType<BFloat16> = CUDA_R_16BF;
template <>
inline constexpr cudaDataType_t kCublasType<Float16> = CUDA_R_16F;

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
        matmul.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_code(epilogue));
        if (epilogue.bias) matmul.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, epilogue.bias);
        if (!matmul.choose(skip)) return std::nullopt;
        return matmul;
    }

    D* result() const { return product_.d.data; }
    void run(cudaStream_t stream) const {
        const Wide<T> one = 1, kept = product_.adds ? 1 : 0;
        check(cublasLtMatmul(cublas_handle(), desc_.get(), &one, product_.a.data, a_.get(),
                             product_.b.data, b_.get(), &kept, product_.d.data, d_.get(),
                             product_.d.data, d_.get(), &algorithm_, scratch_.data(),
                             scratch_.size(), stream),
              "cublasLtMatmul");
    }

  private:
    /// The codes are no bits: DEFAULT is 1.
    static cublasLtEpilogue_t epilogue_code(const Epilogue<T>& epilogue) {
        if (epilogue.relu)
            return epilogue.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
        return epilogue.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    }

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
                                         matrix.stride > 0 ? matrix.stride : matrix.rows),
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
        for (const auto name : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                                CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
            set(preference, name, kMatrixAlignment);
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

}  // namespace dtnn::kernels::cuda
