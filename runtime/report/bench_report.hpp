#pragma once
/// The report that `dtnn-run bench` prints.

#include <string>

#include "runtime/exec/roofs.hpp"
#include "runtime/train/bench.hpp"

namespace dtnn::runtime {

struct BenchFacts {
    const plan::Plan* plan = nullptr;
    std::int64_t planned_bytes = 0;
    std::int64_t allocated_bytes = 0;
    std::int64_t peak_rss_bytes = 0;
    int threads = 1;
    Roofs roofs = {};  ///< with them, where each step and each layer lies under the roofline
};

/// {"version": 1, "name", "program", "batch", "steps", "samples_per_second": {"median", "min",
/// "max"}, "step_milliseconds": {...},
///  "arena_bytes": {"planned", "allocated"}, "peak_rss_bytes", "allocations_after_first_step",
///  "threads"}; when steps were
/// timed also "program_steps": [{"name", "op", "kernel", "layer", "phase", "milliseconds",
/// "gflops_per_second", "gigabytes_per_second"}] and "program_layers": [{"layer", "steps",
/// "milliseconds", ...}]; when the roofs are known "roofs": {"gflops_per_second",
/// "gigabytes_per_second"}, and "roof_share" and "bound" ("arithmetic", "memory") for each of those
std::string bench_json(const BenchResult& result, const BenchFacts& facts);

/// The same for people: a few lines and, when steps were timed, tables by operator,
/// by layer and by step.
std::string bench_text(const BenchResult& result, const BenchFacts& facts);

}  // namespace dtnn::runtime
