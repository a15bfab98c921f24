#pragma once
/// The forecast of what a job takes: a model of a training on a machine, from the plan alone.
///
/// Computing: every step of a program by the rooflines of forecast_rates.hpp.
///
/// Exchanges: a simulation of the program's timeline. An exchange begins when its start step is
/// reached; exchanges go over the network one after the other, in the plan's order; a wait step
/// waits for its own. What is waited for is `exposed`, the rest is hidden behind the steps between.
/// An exchange of b bytes over m ranks of each of n nodes is hierarchical: it is reduced and
/// gathered over the ranks of a node, 2 ceil(log2 m) alpha + 2 (m - 1)/m b beta of the local link,
/// and between them over the nodes with b/m bytes a rank, by the same formula of the network
/// (exchange_model.hpp: Thakur, Rabenseifner, Gropp 2005; recursive halving goes to the nearest
/// ranks first, with the largest messages). Between ranks of a node it is the cores themselves that
/// move the bytes, so that part is never hidden; what networks move is, and what devices move.
///
/// Input: `data_workers` threads prepare samples, each decode_rate of 32x32x3 pixels a second, in
/// proportion to the pixels; where a node has less cores than its ranks have threads and workers,
/// they take turns. What a step waits for them, and the copy of its batch, is `input`.
///
/// The model approximates: with another batch than the plan's (strong scaling) flops and bytes of
/// what has a batch axis shrink in proportion, though small batches run at lower rates, and memory
/// is still that of the plan's batch; smaller last batches count as whole ones; checkpoints,
/// histories and the start of the program are left out; all ranks are equally fast.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// weak: every rank has the plan's batch; strong: all ranks together have that of the plan's ranks.
enum class Scaling { weak, strong };
constexpr auto names_of(Scaling) {
    return std::to_array<const char*>({"weak", "strong"});
}

struct ForecastRequest {
    int ranks = 1;
    int threads = 0;         ///< of a rank; 0: the plan's
    int ranks_per_node = 0;  ///< 0: as many as have cores for their threads
    Scaling scaling = Scaling::weak;
};

struct Forecast {
    std::string refused;  ///< why there is none, and the remedy; the rest is not filled in then

    int ranks = 1, threads = 1, ranks_per_node = 1, nodes = 1;
    double batch = 0;  ///< samples of a rank and step, in the mean
    std::int64_t global_batch = 0;

    /// The seconds of a training step, in three parts.
    double compute = 0;
    double exposed = 0;  ///< waited for exchanges
    double input = 0;    ///< waited for samples, and their copy
    double step() const { return compute + exposed + input; }
    /// By what the step may be longer or shorter, by the errors that the machine's calibration has
    /// found; 0: it has none.
    double error = 0;
    double communication = 0;  ///< of all exchanges, hidden or not
    double wire_bytes = 0;     ///< that a rank sends in a step

    double samples_per_second = 0;  ///< of all ranks
    double efficiency = 1;          ///< samples/s of a rank, of those of one rank alone

    std::int64_t memory = 0;       ///< bytes of a rank: arena, batches ahead and samples
    bool memory_is_bound = false;  ///< of a larger batch: the rank needs at most as much

    std::int64_t steps_per_epoch = 0;
    double epoch_seconds = 0;       ///< its training
    double validation_seconds = 0;  ///< after each epoch
    double test_seconds = 0;        ///< at the end
    double job_seconds = 0;

    std::vector<std::string> notes;  ///< what the figures leave out, or how the job does not fit
};

/// The machine has the rates that missing_rates() asks for. Pure.
Forecast forecast(const Plan& plan, const Machine& machine, const ForecastRequest& request);

/// The time of an exchange: `local` of the ranks' cores, `network` of the network alone.
struct ExchangeTime {
    double local = 0;
    double network = 0;
};
ExchangeTime exchange_time(const Machine& machine, int nodes, int ranks_per_node,
                           const Collective& collective, bool by_devices = false);

/// The time of a rank's program: its steps one after the other, exchanges beside them.
struct Timeline {
    double compute = 0, exposed = 0, communication = 0;
    double seconds() const { return compute + exposed; }
};
/// `step_seconds` of every step, `exchanges` of every collective of the program.
Timeline timeline_of(const Program& program, std::span<const double> step_seconds,
                     std::span<const ExchangeTime> exchanges);

/// Ranks that a node of the machine has cores or devices for, of so many; at least one.
int usual_ranks_per_node(const Machine& machine, const Target& target, int threads, int ranks);

}  // namespace dtnn::plan
