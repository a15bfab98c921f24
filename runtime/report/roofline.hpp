#pragma once
/// The roofline model: work of some intensity (FLOPs for each byte moved) is computed no faster
/// than arithmetic allows, nor than memory brings its operands. Williams, Waterman and Patterson,
/// "Roofline: an insightful visual performance model", 2009. FLOPs are those of the formulas, bytes
/// those of operands and results: a kernel that computes with fewer products (Winograd's), or whose
/// operands lie in a cache, may be above the roof.

#include <string>
#include <vector>

#include "runtime/exec/roofs.hpp"
#include "runtime/train/bench.hpp"

namespace dtnn::runtime {

struct Work {
    double seconds = 0, flops = 0, bytes = 0;

    Work& operator+=(const Work& other);
    double gflops() const { return seconds > 0 ? 1e-9 * flops / seconds : 0; }
    double gigabytes() const { return seconds > 0 ? 1e-9 * bytes / seconds : 0; }
};

/// The bound that stops work from being faster: "arithmetic" or "memory".
const char* bound_of(const Work& work, const Roofs& roofs);
/// The time that the roofs allow over the time that it took; 0 where it took none.
double roof_share(const Work& work, const Roofs& roofs);

/// Work of every step of the measured program, in its order.
std::vector<Work> work_of_steps(const BenchResult& result);

/// A picture: both axes logarithmic, a point for each step, as large as its time, coloured by its
/// phase, its name where the pointer rests; the longest steps are named below. Empty where no roof
/// is known.
std::string roofline_svg(const BenchResult& result, const Roofs& roofs, const std::string& title);

}  // namespace dtnn::runtime
