#pragma once
/// Whether the tests write what they get over what they expect: DTNN_REWRITE_GOLDENS=1. An empty
/// value is none.

#include <cstdlib>

namespace dtnn {

inline bool rewrites_goldens() {
    const char* value = std::getenv("DTNN_REWRITE_GOLDENS");
    return value && *value;
}

}  // namespace dtnn
