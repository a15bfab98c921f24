#include "runtime/train/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "plan/parallel.hpp"
#include "plan/saturating.hpp"

namespace dtnn::runtime {
namespace {

/// Weights of an update are quotients of whole numbers; their sum is this near to 1 for millions
/// of ranks.
constexpr double kWeightError = 1e-9;

const plan::Program* find_batch(const plan::Plan& plan, const std::string& kind,
                                std::int64_t batch) {
    for (const plan::Program& program : plan.programs) {
        if (program.batch != batch) continue;
        if (program.name == kind || program.name.starts_with(kind + "_")) return &program;
    }
    return nullptr;
}

class Walk {
  public:
    Walk(const plan::Plan& plan, int ranks)
        : plan_(plan), training_(plan.training), samples_(plan.dataset.train_samples) {
        result_.ranks = ranks;
        result_.steps = plan::steps_per_epoch(plan, ranks);
        result_.memory =
            plan::saturating_sum({plan.memory.arena, plan.memory.staging, plan.memory.samples});
    }

    DryRun run();

  private:
    void walk_step(std::int64_t step);
    void walk_rank(std::int64_t step, int rank, bool update, std::int64_t group);
    const plan::Program* program_of(std::int64_t count, bool update) const;
    void check_exchanges(std::int64_t step, int rank, const plan::Program& program);
    void check_coverage();
    std::int64_t group_samples(std::int64_t step) const;
    /// One of a kind is enough: the same fault comes back at every step.
    void find(const char* kind, const std::string& what) {
        if (kinds_.emplace(kind, true).second) result_.findings.push_back(what);
    }

    const plan::Plan& plan_;
    const plan::Training& training_;
    std::int64_t samples_;
    DryRun result_;
    std::map<std::string, bool> kinds_;
    std::vector<plan::Part> parts_;           ///< all that were taken
    const plan::Program* of_step_ = nullptr;  ///< what the first rank runs in the step
    std::map<std::pair<const plan::Program*, const plan::Program*>, bool> compared_;
    std::map<const plan::Program*, bool> ran_;
    double weight_ = 0;  ///< of the update so far, over all ranks
};

/// Of all ranks and batches whose gradients the update of this step's group adds up.
std::int64_t Walk::group_samples(std::int64_t step) const {
    const std::int64_t size = training_.accumulation;
    const std::int64_t first = step / size * size;
    return plan::samples_of_steps(samples_, training_.batch_size, first,
                                  std::min(first + size, result_.steps), result_.ranks);
}

/// A rank without samples goes through the program of a whole batch, with weight zero, because the
/// others need it in their exchanges.
const plan::Program* Walk::program_of(std::int64_t count, bool update) const {
    const std::int64_t batch = count > 0 ? count : std::min(training_.batch_size, samples_);
    return find_batch(plan_, update ? "train" : "accumulate", batch);
}

void Walk::check_exchanges(std::int64_t step, int rank, const plan::Program& program) {
    if (ran_.emplace(&program, true).second) {
        if (const auto mistake = exchange_mistake(program))
            find("order", fmt::format("rank {}, step {}: {}", rank, step, *mistake));
    }
    if (of_step_ == nullptr) of_step_ = &program;
    if (&program == of_step_ || !compared_.emplace(std::pair(of_step_, &program), true).second)
        return;
    if (const auto difference = exchange_difference(*of_step_, program))
        find("match", fmt::format("step {}: rank 0 runs program `{}` and rank {} program `{}`: {}",
                                  step, of_step_->name, rank, program.name, *difference));
}

void Walk::walk_rank(std::int64_t step, int rank, bool update, std::int64_t group) {
    const plan::Part part =
        plan::part_of(samples_, training_.batch_size, step, rank, result_.ranks);
    ++result_.rank_steps;
    if (part.count == 0) ++result_.idle_rank_steps;
    if (part.count > 0) parts_.push_back(part);
    weight_ += double(part.count) / double(group);
    const plan::Program* program = program_of(part.count, update);
    if (program == nullptr)
        return find("program",
                    fmt::format("rank {}, step {}: the plan has no program `{}` for a batch of {}",
                                rank, step, update ? "train" : "accumulate", part.count));
    check_exchanges(step, rank, *program);
    if (rank != 0) return;
    for (const plan::Collective& one : program->collectives) {
        ++result_.exchanges;
        result_.exchanged_bytes = plan::saturating_sum({result_.exchanged_bytes, one.bytes});
    }
}

void Walk::walk_step(std::int64_t step) {
    const std::int64_t next = step + 1;
    const bool update = next % training_.accumulation == 0 || next == result_.steps;
    const std::int64_t group = group_samples(step);
    if (group < 1) return find("weight", fmt::format("step {}: no rank has a sample", step));
    of_step_ = nullptr;
    for (int rank = 0; rank < result_.ranks; ++rank)
        walk_rank(step, rank, update, group);
    if (!update) return;
    ++result_.updates;
    if (std::abs(weight_ - 1) > kWeightError)
        find("weight", fmt::format("step {}: the weights of all ranks' batches add up to {}, not "
                                   "to 1",
                                   step, weight_));
    weight_ = 0;
}

void Walk::check_coverage() {
    std::sort(parts_.begin(), parts_.end(),
              [](const plan::Part& a, const plan::Part& b) { return a.first < b.first; });
    std::int64_t next = 0;
    for (const plan::Part& part : parts_) {
        if (part.first != next)
            find("coverage", fmt::format("samples {} to {} of the epoch's order are taken {}",
                                         std::min(part.first, next), std::max(part.first, next) - 1,
                                         part.first > next ? "by no rank" : "more than once"));
        next = part.first + part.count;
        result_.samples += part.count;
    }
    if (training_.whole_epochs && next != samples_)
        find("coverage", fmt::format("{} samples of the epoch's order are taken, there are {}",
                                     next, samples_));
}

DryRun Walk::run() {
    if (result_.steps > 0) parts_.reserve(std::size_t(samples_ / training_.batch_size + 1));
    for (std::int64_t step = 0; step < result_.steps; ++step)
        walk_step(step);
    check_coverage();
    for (const plan::Program& program : plan_.programs)
        if (ran_.contains(&program)) result_.programs.push_back(program.name);
    return std::move(result_);
}

}  // namespace

std::optional<std::string> exchange_mistake(const plan::Program& program) {
    enum class State { before, begun, done };
    std::vector<State> states(program.collectives.size(), State::before);
    std::size_t next = 0;
    const auto name = [&](std::size_t i) { return program.collectives[i].name; };
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const plan::Step& step = program.steps[i];
        if (!plan::is_collective(step.op)) continue;
        const auto attribute = step.attributes.find("collective");
        const auto* index = attribute == step.attributes.end()
                                ? nullptr
                                : std::get_if<std::int64_t>(&attribute->second);
        if (index == nullptr || *index < 0 || std::size_t(*index) >= states.size())
            return fmt::format("step {} of program `{}` names no exchange", i, program.name);
        const auto which = std::size_t(*index);
        if (step.op == "all_reduce_start") {
            if (which != next)
                return fmt::format("program `{}` begins the exchange `{}` out of order",
                                   program.name, name(which));
            states[which] = State::begun;
            ++next;
        } else {
            if (states[which] != State::begun)
                return fmt::format(
                    "program `{}` waits for the exchange `{}`, which {}", program.name, name(which),
                    states[which] == State::done ? "it has waited for before" : "it has not begun");
            states[which] = State::done;
        }
    }
    for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i] != State::done)
            return fmt::format("program `{}` {} the exchange `{}`", program.name,
                               states[i] == State::begun ? "never waits for" : "never begins",
                               name(i));
    return std::nullopt;
}

