#pragma once
/// The most that a machine computes and moves, measured: what the speed of steps is compared with.

#include "plan/plan.hpp"

namespace dtnn::runtime {

/// The roofs of all threads of a rank together; 0: not measured.
struct Roofs {
    double flops_per_second =
        0;  ///< multiplications and additions on registers, of the plan's type
    double bytes_per_second = 0;  ///< streams in and out of memory
};

/// For CPU kernels with the target's instruction set and type; nothing for devices. Takes half a
/// second and 96 MiB a thread; nothing else should run.
Roofs measure_roofs(const plan::Target& target, int threads);

/// Bytes a second that so many threads together read and write in arrays that no cache holds.
double measure_memory_roof(int threads);

}  // namespace dtnn::runtime
