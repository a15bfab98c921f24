#pragma once
/// Code for CUDA devices: a kernel of the expression in CUDA C++, made into PTX by NVRTC, NVIDIA's
/// own compiler, which is opened when it is there. NVRTC and not LLVM's NVPTX, because the values
/// are to be those of the kernels that interpret expressions (kernels/cuda/elementwise.cu): both
/// call CUDA's functions, each operation is rounded by itself.

#include <string>

#include "kernels/codegen/generator.hpp"

namespace dtnn::kernels {

/// A kernel kLoopSymbol(dst, sources, numbers, channel_stride, count): dst[i] for all i < count, by
/// any number of threads. `sources` is a list of pointers on the device. Those that are read by
/// channel have `numbers[s]` numbers, which change every `channel_stride` elements.
std::string cuda_source(const Loop& loop);

class CudaGenerator final : public Generator {
  public:
    /// Null, and why, where there is no NVRTC.
    static const CudaGenerator* open(std::string& lacking);
    std::string name() const override;
    /// `assembly` is PTX for devices from compute capability 8.0 on; there are no objects.
    std::string generate(const Loop& loop, CodeForm form) const override;

  private:
    explicit CudaGenerator(void* library) : library_(library) {}
    template <class Function>
    Function* entry(const char* name) const;
    void* library_;
};

}  // namespace dtnn::kernels
