#pragma once
/// How a library answers that is not there.

#include <stdlib.h>

/// Calls that have nothing to answer.
#define SUCCEEDS(name) \
    int name() {       \
        return 0;      \
    }
/// Calls that make something that others are told of.
#define MAKES(name)             \
    int name(void** made) {     \
        *made = calloc(1, 256); \
        return *made == NULL;   \
    }
#define FREES(name)        \
    int name(void* made) { \
        free(made);        \
        return 0;          \
    }
