#pragma once
/// The plan behind a handle.

#include "include/dtnn.h"
#include "runtime/exec/load.hpp"

struct dtnn_plan {
    dtnn::runtime::LoadedPlan loaded;
};
