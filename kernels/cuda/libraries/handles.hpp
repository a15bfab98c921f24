#pragma once
/// cuDNN and cuBLASLt: the handles that a process has, and how their failures are told.

#include <cublasLt.h>
#include <cudnn.h>

#include <string>

namespace dtnn::kernels::cuda {

/// A call of one of NVIDIA's libraries that has failed, beside LaunchFailed (launch.hpp).
struct LibraryFailed {
    std::string library;  ///< "cuDNN", "cuBLASLt"
    std::string call;     ///< "cudnnBackendExecute"
    int code = 0;         ///< its cudnnStatus_t or cublasStatus_t
    std::string text;     ///< what the library says about it
};

/// Throws LibraryFailed.
void check(cudnnStatus_t status, const char* call);
void check(cublasStatus_t status, const char* call);

/// Made at first use, on the device that is current then: a process has one device. They live as
/// long as the process. The handle of cuDNN carries the stream of a run, so that one thread at a
/// time may run kernels.
cudnnHandle_t cudnn_handle();
cublasLtHandle_t cublas_handle();

}  // namespace dtnn::kernels::cuda
