#include "runtime/train/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/json.hpp"
#include "base/quantity_text.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "plan/rules/local_steps.hpp"
#include "plan/rules/memory_need.hpp"
#include "plan/rules/parallel.hpp"
#include "runtime/comm/null_ranks.hpp"
#include "runtime/exec/collectives.hpp"

namespace dtnn::runtime {
namespace {

/// Weights of an update are quotients of whole numbers; their sum is this near to 1 for millions
/// of ranks.
constexpr double kWeightError = 1e-9;

plan::ProgramKind kind_of(bool update) {
    return update ? plan::ProgramKind::train : plan::ProgramKind::accumulate;
}

const plan::Program* find_batch(const plan::Plan& plan, plan::ProgramKind kind,
                                std::int64_t batch) {
    for (const plan::Program& program : plan.programs)
        if (program.kind == kind && program.batch == batch) return &program;
    return nullptr;
}

class Walk {
  public:
    Walk(const plan::Plan& plan, int ranks)
        : plan_(plan), training_(plan.training), samples_(plan.dataset.train_samples) {
        result_.ranks = ranks;
        result_.steps = plan::steps_per_epoch(plan, ranks);
        result_.memory = plan::memory_need(plan).bounded();
        if (plan::moves_locally(plan.parallel) && ranks > 1) local_.emplace(plan, ranks);
        for (int rank = 0; rank < ranks; ++rank)
            ranks_.push_back({make_null(rank, ranks), {}});
    }

    DryRun run();

  private:
    void walk_step(std::int64_t step);
    void walk_local_step(std::int64_t step);
    void average(std::int64_t step);
    void count_exchanges(const plan::Program& program);
    void walk_rank(std::int64_t step, int rank, bool update, std::int64_t group);
    const plan::Program* program_of(std::int64_t count, bool update) const;
    const std::vector<std::unique_ptr<Exchange>>& exchanges_of(int rank,
                                                               const plan::Program& program);
    void run_exchanges(std::int64_t step, int rank, const plan::Program& program);
    void compare(std::int64_t step, int rank, const plan::Program& program);
    void check_coverage();
    std::int64_t group_samples(std::int64_t step) const;
    /// One of a kind is enough: the same fault comes back at every step.
    void find(const char* kind, const std::string& what) {
        if (kinds_.insert(kind).second) result_.findings.push_back(what);
    }

    const plan::Plan& plan_;
    const plan::Training& training_;
    std::int64_t samples_;
    DryRun result_;
    std::optional<plan::LocalSteps> local_;  ///< where ranks move weights of their own
    std::set<std::string> kinds_;
    std::vector<plan::Part> parts_;           ///< all that were taken
    const plan::Program* of_step_ = nullptr;  ///< what the first rank runs in the step
    std::vector<RecordedOperation> record_;   ///< the first rank's in the step
    std::set<const plan::Program*> ran_;
    struct Rank {
        std::unique_ptr<NullRank> communicator;
        std::map<const plan::Program*, std::vector<std::unique_ptr<Exchange>>> exchanges;
    };
    std::vector<Rank> ranks_;
    double weight_ = 0;  ///< the update's so far, over all ranks
};

/// The samples of all ranks and batches whose gradients the update of this step's group adds up.
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
    return find_batch(plan_, kind_of(update), batch);
}

/// The program's exchanges on a rank's communicator, bound the first time.
const std::vector<std::unique_ptr<Exchange>>& Walk::exchanges_of(int rank,
                                                                 const plan::Program& program) {
    NullRank& communicator = *ranks_[std::size_t(rank)].communicator;
    std::vector<std::unique_ptr<Exchange>>& bound = ranks_[std::size_t(rank)].exchanges[&program];
    if (bound.empty()) {
        for (const plan::Collective& one : program.collectives)
            bound.push_back(bind_exchange(communicator, plan_, one, nullptr));
    }
    return bound;
}

void Walk::run_exchanges(std::int64_t step, int rank, const plan::Program& program) {
    const std::vector<std::unique_ptr<Exchange>>& exchanges = exchanges_of(rank, program);
    NullRank& communicator = *ranks_[std::size_t(rank)].communicator;
    std::size_t begun = 0, ended = 0;
    for (const plan::Step& one : program.steps) {
        if (!plan::is_collective(one.op)) continue;
        const auto found = one.attributes.find("collective");
        const auto* which =
            found == one.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
        if (which == nullptr || *which < 0 || std::size_t(*which) >= exchanges.size())
            return find("order", fmt::format("program `{}`: the step `{}` names no exchange",
                                             program.name, one.name));
        const bool begins =
            program.collectives[std::size_t(*which)].start == int(&one - program.steps.data());
        if (begins)
            exchanges[std::size_t(*which)]->start(), ++begun;
        else
            exchanges[std::size_t(*which)]->wait(), ++ended;
    }
    const auto where = [&] {
        return fmt::format("rank {}, step {}, program `{}`", rank, step, program.name);
    };
    if (!communicator.faults().empty())
        find("order", fmt::format("{}: {}", where(), communicator.faults().front()));
    else if (begun != exchanges.size() || ended != exchanges.size())
        find("order", fmt::format("{}: {} exchanges are begun and {} waited for, there are {}",
                                  where(), begun, ended, exchanges.size()));
    compare(step, rank, program);
}

/// With what the first rank has done in this step.
void Walk::compare(std::int64_t step, int rank, const plan::Program& program) {
    NullRank& communicator = *ranks_[std::size_t(rank)].communicator;
    if (rank == 0) {
        record_ = communicator.record();
        of_step_ = &program;
    } else if (communicator.record() != record_) {
        const std::vector<RecordedOperation>& own = communicator.record();
        const std::size_t shared = std::min(own.size(), record_.size());
        const auto at = std::size_t(
            std::mismatch(own.begin(), own.begin() + std::ptrdiff_t(shared), record_.begin())
                .first -
            own.begin());
        const auto text = [&](const std::vector<RecordedOperation>& record) {
            if (at >= record.size()) return std::string("is done");
            return fmt::format("is at {} `{}` of {} bytes", name_of(record[at].kind),
                               record[at].name, record[at].bytes);
        };
        find("match", fmt::format("step {}, operation {}: rank 0 (program `{}`) {}, rank {} "
                                  "(program `{}`) {}",
                                  step, at + 1, of_step_->name, text(record_), rank, program.name,
                                  text(own)));
    }
    communicator.clear();
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
                                rank, step, name_of(kind_of(update)), part.count));
    ran_.insert(program);
    run_exchanges(step, rank, *program);
    if (rank == 0) count_exchanges(*program);
}

