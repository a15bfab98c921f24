#pragma once
/// The times of kernels for a problem, measured on this machine's processor.

#include <span>
#include <vector>

#include "kernels/catalogue.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::runtime {

/// Whether this program was built with the kernels of the instruction set.
bool has_kernels(kernels::Isa isa);

struct MeasuredKernel {
    const kernels::KernelInfo* kernel = nullptr;
    std::vector<double> seconds;  ///< of each call that counts, in rising order
};

/// Measures kernels by turns, `calls` times each and more where they are short, over made-up
/// numbers that lie outside of a core's own caches before every call, as in a training. One that is
/// much slower than the fastest is left out of further turns; so it is well to begin with one that
/// is likely to be fast. In a plan's mode for subnormal numbers.
class KernelMeter {
  public:
    KernelMeter(int threads, int calls);

    /// Measures those that are built into this program, in their order. RunErrors for problems that
    /// the machine has no memory for.
    std::vector<MeasuredKernel> measure(const kernels::Problem& problem,
                                        std::span<const kernels::KernelInfo* const> kernels);

  private:
    void empty_caches();

    kernels::ThreadTeam team_;
    int calls_;
    std::vector<char> others_;  ///< what is read to push everything else out of the caches
};

}  // namespace dtnn::runtime