std::optional<std::string> exchange_difference(const plan::Program& a, const plan::Program& b) {
    const std::size_t shared = std::min(a.collectives.size(), b.collectives.size());
    for (std::size_t i = 0; i < shared; ++i) {
        const plan::Collective &one = a.collectives[i], &other = b.collectives[i];
        if (one.kind == other.kind && one.bytes == other.bytes && one.dtype == other.dtype)
            continue;
        const auto text = [](const plan::Collective& it) {
            return fmt::format("`{}` ({} of {} bytes of {})", it.name, it.kind, it.bytes,
                               plan::name_of(it.dtype));
        };
        return fmt::format("exchange {} is {} there and {} here", i + 1, text(one), text(other));
    }
    if (a.collectives.size() != b.collectives.size())
        return fmt::format("there are {} exchanges there and {} here", a.collectives.size(),
                           b.collectives.size());
    return std::nullopt;
}

DryRun dry_run(const plan::Plan& plan, int ranks) {
    return Walk(plan, ranks).run();
}

std::string dry_run_text(const DryRun& result, const plan::Plan& plan) {
    std::string text = fmt::format(
        "{}: an epoch on {} rank{}, without arithmetic\n"
        "  steps        {} on every rank, {} updates; programs {}\n"
        "  samples      {} of {} taken, each once; batches of {}{}\n"
        "  weights      those of all ranks' batches add up to 1 in every update\n"
        "  exchanges    {} on every rank, {} bytes: the same in the same order, each begun before "
        "it is waited for\n"
        "  memory       {} bytes a rank\n",
        plan.name, result.ranks, result.ranks == 1 ? "" : "s", result.steps, result.updates,
        fmt::join(result.programs, ", "), result.samples, plan.dataset.train_samples,
        plan.training.batch_size,
        result.idle_rank_steps > 0 ? fmt::format("; {} of {} steps of ranks have none",
                                                 result.idle_rank_steps, result.rank_steps)
                                   : "",
        result.exchanges, result.exchanged_bytes, result.memory);
    return text;
}

std::string dry_run_json(const DryRun& result, const plan::Plan& plan) {
    const nlohmann::ordered_json json = {{"version", 1},
                                         {"name", plan.name},
                                         {"ranks", result.ranks},
                                         {"steps", result.steps},
                                         {"updates", result.updates},
                                         {"samples", result.samples},
                                         {"rank_steps", result.rank_steps},
                                         {"idle_rank_steps", result.idle_rank_steps},
                                         {"exchanges", result.exchanges},
                                         {"exchanged_bytes", result.exchanged_bytes},
                                         {"memory_bytes", result.memory},
                                         {"programs", result.programs},
                                         {"findings", result.findings}};
    return json.dump(2) + "\n";
}

}  // namespace dtnn::runtime
