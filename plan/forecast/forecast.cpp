#include "plan/forecast/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quantity_text.hpp"
#include "base/saturating.hpp"
#include "plan/forecast/rates.hpp"
#include "plan/rules/compression.hpp"
#include "plan/rules/exchange_model.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/memory_need.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/staging.hpp"

namespace dtnn::plan {
namespace {

/// A sample of which decode_rate is.
constexpr double kRatedPixels = 3 * 32 * 32;

/// A rank's share of a machine, and how its programs go there.
class Model {
  public:
    Model(const Plan& plan, const Machine& machine, int threads, int nodes, int ranks_per_node)
        : plan_(plan),
          machine_(machine),
          threads_(threads),
          nodes_(nodes),
          ranks_per_node_(ranks_per_node),
          on_device_(has_own_memory(plan.target)),
          rates_(on_device_ ? RankRates(machine, plan.target)
                            : RankRates(machine, threads, ranks_per_node, plan.target.dtype)) {}

    Timeline run(const Program& program, double scale) const;
    double wire_bytes(const Program& program, int ranks) const;
    /// The time that a step which computes so long waits for its samples, with their copy.
    double input_seconds(double batch, double busy) const;

  private:
    const Plan& plan_;
    const Machine& machine_;
    int threads_, nodes_, ranks_per_node_;
    bool on_device_;
    RankRates rates_;
};

Timeline Model::run(const Program& program, double scale) const {
    std::vector<double> seconds;
    seconds.reserve(program.steps.size());
    for (const Step& step : program.steps)
        seconds.push_back(rates_.step_seconds(program, step, scale));
    std::vector<ExchangeTime> exchanges;
    for (const Collective& one : program.collectives)
        exchanges.push_back(exchange_time(machine_, nodes_, ranks_per_node_, one, on_device_));
    return timeline_of(program, seconds, exchanges);
}

double Model::wire_bytes(const Program& program, int ranks) const {
    double bytes = 0;
    for (const Collective& one : program.collectives)
        bytes += wire_bytes_of(one, ranks);
    return bytes;
}

double Model::input_seconds(double batch, double busy) const {
    const StagedSample sample = staged_sample(plan_);
    // Read from where the workers wrote it, and written. To a device it goes while the batch before
    // is computed.
    const double host_bandwidth = machine_.gpus.host_bandwidth;
    const double bytes = batch * double(sample.bytes());
    const double copy = !on_device_          ? 2 * bytes / rates_.bandwidth()
                        : host_bandwidth > 0 ? std::max(0.0, bytes / host_bandwidth - busy)
                                             : 0;
    if (machine_.decode_rate <= 0) return copy;
    const int workers = std::max(1, plan_.target.data_workers);
    const double pixels = double(largest_sample(plan_.dataset)) / kRatedPixels;
    const double work = batch * pixels / machine_.decode_rate;  // of one worker
    double wait = work / workers - busy - copy;
    if (machine_.cores > 0) {
        const double cores = double(machine_.cores) / ranks_per_node_;
        const double computing = on_device_ ? 0 : threads_ * busy;
        wait = std::max(wait, (computing + work) / cores - busy);
    }
    // Samples that are waited for leave time for their copy.
    return on_device_ ? std::max(copy, wait) : copy + std::max(0.0, wait);
}

const Program* largest(const Plan& plan, ProgramKind kind) {
    const Program* found = nullptr;
    for (const Program& program : plan.programs) {
        if (program.kind != kind) continue;
        if (found == nullptr || program.batch > found->batch) found = &program;
    }
    return found;
}

std::string refusal_of(const Plan& plan, const ForecastRequest& request) {
    if (request.ranks < 1) return "there must be at least one rank";
    if (!plan.parallel.data && request.ranks > 1)
        return fmt::format(
            "the plan is for one rank, and {} are asked for\nhelp: give the job `parallel: {{data: "
            "auto}}` and compile it again",
            request.ranks);
    if (largest(plan, ProgramKind::train) == nullptr) return "the plan has no program that trains";
    return "";
}

/// Seconds of a pass without training over so many samples.
double pass_seconds(const Plan& plan, const Model& model, std::int64_t samples, int ranks) {
    const Program* program = largest(plan, ProgramKind::evaluate);
    if (program == nullptr || samples == 0) return 0;
    const double busy = model.run(*program, 1).seconds();
    return double(steps_of_pass(samples, program->batch, ranks)) *
           (busy + model.input_seconds(double(program->batch), busy));
}

/// The time of a training step, in the mean over those of an update.
Forecast train_step(const Plan& plan, const Model& model, double batch, int ranks) {
    Forecast result;
    const auto add = [&](const Program* program, double weight) {
        if (program == nullptr || weight <= 0) return;
        const Timeline line = model.run(*program, batch / double(program->batch));
        result.compute += weight * line.compute;
        result.exposed += weight * line.exposed;
        result.communication += weight * line.communication;
        result.input += weight * model.input_seconds(batch, line.seconds());
        result.wire_bytes += weight * model.wire_bytes(*program, ranks);
    };
    const double updates = 1.0 / double(std::max<std::int64_t>(1, plan.training.accumulation));
    add(largest(plan, ProgramKind::train), updates);
    add(largest(plan, ProgramKind::accumulate), 1 - updates);
    const Program* average = find_program(plan, ProgramKind::synchronise);
    if (average == nullptr || ranks == 1) return result;
    const double averages = updates / double(std::max<std::int64_t>(1, plan.parallel.local_steps));
    const Timeline line = model.run(*average, 1);
    result.compute += averages * line.compute;
    result.exposed += averages * line.exposed;
    result.communication += averages * line.communication;
    result.wire_bytes += averages * model.wire_bytes(*average, ranks);
    return result;
}

void add_notes(const Plan& plan, const Machine& machine, Forecast& result) {
    if (machine.decode_rate <= 0)
        result.notes.emplace_back(
            "the machine has no decode_rate: waiting for samples is left out");
    if (result.ranks > 1 && machine.network_bandwidth <= 0 && machine.local_bandwidth <= 0)
        result.notes.emplace_back(
            "the machine has no network: 20 us and 1.25 GB/s are taken instead");
    if (result.nodes > std::max(machine.nodes, 1))
        result.notes.push_back(fmt::format("more nodes are needed than the {} that the machine has",
                                           std::max(machine.nodes, 1)));
    if (result.threads > plan.target.threads)
        result.notes.push_back(
            fmt::format("the plan has workspaces for {} threads, and a run of it uses no more",
                        plan.target.threads));
    const bool on_device = has_own_memory(plan.target);
    const Gpus& gpus = machine.gpus;
    if (on_device && result.ranks_per_node > gpus.count)
        result.notes.push_back(
            fmt::format("a node has {} devices for {} ranks", gpus.count, result.ranks_per_node));
    if (on_device && gpus.memory_bytes > 0 &&
        result.memory > gpus.memory_bytes - gpus.library_bytes) {
        const auto [need, there] =
            unlike_bytes_text(double(result.memory), double(gpus.memory_bytes));
        result.notes.push_back(fmt::format(
            "a rank needs {} of its device's memory, which has {}, {} of it for the libraries",
            need, there, bytes_text(double(gpus.library_bytes))));
    }
    const int wanted = result.threads * result.ranks_per_node;
    if (machine.cores > 0 && wanted > machine.cores)
        result.notes.push_back(
            fmt::format("{} threads share the {} cores of a node", wanted, machine.cores));
    const std::int64_t node_memory =
        saturating_product({memory_need(plan).host, result.ranks_per_node});
    if (machine.memory_bytes > 0 && node_memory > machine.memory_bytes) {
        const auto [need, there] =
            unlike_bytes_text(double(node_memory), double(machine.memory_bytes));
        result.notes.push_back(
            fmt::format("a node's ranks need {} of memory, it has {}", need, there));
    }
    if (plan.parallel.data && !plan.parallel.any_ranks && result.ranks != plan.target.ranks)
        result.notes.push_back(fmt::format("the plan runs on {} ranks only", plan.target.ranks));
}

}  // namespace

int usual_ranks_per_node(const Machine& machine, const Target& target, int threads, int ranks) {
    if (has_own_memory(target)) return std::clamp(machine.gpus.count, 1, std::max(ranks, 1));
    if (machine.cores <= 0) return 1;
    return std::clamp(machine.cores / std::max(threads, 1), 1, std::max(ranks, 1));
}

ExchangeTime exchange_time(const Machine& machine, int nodes, int ranks_per_node,
                           const Collective& collective, bool by_devices) {
    Machine local = machine, network = machine;
    if (by_devices) {
        // A stream of their own: nothing that computes waits for them.
        if (machine.gpus.latency > 0) local.network_latency = machine.gpus.latency;
        if (machine.gpus.bandwidth > 0) local.network_bandwidth = machine.gpus.bandwidth;
        const CollectiveKind kind = collective.kind;
        return {0, exchange_seconds(link_of(local), kind, ranks_per_node, collective.bytes) +
                       exchange_seconds(link_of(network), kind, nodes,
                                        collective.bytes / std::max(1, ranks_per_node))};
    }
    // link_of() prefers the network; between ranks of a node the local link counts, where known.
    if (machine.local_latency > 0) local.network_latency = machine.local_latency;
    if (machine.local_bandwidth > 0) local.network_bandwidth = machine.local_bandwidth;
    // Other forms go from every rank to every other, whatever the nodes.
    if (collective.compression != Compression::full) {
        if (nodes > 1)
            return {0, wire_seconds_of(link_of(network), collective,
                                       nodes * std::max(1, ranks_per_node))};
        return {wire_seconds_of(link_of(local), collective, ranks_per_node), 0};
    }
    const CollectiveKind kind = collective.kind;
    return {exchange_seconds(link_of(local), kind, ranks_per_node, collective.bytes),
            exchange_seconds(link_of(network), kind, nodes,
                             collective.bytes / std::max(1, ranks_per_node))};
}

Timeline timeline_of(const Program& program, std::span<const double> step_seconds,
                     std::span<const ExchangeTime> exchanges) {
    constexpr std::size_t kNone = std::size_t(-1);
    std::vector<std::size_t> begins(program.steps.size(), kNone), ends(program.steps.size(), kNone);
    for (std::size_t i = 0; i < program.collectives.size(); ++i) {
        const Collective& one = program.collectives[i];
        begins[std::size_t(one.start)] = i;
        ends[std::size_t(one.wait)] = i;
    }
    Timeline line;
    std::vector<double> finished(program.collectives.size(), 0.0);
    double now = 0, network_free = 0;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        now += step_seconds[i];
        line.compute += step_seconds[i];
        if (const std::size_t begun = begins[i]; begun != kNone) {
            const ExchangeTime& time = exchanges[begun];
            now += time.local;
            line.exposed += time.local;
            network_free = std::max(now, network_free) + time.network;
            finished[begun] = network_free;
            line.communication += time.local + time.network;
        }
        if (const std::size_t ended = ends[i]; ended != kNone && finished[ended] > now) {
            line.exposed += finished[ended] - now;
            now = finished[ended];
        }
    }
    return line;
}