void Walk::count_exchanges(const plan::Program& program) {
    for (const plan::Collective& one : program.collectives) {
        ++result_.exchanges;
        result_.exchanged_bytes = saturating_sum({result_.exchanged_bytes, one.bytes});
    }
}

/// A rank without samples does nothing; all meet where an average is due.
void Walk::walk_local_step(std::int64_t step) {
    for (int rank = 0; rank < result_.ranks; ++rank) {
        const plan::Part part = local_->part(rank, step);
        ++result_.rank_steps;
        if (part.count == 0) {
            ++result_.idle_rank_steps;
            continue;
        }
        // Ranks that have data of their own all have the same places.
        if (!plan_.parallel.private_data || rank == 0) parts_.push_back(part);
        const bool update = local_->updates(rank, step);
        const plan::Program* program = program_of(part.count, update);
        if (program == nullptr)
            return find("program",
                        fmt::format("rank {}, step {}: the plan has no program `{}` for a batch of "
                                    "{}",
                                    rank, step, name_of(kind_of(update)), part.count));
        ran_.insert(program);
        run_exchanges(step, rank, *program);
    }
    const std::int64_t next = step + 1;
    if (next % training_.accumulation == 0 || next == result_.steps) ++result_.updates;
    average(step);
}

void Walk::average(std::int64_t step) {
    const std::vector<double> shares = local_->shares(step + 1);
    if (shares.empty()) return;
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (std::abs(sum - 1) > kWeightError)
        find("weight",
             fmt::format("step {}: the ranks' weights in the average add up to {}, not to 1", step,
                         sum));
    const plan::Program* program = plan::find_program(plan_, plan::ProgramKind::synchronise);
    if (program == nullptr)
        return find("program", "the plan has no program `synchronise`, which averages weights");
    ran_.insert(program);
    for (int rank = 0; rank < result_.ranks; ++rank)
        run_exchanges(step, rank, *program);
    count_exchanges(*program);
}

void Walk::walk_step(std::int64_t step) {
    if (local_) return walk_local_step(step);
    const std::int64_t next = step + 1;
    const bool update = next % training_.accumulation == 0 || next == result_.steps;
    const std::int64_t group = group_samples(step);
    if (group < 1) return find("weight", fmt::format("step {}: no rank has a sample", step));
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
    if (local_) {
        // An epoch may end with the rank that has the fewest batches.
        const std::int64_t own = plan_.parallel.private_data
                                     ? local_->samples_of(0, 0, result_.steps)
                                     : local_->samples_before(result_.steps);
        if (next != own)
            find("coverage", fmt::format("{} samples of the epoch's order are taken, and {} are to "
                                         "be",
                                         next, own));
        result_.samples = local_->samples_before(result_.steps);
        return;
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

DryRun dry_run(const plan::Plan& plan, int ranks) {
    return Walk(plan, ranks).run();
}

std::string dry_run_text(const DryRun& result, const plan::Plan& plan) {
    const bool local = plan::moves_locally(plan.parallel) && result.ranks > 1;
    std::string text = fmt::format(
        "{}: an epoch on {}, without arithmetic\n"
        "  steps        {} on every rank, {} updates; programs {}\n"
        "  samples      {} of {} taken, each once; batches of {}{}\n"
        "  weights      those of all ranks{} add up to 1 in every {}\n"
        "  exchanges    {} on every rank, {}: the same in the same order, each begun before "
        "it is waited for\n"
        "  memory       {} a rank\n",
        plan.name, count_text(result.ranks, "rank"), result.steps, result.updates,
        fmt::join(result.programs, ", "), result.samples,
        plan.parallel.private_data ? saturating_product({result.ranks, plan.dataset.train_samples})
                                   : plan.dataset.train_samples,
        plan.training.batch_size,
        result.idle_rank_steps > 0 ? fmt::format("; {} of {} steps of ranks have none",
                                                 result.idle_rank_steps, result.rank_steps)
                                   : "",
        local ? "" : "' batches", local ? "average" : "update", result.exchanges,
        bytes_text(double(result.exchanged_bytes)), bytes_text(double(result.memory)));
    return text;
}

std::string dry_run_json(const DryRun& result, const plan::Plan& plan) {
    const Json json = {{"version", 1},
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
    return write_json(json, 2) + "\n";
}

}  // namespace dtnn::runtime
