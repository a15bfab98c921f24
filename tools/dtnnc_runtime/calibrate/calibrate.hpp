#pragma once
/// `dtnnc calibrate`: measures this machine with the product's own kernels.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

/// Writes a machine's spec with what was measured, and says what that was on standard error. Throws
/// RunError.
int calibrate(const CalibrateCommand& command);

/// A step of a training program and the least time it took.
struct MeasuredStep {
    const plan::Program* program = nullptr;
    const plan::Step* step = nullptr;
    double seconds = 0;
};

/// Three digits: more are noise.
double rounded(double value);

/// The rates that these steps show, with the machine's memory bandwidth given: those of
/// plan/forecast/rates.hpp, so that forecast and measurement mean the same. Sets product and
/// convolution rates, step overhead and the classes of kernels that were met.
void fit_rates(const std::vector<MeasuredStep>& steps, plan::Machine& machine);

/// By what share the programs of these steps, each as a whole, differ from what the machine's rates
/// foresee: the root of the mean square of the logarithms of the ratios. 0: no steps.
double compute_error_of(const std::vector<MeasuredStep>& steps, const plan::Machine& machine);

/// Why such measurements are not those of the machine alone, one sentence each; empty: nothing
/// shows that. `spread` is the median of the repetitions of a measurement over the least of them,
/// the largest of all; `speed_up` of `cores` threads (0: not measured); `load` the processes that
/// wanted to run before it began, in the mean of a minute.
std::vector<std::string> busy_signs(double spread, double speed_up, int cores, double load);

/// Plans of small networks that between them have every class of kernels, for this machine and so
/// many threads.
std::vector<plan::Plan> probe_plans(int threads);

/// The least time of every step of a plan's training program, run for so many seconds; the plan
/// outlives the result.
/// `spread`, where given, becomes at least the median of the rounds over the least.
std::vector<MeasuredStep> measure_steps(const plan::Plan& plan, int threads, double seconds,
                                        double* spread = nullptr);

/// Samples a second that one data worker prepares: bytes in memory, 32x32x3, normalised, mirrored
/// and cropped.
double measure_decoding();

/// The times of reductions over the ranks: bytes and seconds, smallest first.
struct MeasuredRanks {
    int rank = 0;
    int ranks = 1;
    int nodes = 1;
    std::vector<std::pair<std::int64_t, double>> times;
};
/// Joins the ranks that a launcher has started, measures, and parts from them.
MeasuredRanks measure_ranks();

/// The latency and bandwidth with which the model of plan/rules/exchange_model.hpp fits these times
/// best; zero where there is nothing to fit.
struct ReductionFit {
    double latency = 0;
    double bandwidth = 0;
    double error = 0;  ///< as compute_error_of, of the times that were fitted
};
ReductionFit fit_reduction(int ranks, const std::vector<std::pair<std::int64_t, double>>& times);

/// The machine as a spec, `dtnnc check` accepts it; `facts` are lines of comment.
std::string machine_spec(const plan::Machine& machine, const std::vector<std::string>& facts);

}  // namespace dtnn::tools
