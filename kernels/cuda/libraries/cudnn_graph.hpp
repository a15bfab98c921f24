#pragma once
/// Graphs of operations as cuDNN 9 takes them: a convolution and what is done with its result.
///
///     CudnnGraph graph({CUDNN_DATA_FLOAT});
///     const auto sum = graph.intermediate(dims);
///     graph.convolution(ConvDirection::forward, shape, graph.operand(image, src),
///                       graph.operand(filters, weights), sum);
///     graph.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, {}, graph.operand(dims, dst));
///     if (graph.plan(scratch, skip)) graph.run(stream);  // again and again
///
/// Operands are stored N,H,W,C, filters F,KH,KW,C/groups: dimensions are given in their logical
/// order N,C,H,W and F,C/groups,KH,KW. cuDNN sees the groups in the filters' channels, which are
/// fewer than the image's. The memory of all operands is known from the start, so a run only
/// executes; it neither allocates nor waits, and may be captured.
///
/// What cuDNN has planned is kept in the process: the graphs of steps that are alike, and ask for
/// as much memory, share one plan, because planning one can take seconds (engines that are compiled
/// when they are asked for). Plans of such engines are kept for further processes (plan_store.hpp).

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/libraries/handles.hpp"

namespace dtnn::kernels::cuda {

/// One of cuDNN's descriptors.
class CudnnDescriptor {
  public:
    explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
    ~CudnnDescriptor();
    CudnnDescriptor(CudnnDescriptor&& other) noexcept;
    CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept;

    cudnnBackendDescriptor_t get() const { return descriptor_; }
    template <class V>
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         const V& value) {
        return set(name, type, 1, &value);
    }
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         std::int64_t count, const void* values);
    CudnnDescriptor& set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value);
    /// Reads up to `count` values and returns how many there are.
    std::int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                     std::int64_t count, void* values) const;
    CudnnDescriptor& finalize();

  private:
    cudnnBackendDescriptor_t descriptor_ = nullptr;
};

/// Whether a failure of cuDNN tells of what it was asked, and not of the library or the device: no
/// engine does that, but another graph may do.
bool is_about_question(const LibraryFailed& failed);

/// Returns the answer of the attempt, which asks cuDNN for something; false where cuDNN has
/// refused.
template <class Attempt>
bool succeeds(const Attempt& attempt) {
    try {
        return attempt();
    } catch (const LibraryFailed& failed) {
        if (!is_about_question(failed)) throw;
        return false;
    }
}

template <class T>
inline constexpr cudnnDataType_t kCudnnType = CUDNN_DATA_FLOAT;
template <>
inline constexpr cudnnDataType_t kCudnnType<double> = CUDNN_DATA_DOUBLE;
template <>
inline constexpr cudnnDataType_t kCudnnType<BFloat16> = CUDNN_DATA_BFLOAT16;
template <>
inline constexpr cudnnDataType_t kCudnnType<Float16> = CUDNN_DATA_HALF;

/// How numbers are added and multiplied.
struct CudnnNumbers {
    cudnnDataType_t sums;       ///< what is added in, and what operations hand on
    bool tensor_cores = false;  ///< factors have 16 bits, or are doubles
    bool tf32 = false;          ///< factors of floats may be rounded to TF32, for tensor cores
};

enum class ConvDirection { forward, backward_data, backward_weights };

class CudnnGraph {
  public:
    using Dims = std::array<std::int64_t, 4>;
    using Tensor = std::size_t;

    explicit CudnnGraph(CudnnNumbers numbers);

    /// An operand, or the result: memory of the device, aligned to 16 bytes.
    template <class V>
    Tensor operand(const Dims& dims, V* memory) {
        return operand(dims, kCudnnType<std::remove_const_t<V>>, memory);
    }
    /// A tensor that one operation hands to the next without memory.
    Tensor intermediate(const Dims& dims);

    /// src, weights -> dst; diff_dst, weights -> diff_src; src, diff_dst -> diff_weights.
    void convolution(ConvDirection direction, const ConvShape& shape, Tensor image, Tensor filters,
                     Tensor result);
    /// y = mode(x, b), element by element; an extent of 1 in b is repeated.
    void pointwise(cudnnPointwiseMode_t mode, Tensor x, std::optional<Tensor> b, Tensor y);
    /// dx = dy * (x > 0)
    void relu_gradient(Tensor dy, Tensor x, Tensor dx);

    /// Chooses the engine: of those that cuDNN proposes, the first that is_allowed (cudnn_graph.cu)
    /// and needs no more memory than there is, behind `skip` others, which become fewer by as many
    /// as there are. Whether there is one.
    bool plan(Workspace scratch, int& skip);
    void run(cudaStream_t stream) const;

  private:
    struct Attribute {
        cudnnBackendAttributeName_t name;
        Tensor tensor;
    };
    Tensor operand(const Dims& dims, cudnnDataType_t type, const void* memory);
    Tensor add_tensor(const Dims& dims, cudnnDataType_t type, bool is_virtual);
    void set_tensors(CudnnDescriptor& operation, std::initializer_list<Attribute> tensors);
    void add_pointwise(cudnnPointwiseMode_t mode, std::initializer_list<Attribute> tensors);

    /// What the process keeps of a graph. Each descriptor is kept because the next refers to it.
    struct Planned {
        std::vector<CudnnDescriptor> tensors, settings, operations;
        /// The graph, the engine's configuration, and the plan; the last is missing where no engine
        /// may be chosen.
        std::optional<CudnnDescriptor> graph, config, plan;
        int engines = 0;  ///< that were passed over

        std::vector<CudnnDescriptor> proposals(cudnnBackendHeurMode_t mode) const;
        /// Whether the proposed configuration, or one of those, became the plan.
        bool take(CudnnDescriptor proposal, const CudnnNumbers& numbers, std::size_t room,
                  int skip);
        bool take_first(cudnnBackendHeurMode_t mode, const CudnnNumbers& numbers, std::size_t room,
                        int skip);
        void choose(const CudnnNumbers& numbers, std::size_t room, int skip);
        /// What is kept of a plan whose engine was compiled; of others empty.
        std::string kept() const;
        /// Whether it became the plan.
        bool load(const std::string& kept, std::size_t room);
    };

    CudnnNumbers numbers_;
    /// All that the graph says, but where its operands are.
    std::vector<std::int64_t> words_;
    std::unique_ptr<Planned> made_;  ///< until plan()
    std::vector<std::int64_t> ids_;  ///< of the operands, beside their memory
    std::vector<void*> memory_;
    std::shared_ptr<const Planned> planned_;
    std::optional<CudnnDescriptor> pack_;  ///< what the plan is run with
};

}  // namespace dtnn::kernels::cuda
