#pragma once
/// Measures training steps.

#include <cstdint>
#include <vector>

#include "runtime/train/session.hpp"

namespace dtnn::runtime {

struct BenchRequest {
    std::int64_t steps = 50;
    std::int64_t warm_up = 3;
    bool per_step = false;  ///< a second round, in which each step of the program is timed
    std::int64_t (*allocations)() =
        nullptr;  ///< how often memory was asked for since the program began; may be null
};

struct BenchResult {
    std::int64_t batch = 0;       ///< samples of all ranks together
    std::vector<double> seconds;  ///< what each measured step took, with the copy of its batch
    std::vector<double>
        program_step_seconds;  ///< mean of each of the program's steps; empty unless asked for
    std::int64_t allocations_after_first_step = 0;
    const plan::Program* program = nullptr;
};

/// Trains on the data, full batches only (where there are any), starting over when the samples are
/// used up. Ends early when a stop is requested. With several ranks all call it; each measures its
/// own steps, which wait for those of the others.
BenchResult bench(Session& session, const BenchRequest& request);

struct Spread {
    double median = 0, least = 0, most = 0;
};
Spread spread_of(std::vector<double> values);

/// The largest amount of memory that the process has had, in bytes.
std::int64_t peak_memory();

}  // namespace dtnn::runtime
