#pragma once
/// The fastest engine of NVIDIA's libraries for every step, by measuring all of them on a device.

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/device/device.hpp"

namespace dtnn::runtime {

/// Steps that are the same problem for the same kernel.
struct TunedSteps {
    std::string name;  ///< the first of them
    int steps = 0;
    int engines = 0;           ///< that were measured
    int chosen = 0;            ///< by the library's own order
    double seconds = 0;        ///< of the one chosen
    double first_seconds = 0;  ///< of the first, which the library proposes
};

/// Runs every engine so many times, alone and over zeros, and writes the attribute `engine` into
/// the plan's steps where another than the first is fastest. The device has no plan's memory yet.
/// RunErrors name the step. The results of an engine are the same bits in every run; those of two
/// engines differ by rounding.
std::vector<TunedSteps> tune(plan::Plan& plan, Device& device, int repeats = 20);

}  // namespace dtnn::runtime
