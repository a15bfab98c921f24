#include <array>

#include "kernels/cuda/libraries/handles.hpp"

namespace dtnn::kernels::cuda {

void check(cudnnStatus_t status, const char* call) {
    if (status == CUDNN_STATUS_SUCCESS) return;
    std::array<char, 1024> detail{};
    cudnnGetLastErrorString(detail.data(), detail.size() - 1);
    std::string text = cudnnGetErrorString(status);
    if (detail[0] != 0) text += std::string(": ") + detail.data();
    throw LibraryFailed{"cuDNN", call, int(status), std::move(text)};
}

void check(cublasStatus_t status, const char* call) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw LibraryFailed{"cuBLASLt", call, int(status), cublasLtGetStatusString(status)};
}

// Never destroyed: when a process ends, the driver may be gone before its static objects.
cudnnHandle_t cudnn_handle() {
    static const cudnnHandle_t handle = [] {
        cudnnHandle_t made = nullptr;
        check(cudnnCreate(&made), "cudnnCreate");
        return made;
    }();
    return handle;
}

cublasLtHandle_t cublas_handle() {
    static const cublasLtHandle_t handle = [] {
        cublasLtHandle_t made = nullptr;
        check(cublasLtCreate(&made), "cublasLtCreate");
        return made;
    }();
    return handle;
}

namespace {

PlanStore* kept_plans = nullptr;

}  // namespace

void keep_plans_in(PlanStore* where) {
    kept_plans = where;
}

PlanStore* plan_store() {
    return kept_plans;
}

std::string library_and_device() {
    int device = 0;
    cudaGetDevice(&device);
    std::string text = "cudnn " + std::to_string(cudnnGetVersion()) + " cudart " +
                       std::to_string(cudnnGetCudartVersion()) + " device";
    for (const cudaDeviceAttr one :
         {cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor,
          cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
          cudaDevAttrL2CacheSize, cudaDevAttrGlobalMemoryBusWidth}) {
        int value = 0;
        cudaDeviceGetAttribute(&value, one, device);
        text += " " + std::to_string(value);
    }
    return text;
}

}  // namespace dtnn::kernels::cuda
