/// cuDNN where there is no device: every call succeeds and computes nothing, every question is
/// answered by one engine that needs no memory.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "answers.h"

MAKES(cudnnCreate)
SUCCEEDS(cudnnSetStream)
size_t cudnnGetVersion() {
    return 0;
}
size_t cudnnGetCudartVersion() {
    return 0;
}
int cudnnBackendCreateDescriptor(int type, void** made) {
    (void)type;
    *made = malloc(1);
    return *made == NULL;
}
FREES(cudnnBackendDestroyDescriptor)
SUCCEEDS(cudnnBackendSetAttribute)
SUCCEEDS(cudnnBackendFinalize)
SUCCEEDS(cudnnBackendExecute)
enum { kInt64 = 3, kDescriptor = 15 };  // cudnnBackendAttributeType_t
int cudnnBackendGetAttribute(void* descriptor, int name, int type, int64_t wanted, int64_t* count,
                             void* values) {
    (void)descriptor;
    (void)name;
    *count = type == kInt64 || type == kDescriptor;
    if (type == kInt64 && wanted > 0) *(int64_t*)values = 0;
    return 0;
}
const char* cudnnGetErrorString() {
    return "a stand-in's error";
}
void cudnnGetLastErrorString(char* text, size_t bytes) {
    if (bytes > 0) *text = 0;
}