Forecast forecast(const Plan& plan, const Machine& machine, const ForecastRequest& request) {
    Forecast result;
    result.refused = refusal_of(plan, request);
    if (!result.refused.empty()) return result;
    const int ranks = request.ranks;
    const int threads = request.threads > 0 ? request.threads : plan.target.threads;
    const int per_node = std::clamp(
        request.ranks_per_node > 0 ? request.ranks_per_node
                                   : usual_ranks_per_node(machine, plan.target, threads, ranks),
        1, ranks);
    const int nodes = ranks / per_node + (ranks % per_node > 0);

    const std::int64_t plan_batch =
        std::min(plan.training.batch_size, largest(plan, ProgramKind::train)->batch);
    const bool strong = request.scaling == Scaling::strong;
    const std::int64_t global = plan_batch * (strong ? std::max(plan.target.ranks, 1) : ranks);
    if (global < ranks) {
        result.refused = fmt::format(
            "{} ranks would share a global batch of {} samples\nhelp: name at most {}, or "
            "--scaling weak",
            ranks, global, global);
        return result;
    }
    const double batch = double(global) / ranks;

    const Model model(plan, machine, threads, nodes, per_node);
    result = train_step(plan, model, batch, ranks);
    result.ranks = ranks, result.threads = threads;
    result.ranks_per_node = per_node, result.nodes = nodes;
    result.batch = batch, result.global_batch = global;
    result.samples_per_second = double(global) / result.step();
    result.error = machine.compute_error * (result.compute + result.input) +
                   machine.exchange_error * result.exposed;

    const Model alone(plan, machine, threads, 1, 1);
    const Forecast one = train_step(plan, alone, strong ? double(global) : batch, 1);
    const double alone_rate = (strong ? double(global) : batch) / one.step();
    result.efficiency = result.samples_per_second / ranks / alone_rate;

    result.memory = memory_need(plan).bounded();
    result.memory_is_bound = batch < double(plan_batch);
    if (batch > double(plan_batch))
        result.notes.push_back(fmt::format(
            "memory is that of the plan's batch of {}, and these ranks have more", plan_batch));
    const std::int64_t samples = plan.dataset.train_samples;
    result.steps_per_epoch = strong ? samples / global + (samples % global > 0)
                                    : steps_of_pass(samples, plan_batch, ranks);
    // Ranks with data of their own: more of them do not make an epoch shorter.
    if (plan.parallel.private_data) result.steps_per_epoch = private_steps(plan);
    result.steps_per_epoch = limited_steps(plan.training, result.steps_per_epoch);
    result.epoch_seconds = double(result.steps_per_epoch) * result.step();
    result.validation_seconds = pass_seconds(plan, model, plan.dataset.validation_samples, ranks);
    result.test_seconds = pass_seconds(plan, model, plan.dataset.test_samples, ranks);
    result.job_seconds =
        double(plan.training.epochs) * (result.epoch_seconds + result.validation_seconds) +
        result.test_seconds;
    add_notes(plan, machine, result);
    return result;
}

}  // namespace dtnn::plan
