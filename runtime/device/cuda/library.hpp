#pragma once
/// The entry points that libdtnn_cuda.so and the program agree on have C names; the API that they
/// give is the C++ class of the same build, which the version stands for.

namespace dtnn::runtime::cuda {

constexpr const char* kLibrary = "libdtnn_cuda.so";

/// Counts up with every change of Api, ApiFailure or the entry points.
constexpr int kLibraryVersion = 3;

constexpr const char* kVersionEntry = "dtnn_cuda_version";  ///< int()
/// Api*(int number, kernels::cuda::PlanStore*): the device of this number among those that are
/// visible; the store, which may be null, outlives the process's use of it. Throws ApiFailure.
constexpr const char* kOpenEntry = "dtnn_cuda_open";

}  // namespace dtnn::runtime::cuda
