#pragma once
/// Measures steps of training, or of inference.

#include <cstdint>
#include <vector>

#include "runtime/train/session.hpp"

namespace dtnn::runtime {

struct BenchRequest {
    plan::ProgramKind program = plan::ProgramKind::train;  ///< or evaluate, predict
    std::int64_t steps = 50;
    std::int64_t warm_up = 3;
    bool per_step = false;  ///< a second round, in which each step of the program is timed
    bool resident = false;  ///< measured steps are over the batch that the device has already
    std::int64_t (*allocations)() =
        nullptr;  ///< how often memory was asked for since the program began; may be null
};

struct BenchResult {
    std::int64_t batch = 0;       ///< samples of all ranks together
    std::vector<double> seconds;  ///< what each measured step took; in training with its batch
    std::vector<double>
        program_step_seconds;  ///< mean of each of the program's steps; empty unless asked for
    std::int64_t allocations_after_first_step = 0;
    const plan::Program* program = nullptr;
};

/// Trains on the data, full batches only (where there are any), starting over when the samples are
/// used up; what a step waits for its batch, and takes to copy it, is part of its time. Programs of
/// inference run on one full batch of training samples, which is read once: their time is the
/// network's alone. Ends early when a stop is requested. With several ranks all call it; each
/// measures its own steps, which in training wait for those of the others. A program that the plan
/// does not have is a RunError (exit 2).
BenchResult bench(Session& session, const BenchRequest& request);

struct Spread {
    double median = 0, least = 0, most = 0;
};
Spread spread_of(std::vector<double> values);

/// The largest amount of memory that the process has had, in bytes.
std::int64_t peak_memory();

}  // namespace dtnn::runtime
