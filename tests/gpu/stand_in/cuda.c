/// CUDA's runtime and cuBLASLt where there is no device: every call succeeds and computes nothing,
/// every question is answered by one engine that needs no memory. What our kernels do on the host
/// is done as it is with a device, the memory of which nobody may touch; what they launch is not
/// run. tests/kernel looks at it with DTNN_LAUNCHES_ONLY.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "answers.h"

struct Extent {
    unsigned x, y, z;
};

// What nvcc puts around kernels.
void** __cudaRegisterFatBinary() {
    static void* handle;
    return &handle;
}
void __cudaRegisterFatBinaryEnd() {}
void __cudaUnregisterFatBinary() {}
enum { kMostKernels = 1 << 14 };
static struct {
    const void* function;
    const char* name;
} kernels[kMostKernels];
static int kernel_count = 0;
void __cudaRegisterFunction(void** binary, const void* function, const char* device_function,
                            const char* name) {
    (void)binary, (void)device_function;
    if (kernel_count == kMostKernels) abort();
    kernels[kernel_count].function = function;
    kernels[kernel_count++].name = name;
}
/// Who wants to know what would be run on a device: a kernel's mangled name, or a call of CUDA's.
__attribute__((weak)) void told_of_launch(const char* kernel);
static void tell(const char* what) {
    if (told_of_launch != NULL) told_of_launch(what);
}
static int launch(const void* function) {
    for (int i = 0; i < kernel_count; ++i)
        if (kernels[i].function == function) tell(kernels[i].name);
    return 0;
}
void __cudaRegisterVar() {}
char __cudaInitModule() {
    return 1;
}
unsigned __cudaPushCallConfiguration() {
    return 0;
}
int __cudaPopCallConfiguration(struct Extent* grid, struct Extent* block, size_t* shared,
                               void** stream) {
    const struct Extent one = {1, 1, 1};
    *grid = *block = one;
    *shared = 0;
    *stream = NULL;
    return 0;
}
int __cudaGetKernel(void** kernel, void* function) {
    *kernel = function;
    return 0;
}
int __cudaLaunchKernel(const void* function) {
    return launch(function);
}
int cudaLaunchKernel(const void* function) {
    return launch(function);
}

// The runtime.
int cudaGetDeviceCount(int* count) {
    *count = 1;
    return 0;
}
int cudaMalloc(void** memory, size_t bytes) {
    *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return *memory == MAP_FAILED;
}
int cudaMallocHost(void** memory, size_t bytes) {
    *memory = calloc(1, bytes);
    return *memory == NULL;
}
const char* cudaGetErrorString() {
    return "a stand-in's error";
}
SUCCEEDS(cudaSetDevice)
int cudaGetDevice(int* device) {
    *device = 0;
    return 0;
}
int cudaDeviceGetAttribute(int* value, int name) {
    *value = name;
    return 0;
}
SUCCEEDS(cudaGetLastError)
SUCCEEDS(cudaFree)
FREES(cudaFreeHost)
MAKES(cudaStreamCreateWithFlags)
FREES(cudaStreamDestroy)
MAKES(cudaEventCreateWithFlags)
FREES(cudaEventDestroy)
SUCCEEDS(cudaEventRecord)
SUCCEEDS(cudaEventQuery)
SUCCEEDS(cudaEventSynchronize)
SUCCEEDS(cudaStreamWaitEvent)
SUCCEEDS(cudaStreamQuery)
SUCCEEDS(cudaStreamSynchronize)
SUCCEEDS(cudaMemcpy)
SUCCEEDS(cudaMemcpyAsync)
SUCCEEDS(cudaMemsetAsync)
int cudaStreamBeginCapture() {
    tell("cudaStreamBeginCapture");
    return 0;
}
int cudaStreamEndCapture(void* stream, void** graph) {
    (void)stream;
    tell("cudaStreamEndCapture");
    *graph = NULL;
    return 0;
}
SUCCEEDS(cudaGraphDestroy)
MAKES(cudaGraphInstantiate)
SUCCEEDS(cudaGraphLaunch)
FREES(cudaGraphExecDestroy)

// cuBLASLt, with what it refuses.
enum { kInvalid = 7 };  // CUBLAS_STATUS_INVALID_VALUE
MAKES(cublasLtCreate)
MAKES(cublasLtMatmulDescCreate)
FREES(cublasLtMatmulDescDestroy)
int cublasLtMatmulDescSetAttribute(void* product, int name, const void* value, size_t bytes) {
    enum { kEpilogue = 7, kPlain = 1, kRelu = 2, kBias = 4, kReluBias = 6 };  // no bits: 3 is none
    (void)product;
    (void)bytes;
    if (name != kEpilogue) return 0;
    const int code = *(const int*)value;
    const int known = code == kPlain || code == kRelu || code == kBias || code == kReluBias;
    return known ? 0 : kInvalid;
}
MAKES(cublasLtMatrixLayoutCreate)
FREES(cublasLtMatrixLayoutDestroy)
MAKES(cublasLtMatmulPreferenceCreate)
FREES(cublasLtMatmulPreferenceDestroy)
SUCCEEDS(cublasLtMatmulPreferenceSetAttribute)
int cublasLtMatmulAlgoGetHeuristic(void* handle, void* product, void* a, void* b, void* c, void* d,
                                   void* preference, int wanted, void* results, int* count) {
    (void)handle, (void)product, (void)a, (void)b, (void)c, (void)d, (void)preference, (void)wanted;
    memset(results, 0, 88);  // cublasLtMatmulHeuristicResult_t
    *count = 1;
    return 0;
}
int cublasLtMatmul(void* handle, void* product, const void* alpha, const void* a, void* of_a,
                   const void* b, void* of_b, const void* beta, const void* c, void* of_c, void* d,
                   void* of_d, const void* algorithm, void* workspace, size_t bytes) {
    (void)handle, (void)product, (void)alpha, (void)a, (void)of_a, (void)b, (void)of_b, (void)beta;
    (void)c, (void)of_c, (void)d, (void)of_d, (void)algorithm;
    tell("cublasLtMatmul");
    return bytes > 0 && (uintptr_t)workspace % 256 != 0 ? kInvalid : 0;
}
const char* cublasLtGetStatusString() {
    return "a stand-in's error";
}
