#include "runtime/train/training_state.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/saturating.hpp"
#include "base/text.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/train/learning_rates.hpp"

namespace dtnn::runtime {
namespace {

/// The batch at which `ranks` ranks stand after so many samples of an epoch; -1: they never stand
/// there.
std::int64_t batch_at(const plan::Plan& plan, std::int64_t samples, int ranks) {
    const TrainingExtent extent = extent_of(plan, ranks);
    const std::int64_t batch = plan.training.batch_size;
    const auto seen = [&](std::int64_t batches) {
        return plan::samples_of_steps(plan.dataset.train_samples, batch, 0, batches, ranks);
    };
    if (seen(extent.batches) == samples) return extent.batches;
    const std::int64_t batches = samples / batch / ranks;
    const bool update = batches % extent.accumulation == 0;
    return batches < extent.batches && update && seen(batches) == samples ? batches : -1;
}

class StateWriter {
  public:
    template <class T>
    void number(T value) {
        const auto* first = reinterpret_cast<const std::byte*>(&value);
        bytes.insert(bytes.end(), first, first + sizeof value);
    }
    template <class List>
    void list(const List& values) {
        number(std::uint64_t(values.size()));
        for (const auto& value : values)
            number(value);
    }
    std::vector<std::byte> bytes;
};

class StateReader {
  public:
    explicit StateReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    void number(T& value) {
        if (bytes_.size() < sizeof value) refuse();
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_ = bytes_.subspan(sizeof value);
    }
    std::size_t count() {
        std::uint64_t count = 0;
        number(count);
        if (count > bytes_.size()) refuse();  // an element has at least a byte
        return std::size_t(count);
    }
    template <class List>
    void list(List& values) {
        values.resize(count());
        for (auto& value : values)
            number(value);
    }
    void end() const {
        if (!bytes_.empty()) refuse();
    }

  private:
    [[noreturn]] static void refuse() {
        throw RunError(Exit::mismatch, "what rank 0 has sent is no state of a training",
                       "start all ranks with the same version of dtnn-run");
    }
    std::span<const std::byte> bytes_;
};

/// The numbers of a state, in the order in which they travel.
void visit_numbers(auto& state, auto visit) {
    visit(state.ranks), visit(state.batch_size), visit(state.epoch), visit(state.batch),
        visit(state.step);
    visit(state.update), visit(state.epoch_seconds), visit(state.seconds);
}

}  // namespace

std::string sharing_text(int ranks, std::int64_t batch) {
    return fmt::format("{} of {}", count_text(ranks, "rank"), batch);
}

std::string keep_batch_help(std::int64_t global, int ranks) {
    if (global % ranks == 0) {
        return fmt::format(
            "compile the job for it: dtnnc compile JOB --ranks {} --set "
            "training.{}={} -o NEWPLAN, and go on by NEWPLAN",
            ranks, ranks > 1 ? "global_batch_size" : "batch_size", global);
    }
    std::string others;
    for (int other = 1; other <= 2 * ranks && other <= 1024; ++other)
        if (global % other == 0) others += fmt::format("{}{}", others.empty() ? "" : ", ", other);
    return fmt::format("{} ranks cannot share {} samples evenly; {} can", ranks, global, others);
}

TrainingState at_ranks(const plan::Plan& plan, TrainingState state, int ranks) {
    const std::int64_t now = plan.training.batch_size;
    const std::int64_t batch_before = state.batch_size > 0 ? state.batch_size : now;
    state.batch_size = now;
    if (state.ranks == ranks && batch_before == now) return state;
    const int before = state.ranks;
    const std::int64_t global = saturating_product({batch_before, before});
    if (batch_before != now && global != plan::global_batch(plan, ranks)) {
        throw RunError(
            Exit::mismatch,
            fmt::format("the training's global batches are of {} samples ({}), those of this plan "
                        "of {} ({})",
                        global, sharing_text(before, batch_before), plan::global_batch(plan, ranks),
                        sharing_text(ranks, now)),
            keep_batch_help(global, ranks));
    }
    if (plan::moves_locally(plan.parallel) && state.step > 0) {
        throw RunError(
            Exit::mismatch,
            fmt::format("{} cannot go on from a training of {}: each of them has an optimizer {}of "
                        "its own",
                        count_text(ranks, "rank"), before,
                        plan.parallel.private_data ? "and data " : ""),
            fmt::format(
                "go on with {} ranks, or begin a new run with the run's weights (--weights)",
                before));
    }
    state.ranks = ranks;
    if (state.batch == 0) return state;
    if (plan.training.carry_state && global != plan::global_batch(plan, ranks)) {
        throw RunError(
            Exit::mismatch,
            fmt::format("{} cannot go on from within epoch {}: its {} lanes of samples, whose "
                        "states are carried, are not the {} of these ranks",
                        count_text(ranks, "rank"), state.epoch + 1, global,
                        plan::global_batch(plan, ranks)),
            keep_batch_help(global, ranks));
    }
    const std::int64_t samples =
        plan::samples_of_steps(plan.dataset.train_samples, batch_before, 0, state.batch, before);
    const std::int64_t batch = batch_at(plan, samples, ranks);
    if (batch < 0) {
        std::string others;
        for (int other = 1; other <= 2 * before && other <= 1024; ++other) {
            if (other == before || batch_at(plan, samples, other) < 0) continue;
            others += fmt::format("{}{}", others.empty() ? "" : ", ", other);
        }
        throw RunError(
            Exit::mismatch,
            fmt::format("{} cannot go on from within epoch {}: {} ranks have seen {} samples of "
                        "it, which is no whole number of updates of {}",
                        count_text(ranks, "rank"), state.epoch + 1, before, samples, ranks),
            fmt::format("go on with {} ranks{}{}", before, others.empty() ? "" : ", or with ",
                        others));
    }
    state.batch = batch;
    return state;
}

std::vector<std::byte> bytes_of(const TrainingState& state) {
    StateWriter writer;
    visit_numbers(state, [&](const auto& value) { writer.number(value); });
    writer.list(state.sums);
    writer.list(state.stop);
    writer.number(std::uint64_t(state.schedules.size()));
    for (const std::vector<double>& numbers : state.schedules)
        writer.list(numbers);
    return writer.bytes;
}

TrainingState state_of(std::span<const std::byte> bytes) {
    StateReader reader(bytes);
    TrainingState state;
    visit_numbers(state, [&](auto& value) { reader.number(value); });
    reader.list(state.sums);
    reader.list(state.stop);
    state.schedules.resize(reader.count());
    for (std::vector<double>& numbers : state.schedules)
        reader.list(numbers);
    reader.end();
    return state;
}

}  // namespace dtnn::runtime
