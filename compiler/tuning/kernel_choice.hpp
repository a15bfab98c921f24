#pragma once
/// The choice between kernels by measured times, in one place.

#include <span>
#include <vector>

#include "compiler/tuning/tuning_history.hpp"
#include "kernels/catalogue.hpp"

namespace dtnn::compiler {

/// A kernel takes the place of the usual one if it is faster by this part, and their times do not
/// overlap: three quarters of its calls took less than three quarters of the other's.
inline constexpr double kLeastGain = 0.05;

/// The wishes of a compilation for kernels, beyond that they can do their problems.
struct KernelWishes {
    bool reference_only = false;
    bool blis = false;                      ///< BLIS's kernels wherever they can do the problem
    const TuningHistory* tuning = nullptr;  ///< null: nothing was measured
    std::string processor = {};             ///< of the machine that the plan is for

    /// The times that were measured of the problem with these kernels on that processor; null:
    /// none.
    const TuningEntry* measured_of(const kernels::Problem& problem) const;
};

/// The first that is neither refused nor expected to be slower than one behind it: the choice
/// without measuring. Null: there is none.
const kernels::KernelInfo* usual_kernel(const kernels::Problem& problem, std::string_view device);

/// Kernels that can do the problem and whose time is the problem's own, in the catalogue's order:
/// not the reference, nor those that run code which is made when a plan is loaded.
std::vector<const kernels::KernelInfo*> measurable_kernels(const kernels::Problem& problem);

/// The fastest of these kernels if it gains enough over the usual one, which is one of them, else
/// that one.
const kernels::KernelInfo* choose_measured(const TuningEntry& measured,
                                           std::span<const kernels::KernelInfo* const> able,
                                           const kernels::KernelInfo* usual);

}  // namespace dtnn::compiler
