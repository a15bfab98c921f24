/// cuDNN itself, asked to plan for a device that is described and not there: the calls of
/// libdtnn_cuda.so go on to the library, but where they would give it a handle they give it the
/// properties of DTNN_DEVICE_PROPERTIES (JSON). Nothing is run. A line for each run, to the file
/// DTNN_PLANNED:
///
///     engine 62 workspace 131 numerical 0 behaviour 0 3
///     own _ZN4dtnn...            a convolution of ours, in place of cuDNN's

#include <cudnn_graph.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cudnnBackendDescriptor_t Descriptor;

static void fail(const char* what, const char* why) {
    fprintf(stderr, "planner: %s: %s\n", what, why);
    exit(1);
}

static const char* variable(const char* name) {
    const char* value = getenv(name);
    if (value == NULL) fail(name, "it is not set");
    return value;
}

static void* symbol(const char* name) {
    static void* library = NULL;
    if (library == NULL) library = dlopen(variable("DTNN_CUDNN"), RTLD_NOW | RTLD_LOCAL);
    void* found = library == NULL ? NULL : dlsym(library, name);
    if (found == NULL) fail(name, dlerror());
    return found;
}

/// The library's own function, as `real`.
#define REAL(name)                       \
    static __typeof__(&(name)) real = 0; \
    if (real == 0) real = (__typeof__(&(name)))symbol(#name)

static FILE* planned(void) {
    static FILE* file = NULL;
    if (file == NULL) file = fopen(variable("DTNN_PLANNED"), "a");
    if (file == NULL) fail("DTNN_PLANNED", "it cannot be written");
    return file;
}

/// The engine's configuration of each plan.
enum { kMostPlans = 1 << 14 };
static struct { Descriptor plan, config; } plans[kMostPlans];
static int plan_count = 0;

static void remember(Descriptor plan, Descriptor config) {
    int at = 0;
    while (at < plan_count && plans[at].plan != plan)
        ++at;
    if (at == kMostPlans) fail("plans", "too many");
    plans[at].plan = plan;
    plans[at].config = config;
    if (at == plan_count) ++plan_count;
}

static Descriptor config_of(Descriptor plan) {
    for (int i = 0; i < plan_count; ++i)
        if (plans[i].plan == plan) return plans[i].config;
    return NULL;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, Descriptor* made) {
    REAL(cudnnBackendCreateDescriptor);
    return real(type, made);
}
cudnnStatus_t cudnnBackendDestroyDescriptor(Descriptor descriptor) {
    REAL(cudnnBackendDestroyDescriptor);
    return real(descriptor);
}
cudnnStatus_t cudnnBackendFinalize(Descriptor descriptor) {
    REAL(cudnnBackendFinalize);
    return real(descriptor);
}
cudnnStatus_t cudnnBackendGetAttribute(Descriptor descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t wanted,
                                       int64_t* count, void* values) {
    REAL(cudnnBackendGetAttribute);
    return real(descriptor, name, type, wanted, count, values);
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
    REAL(cudnnGetErrorString);
    return real(status);
}
void cudnnGetLastErrorString(char* text, size_t bytes) {
    REAL(cudnnGetLastErrorString);
    real(text, bytes);
}

static cudnnStatus_t set(Descriptor descriptor, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    REAL(cudnnBackendSetAttribute);
    return real(descriptor, name, type, count, values);
}

/// The device that is planned for.
static Descriptor device(void) {
    static Descriptor made = NULL;
    if (made != NULL) return made;
    static char text[1 << 16];
    const char* path = variable("DTNN_DEVICE_PROPERTIES");
    FILE* file = fopen(path, "r");
    if (file == NULL) fail(path, "it cannot be read");
    const size_t bytes = fread(text, 1, sizeof text, file);
    fclose(file);
    Descriptor described = NULL;
    cudnnStatus_t status =
        cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &described);
    if (status == CUDNN_STATUS_SUCCESS)
        status = set(described, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                     (int64_t)bytes, text);
    if (status == CUDNN_STATUS_SUCCESS) status = cudnnBackendFinalize(described);
    if (status != CUDNN_STATUS_SUCCESS) fail(path, cudnnGetErrorString(status));
    made = described;
    return made;
}

static cudnnStatus_t set_device(Descriptor descriptor, cudnnBackendAttributeName_t name) {
    const Descriptor of = device();
    return set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &of);
}

cudnnStatus_t cudnnBackendSetAttribute(Descriptor descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
    if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE) return CUDNN_STATUS_SUCCESS;
    if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE)
        return set_device(descriptor, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    if (name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
        remember(descriptor, *(const Descriptor*)values);
    if (name == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH) {
        const cudnnStatus_t status = set_device(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
        if (status != CUDNN_STATUS_SUCCESS) return status;
    }
    return set(descriptor, name, type, count, values);
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
    *handle = malloc(1);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    (void)handle, (void)stream;
    return CUDNN_STATUS_SUCCESS;
}

static void tell_notes(Descriptor engine, const char* title, cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type) {
    int notes[64];
    int64_t count = 0;
    cudnnBackendGetAttribute(engine, name, type, 64, &count, notes);
    fprintf(planned(), " %s", title);
    for (int64_t i = 0; i < count && i < 64; ++i)
        fprintf(planned(), " %d", notes[i]);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, Descriptor plan, Descriptor pack) {
    (void)handle, (void)pack;
    int64_t bytes = 0, index = -1, count = 0;
    cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                             &count, &bytes);
    Descriptor engine = NULL;
    cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine);
    cudnnBackendGetAttribute(config_of(plan), CUDNN_ATTR_ENGINECFG_ENGINE,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine);
    cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count,
                             &index);
    fprintf(planned(), "engine %lld workspace %lld", (long long)index, (long long)bytes);
    tell_notes(engine, "numerical", CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
    tell_notes(engine, "behaviour", CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
    fprintf(planned(), "\n");
    fflush(planned());
    cudnnBackendDestroyDescriptor(engine);
    return CUDNN_STATUS_SUCCESS;
}

/// Our own convolutions (kernels/cuda/conv2d.cu), which a step of cuDNN falls back to.
void told_of_launch(const char* kernel) {
    if (strstr(kernel, "_direct_of") == NULL) return;
    fprintf(planned(), "own %s\n", kernel);
    fflush(planned());
}
