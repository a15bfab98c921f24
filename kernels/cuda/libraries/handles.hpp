#pragma once
/// cuDNN and cuBLASLt: the handles that a process has, and how their failures are told.

#include <cublasLt.h>
#include <cudnn.h>

#include <string>

#include "kernels/cuda/plan_store.hpp"

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

/// Where plans of cuDNN that it has compiled are kept from now on, for as long as the process
/// lives; null, as at first: nowhere.
void keep_plans_in(PlanStore* store);
PlanStore* plan_store();
/// What such plans depend on beside what was asked: versions, the device. A line of text.
std::string library_and_device();

}  // namespace dtnn::kernels::cuda
