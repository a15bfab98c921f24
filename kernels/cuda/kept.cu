#include "kernels/cuda/launch.hpp"

#if !defined(__CUDACC__)
#include <new>
#endif

namespace dtnn::kernels::cuda {
namespace {

#if defined(__CUDACC__)
void check_call(cudaError_t error) {
    if (error != cudaSuccess) throw LaunchFailed{int(error)};
}

void* copy_of(const void* bytes, std::size_t size) {
    void* memory = nullptr;
    check_call(cudaMalloc(&memory, size));
    check_call(cudaMemcpy(memory, bytes, size, cudaMemcpyHostToDevice));
    // A copy from ordinary memory may return before it is there, and our streams do not wait for
    // the one that it is on.
    check_call(cudaStreamSynchronize(cudaStreamLegacy));
    return memory;
}

void give_back(void* memory) {
    cudaFree(memory);
}
#else
void* copy_of(const void* bytes, std::size_t size) {
    return std::memcpy(::operator new(size), bytes, size);
}

void give_back(void* memory) {
    ::operator delete(memory);
}
#endif

}  // namespace

Kept::~Kept() {
    for (void* memory : lists_)
        give_back(memory);
}

void* Kept::list(const void* bytes, std::size_t size) {
    if (next_ == lists_.size()) lists_.push_back(copy_of(bytes, size));
    return lists_[next_++];
}

}  // namespace dtnn::kernels::cuda
