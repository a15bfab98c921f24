/// CUDA's driver where there is no device, as far as cuDNN asks it when it plans, and NVRTC when it
/// compiles for a plan: it answers as an H100 does, keeps memory of the host and does no work.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../stand_in/answers.h"

enum { kNotFound = 500 };  // CUDA_ERROR_NOT_FOUND
static int context;

SUCCEEDS(cuInit)
int cuDriverGetVersion(int* version) {
    *version = 13000;
    return 0;
}
/// NVRTC asks for what a debugger adds.
int cuGetExportTable(const void** table, const void* name) {
    (void)name;
    *table = NULL;
    return kNotFound;
}
int cuGetErrorString(int error, const char** text) {
    (void)error;
    *text = "no error";
    return 0;
}
int cuGetErrorName(int error, const char** text) {
    (void)error;
    *text = "CUDA_SUCCESS";
    return 0;
}

// The device.
int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
int cuDeviceGet(int* device, int number) {
    *device = number;
    return 0;
}
int cuDeviceGetName(char* name, int bytes, int device) {
    (void)device;
    strncpy(name, "NVIDIA H100 80GB HBM3", (size_t)bytes);
    return 0;
}
int cuDeviceGetUuid(char* id, int device) {
    (void)device;
    memset(id, 7, 16);
    return 0;
}
int cuDeviceGetUuid_v2(char* id, int device) {
    return cuDeviceGetUuid(id, device);
}
static const size_t kMemory = 85029158912;
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
    (void)device;
    *bytes = kMemory;
    return 0;
}
int cuMemGetInfo_v2(size_t* left, size_t* all) {
    *left = *all = kMemory;
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    (void)device;
    // CUdevice_attribute and what an H100 says; of others 0.
    static const int kValues[][2] = {
        {1, 1024},        {2, 1024},       {3, 1024},        {4, 64},     {5, 2147483647},
        {6, 65535},       {7, 65535},      {8, 49152},       {9, 65536},  {10, 32},
        {11, 2147483647}, {12, 65536},     {13, 1980000},    {14, 512},   {15, 1},
        {16, 132},        {19, 1},         {31, 1},          {32, 1},     {36, 2619000},
        {37, 5120},       {38, 52428800},  {39, 2048},       {40, 3},     {41, 1},
        {75, 9},          {76, 0},         {78, 1},          {79, 1},     {80, 1},
        {81, 233472},     {82, 65536},     {83, 1},          {86, 1},     {87, 64},
        {88, 1},          {89, 1},         {90, 1},          {91, 1},     {95, 1},
        {97, 232448},     {99, 1},         {101, 1},         {102, 1},    {103, 1},
        {106, 32},        {108, 39321600}, {109, 134213632}, {111, 1024}, {113, 1},
        {114, 1},         {115, 1},        {120, 1},         {121, 1},    {124, 1},
        {132, 1}};
    *value = 0;
    for (size_t i = 0; i < sizeof kValues / sizeof *kValues; ++i)
        if (kValues[i][0] == attribute) *value = kValues[i][1];
    return 0;
}

// Contexts, streams, events, memory.
int cuCtxGetCurrent(void** current) {
    *current = &context;
    return 0;
}
int cuCtxGetDevice(int* device) {
    *device = 0;
    return 0;
}
int cuCtxGetApiVersion(void* of, unsigned* version) {
    (void)of;
    *version = 13000;
    return 0;
}
int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return 0;
}
int cuDevicePrimaryCtxRetain(void** retained, int device) {
    (void)device;
    return cuCtxGetCurrent(retained);
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
    (void)device;
    *flags = 0;
    *active = 1;
    return 0;
}
int cuCtxGetLimit(size_t* value, int limit) {
    (void)limit;
    *value = 0;
    return 0;
}
SUCCEEDS(cuCtxPushCurrent)
SUCCEEDS(cuCtxPopCurrent)
SUCCEEDS(cuStreamGetCtx)
MAKES(cuStreamCreate)
MAKES(cuStreamCreateWithPriority)
MAKES(cuEventCreate)
int cuStreamIsCapturing(void* stream, int* status) {
    (void)stream;
    *status = 0;
    return 0;
}
int cuMemAlloc_v2(void** memory, size_t bytes) {
    *memory = malloc(bytes > 0 ? bytes : 1);
    return *memory == NULL;
}
int cuMemAllocHost_v2(void** memory, size_t bytes) {
    return cuMemAlloc_v2(memory, bytes);
}
int cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
    (void)flags;
    return cuMemAlloc_v2(memory, bytes);
}
int cuMemHostGetDevicePointer_v2(void** memory, void* host, unsigned flags) {
    (void)flags;
    *memory = host;
    return 0;
}
int cuPointerGetAttribute(void* value, int attribute, void* pointer) {
    (void)pointer;
    enum { kMemoryType = 2, kDevice = 2 };
    *(int*)value = attribute == kMemoryType ? kDevice : 0;
    return 0;
}

// Machine code, which is loaded and never run.
MAKES(cuLibraryLoadData)
MAKES(cuLibraryLoadFromFile)
MAKES(cuLibraryGetKernel)
MAKES(cuLibraryGetModule)
int cuLibraryGetGlobal(void** memory, size_t* bytes) {
    *memory = calloc(1, 256);
    if (bytes != NULL) *bytes = 256;
    return *memory == NULL;
}
int cuModuleGetGlobal_v2(void** memory, size_t* bytes) {
    return cuLibraryGetGlobal(memory, bytes);
}
int cuKernelGetFunction(void** function, void* kernel) {
    *function = kernel;
    return 0;
}
MAKES(cuModuleLoadData)
MAKES(cuModuleLoadDataEx)
MAKES(cuModuleLoadFatBinary)
MAKES(cuModuleGetFunction)
MAKES(cuFuncGetModule)
MAKES(cuLinkCreate)
SUCCEEDS(cuLinkAddData)
SUCCEEDS(cuLinkComplete)
SUCCEEDS(cuLinkDestroy)
SUCCEEDS(cuLibraryUnload)
SUCCEEDS(cuKernelSetAttribute)
int cuFuncGetAttribute(int* value, int attribute) {
    // CUfunction_attribute: threads, shared memory, registers, versions of the code.
    static const int kValues[] = {384, 1024, 0, 0, 168, 90, 90, 0, 232448};
    const int count = (int)(sizeof kValues / sizeof *kValues);
    *value = attribute >= 0 && attribute < count ? kValues[attribute] : 0;
    return 0;
}
int cuKernelGetAttribute(int* value, int attribute) {
    return cuFuncGetAttribute(value, attribute);
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads,
                                                size_t shared) {
    (void)function, (void)threads;
    *blocks = shared > 116000 ? 1 : 2;
    return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int threads,
                                                         size_t shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
int cuOccupancyMaxActiveClusters(int* clusters) {
    *clusters = 66;  // of two blocks, on 132 multiprocessors
    return 0;
}
int cuOccupancyMaxPotentialClusterSize(int* blocks) {
    *blocks = 8;
    return 0;
}
SUCCEEDS(cuLaunchKernel)
SUCCEEDS(cuLaunchKernelEx)
SUCCEEDS(cuLaunchCooperativeKernel)
