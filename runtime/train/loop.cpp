#include "runtime/train/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/rules/parallel.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/exec/number_check.hpp"
#include "runtime/train/not_a_number.hpp"
#include "runtime/train/schedules.hpp"

namespace dtnn::runtime {
namespace {

/// What schedules watch: whatever is one number.
EpochValues epoch_values(const PassValues& train, const PassValues& validation) {
    EpochValues values;
    const auto add = [&](const std::string& prefix, const PassValues& pass) {
        for (const MetricValue& value : pass.values) {
            if (value.form == MetricValue::Form::number)
                values[prefix + value.name] = value.number();
        }
    };
    add("", train);
    if (validation.samples > 0) add("validation.", validation);
    return values;
}

class Loop {
  public:
    Loop(Session& session, TrainingObserver& observer, const TrainingRequest& request)
        : session_(session),
          observer_(observer),
          request_(request),
          plan_(session.plan()),
          local_(session.local_steps()),
          extent_(extent_of(plan_, session.ranks())),
          schedules_(plan_, session.ranks()),
          sums_(plan_, PassKind::training) {
        if (request.check_numbers) check_.emplace(session.executor());
        sums_.reset();
        state_.ranks = session.ranks();
        if (request.from == nullptr) return;
        state_ = at_ranks(plan_, *request.from, session.ranks());
        const bool sound = state_.epoch >= 0 && state_.epoch <= extent_.epochs &&
                           state_.batch >= 0 && state_.batch <= extent_.batches &&
                           state_.step >= 0 && state_.update >= 0 && between_updates();
        if (!sound) {
            throw RunError(Exit::mismatch,
                           fmt::format("no training by this plan stands at batch {} of epoch {}",
                                       state_.batch, state_.epoch),
                           "go on with the plan that the training began with");
        }
        restore_sums(request.from->ranks);
        if (!state_.schedules.empty() && !schedules_.set_state(state_.schedules)) {
            throw RunError(Exit::mismatch, "the state of the schedules is of another plan",
                           "go on with the plan that the training began with");
        }
        checkpoint_step_ = state_.step;
    }

    TrainingResult run();

  private:
    enum class End { no, interrupted, enough };

    End train_epoch();
    void train_batch();
    void fill_inputs(const BatchProgram& batch);
    End finish_epoch();
    std::int64_t samples_before(std::int64_t batch) const;
    std::int64_t group_samples() const;
    plan::Part own_part(std::int64_t batch) const;
    bool is_update(std::int64_t batch) const;
    Pass own_pass() const;
    const BatchProgram& run_batch(plan::Part part, bool update);
    End synchronise();
    bool between_updates() const;
    Findings findings() const;
    End heed(const Findings& found);
    bool step_checkpoint_due() const;
    bool parameters_not_finite() const;
    void checkpoint();
    void restore_sums(int ranks);
    std::vector<std::byte> saved_sums() const;
    TrainingState full_state() const;
    void require_number(const char* what, double loss);
    [[noreturn]] void diverged(const NotANumber& mine);
    NotANumber look_at_validation(NotANumber found);
    std::string search();

    Session& session_;
    TrainingObserver& observer_;
    const TrainingRequest& request_;
    const plan::Plan& plan_;
    const plan::LocalSteps* local_;  ///< null: ranks exchange gradients
    const TrainingExtent extent_;
    Schedules schedules_;
    MetricSet sums_;
    std::optional<NumberCheck> check_;
    TrainingState state_;  ///< sums, schedules and times are those it began with: see full_state
    Stopwatch run_watch_, epoch_watch_, checkpoint_watch_;
    std::int64_t checkpoint_step_ = 0;     ///< of the last checkpoint
    std::int64_t first_batch_ = 0;         ///< of the epoch that this loop has done
    std::int64_t first_sample_ = 0;        ///< likewise
    std::span<const std::int64_t> order_;  ///< of the epoch
    const BatchProgram* last_program_ = nullptr;
    bool inputs_filled_ = false;        ///< a batch has been taken: a rank can run without one
    std::optional<NotANumber> broken_;  ///< found by this rank, the others do not know yet
    double learning_rate_ = 0;
    bool first_step_told_ = false;
};

/// Those of the same ranks, each of its own; of other ranks, all of rank 0.
void Loop::restore_sums(int ranks) {
    const std::size_t all = state_.sums.size();
    if (all == 0) return;
    const std::size_t one = all / std::size_t(ranks);
    const auto of_rank = [&](int rank) {
        return std::span(std::as_const(state_.sums)).subspan(std::size_t(rank) * one, one);
    };
    if (ranks == session_.ranks()) return sums_.restore(of_rank(session_.rank()));
    for (int rank = 0; rank < ranks && session_.rank() == 0; ++rank) {
        if (rank == 0)
            sums_.restore(of_rank(rank));
        else
            sums_.join(of_rank(rank));
    }
}

std::vector<std::byte> Loop::saved_sums() const {
    if (session_.ranks() == 1) return sums_.save();
    std::vector<std::byte> all;
    for (const std::vector<std::byte>& one :
         session_.communicator().all_gather(sums_.save(), "the sums of the metrics"))
        all.insert(all.end(), one.begin(), one.end());
    return all;
}

TrainingState Loop::full_state() const {
    TrainingState state = state_;
    state.sums = saved_sums();
    state.schedules = schedules_.state();
    state.epoch_seconds += epoch_watch_.seconds();
    state.seconds += run_watch_.seconds();
    return state;
}

bool Loop::between_updates() const {
    // Between two of them, the ranks' weights differ.
    if (local_ != nullptr) return state_.batch == 0 || !local_->shares(state_.batch).empty();
    return state_.batch % extent_.accumulation == 0 || state_.batch == extent_.batches;
}

bool Loop::step_checkpoint_due() const {
    const std::int64_t steps = plan_.training.checkpoint.every_steps;
    return steps > 0 && state_.step / steps > checkpoint_step_ / steps;
}

/// What this rank has to tell the others: what depends on its signals, its clock, its samples.
Findings Loop::findings() const {
    Findings found;
    found.stop = stop_requested() != 0;
    found.broken = broken_.has_value();
    if (session_.rank() != 0) return found;
    const double every = plan_.training.checkpoint.every_seconds;
    found.checkpoint = every > 0 && checkpoint_watch_.seconds() >= every;
    found.enough = request_.until_seconds > 0 && run_watch_.seconds() > request_.until_seconds;
    return found;
}

/// What all ranks do about what any of them has found.
Loop::End Loop::heed(const Findings& found) {
    if (found.broken) diverged(broken_.value_or(NotANumber{}));
    if (found.stop) return End::interrupted;
    return found.enough ? End::enough : End::no;
}

/// The parameters are the same on all ranks, but for states of parts, and of ranks' own.
bool Loop::parameters_not_finite() const {
    const std::byte own{parameter_not_finite(session_.executor()).has_value()};
    if (plan_.shards.empty() && local_ == nullptr) return own != std::byte{0};
    const auto all = session_.communicator().all_gather({&own, 1}, "whether states are finite");
    return std::any_of(all.begin(), all.end(),
                       [](const auto& one) { return one.front() != std::byte{0}; });
}

void Loop::checkpoint() {
    if (request_.keeper == nullptr) return;
    session_.share_statistics();
    // What a run goes on from is always sound.
    if (parameters_not_finite()) diverged({"", 0, state_.epoch + 1, state_.step, std::nullopt, ""});
    session_.gather_states();
    TrainingState state = full_state();
    state.own_states = session_.gather_own_states();
    request_.keeper->checkpoint(state);
    session_.executor().shard_states().clear();
    checkpoint_step_ = state_.step;
    checkpoint_watch_.restart();
}

/// Samples of the epoch in front of a batch, of all ranks.
std::int64_t Loop::samples_before(std::int64_t batch) const {
    if (local_ != nullptr) return local_->samples_before(batch);
    return plan::samples_of_steps(plan_.dataset.train_samples, plan_.training.batch_size, 0, batch,
                                  session_.ranks());
}

/// Of the batches whose gradients are added up with those of the one that is about to run, over all
/// ranks that add them up.
std::int64_t Loop::group_samples() const {
    const std::int64_t first = state_.batch / extent_.accumulation * extent_.accumulation;
    const std::int64_t last = std::min(first + extent_.accumulation, extent_.batches);
    if (local_ != nullptr) return local_->samples_of(session_.rank(), first, last);
    return samples_before(last) - samples_before(first);
}

/// A rank that has no samples in a step runs its program all the same: the others wait for its part
/// of every exchange. Whatever its inputs hold counts nothing, but must be numbers and labels; one
/// that has had no batch yet takes the epoch's first.
void Loop::fill_inputs(const BatchProgram& batch) {
    if (inputs_filled_) return;
    const std::int64_t size = std::min(batch.program->batch(), std::int64_t(order_.size()));
    session_.pipeline().start({.split = Split::train,
                               .order = order_.first(std::size_t(size)),
                               .batch = size,
                               .epoch = state_.epoch});
    session_.pipeline().wait();
    session_.pipeline().take(batch.inputs);
    inputs_filled_ = true;
}

plan::Part Loop::own_part(std::int64_t batch) const {
    if (local_ != nullptr) return local_->part(session_.rank(), batch);
    return plan::part_of(plan_.dataset.train_samples, plan_.training.batch_size, batch,
                         session_.rank(), session_.ranks());
}

/// Whether the batch ends a group whose gradients are added up.
bool Loop::is_update(std::int64_t batch) const {
    return (batch + 1) % extent_.accumulation == 0 || batch + 1 == extent_.batches;
}

/// This rank's batches of the epoch from here.
Pass Loop::own_pass() const {
    Pass pass = {.split = Split::train,
                 .order = order_,
                 .batch = plan_.training.batch_size,
                 .first_batch = state_.batch,
                 .last_batch = extent_.batches,
                 .epoch = state_.epoch,
                 .rank = session_.rank(),
                 .ranks = session_.ranks()};
    if (!plan_.parallel.private_data) return pass;
    pass.rank = 0, pass.ranks = 1;
    // Whole batches.
    pass.order = order_.first(order_.size() - order_.size() % std::size_t(pass.batch));
    return pass;
}

void Loop::train_batch() {
    const plan::Part part = own_part(state_.batch);
    const bool update = is_update(state_.batch);
    const BatchProgram* batch = nullptr;
    // A rank that moves weights of its own has nothing to do without samples.
    if (local_ == nullptr)
        batch = &run_batch(part, update);
    else if (part.count > 0)
        batch = &run_batch(part, local_->updates(session_.rank(), state_.batch));
    else
        observer_.batch({state_.epoch + 1, state_.step + 1, {}});
    ++state_.step;
    ++state_.batch;
    if (update) ++state_.update;
    if (part.count > 0) {
        require_number("loss", batch->loss());
        sums_.add(batch->outputs, part.count);
    }
    if (!first_step_told_) observer_.first_step();
    first_step_told_ = true;
    observer_.step({state_.epoch + 1, extent_.epochs, state_.batch, extent_.batches,
                    epoch_watch_.seconds(), first_batch_, first_sample_,
                    samples_before(state_.batch), sums_});
}

const BatchProgram& Loop::run_batch(plan::Part part, bool update) {
    const BatchProgram& batch =
        part.count > 0 ? session_.train_program(part.count, update) : session_.idle_program(update);
    const plan::DType dtype = plan_.target.dtype;
    kernels::ThreadTeam& team = session_.executor().team();

    if (part.count > 0) {
        session_.pipeline().wait();
        session_.pipeline().take(batch.inputs);
        inputs_filled_ = true;
    } else {
        fill_inputs(batch);
    }
    observer_.batch({state_.epoch + 1, state_.step + 1,
                     part.count > 0
                         ? order_.subspan(std::size_t(part.first), std::size_t(part.count))
                         : std::span<const std::int64_t>()});
    learning_rate_ = schedules_.learning_rate({state_.epoch, state_.batch});
    batch.set_learning_rate(learning_rate_, dtype);
    batch.set_batch_weight(double(part.count) / double(group_samples()), dtype);
    // No two batches of a run draw the same dropout.
    if (batch.step != nullptr) *batch.step = state_.step * session_.ranks() + session_.rank();
    if (batch.update != nullptr)
        *batch.update = local_ != nullptr
                            ? local_->updates_before(session_.rank(), state_.epoch, state_.batch)
                            : state_.update;
    if (check_) check_->begin_run(batch.program->program());
    if (&batch != last_program_) batch.program->run_prologue(team);
    last_program_ = &batch;
    batch.program->run(team);
    return batch;
}

/// Where ranks have moved weights of their own, and these become one. Ranks tell each other what
/// they have found here and nowhere else.
Loop::End Loop::synchronise() {
    const std::vector<double> shares =
        plan::rounded_shares(local_->shares(state_.batch), plan_.target.dtype);
    if (shares.empty()) return End::no;
    session_.synchronise(shares[std::size_t(session_.rank())]);
    const Findings found = session_.agreement().agree(findings());
    const End end = heed(found);
    if (end == End::no && state_.batch < extent_.batches &&
        (found.checkpoint || step_checkpoint_due()))
        checkpoint();
    return end;
}

Loop::End Loop::train_epoch() {
    Pipeline& pipeline = session_.pipeline();
    Agreement& agreement = session_.agreement();
    epoch_watch_.restart();
    first_batch_ = state_.batch;
    first_sample_ = samples_before(state_.batch);
    order_ = session_.sampler().epoch_order(state_.epoch);
    pipeline.start(own_pass());
    End end = End::no;
    while (end == End::no && state_.batch < extent_.batches) {
        train_batch();
        if (request_.until_step > 0 && state_.step >= request_.until_step) {
            end = heed(agreement.agree(findings()));
            if (end == End::no) end = End::enough;
            break;
        }
        if (local_ != nullptr) {
            end = synchronise();
            continue;
        }
        if (!between_updates()) continue;
        const Findings found = agreement.tell(findings());
        end = heed(found);
        // The end of an epoch has its own, which is behind validation and schedules.
        if (end == End::no && state_.batch < extent_.batches &&
            (found.checkpoint || step_checkpoint_due()))
            checkpoint();
    }
    const End last = heed(agreement.settle());
    if (end == End::no) end = last;
    if (end == End::interrupted) pipeline.stop();
    return end;
}

Loop::End Loop::finish_epoch() {
    EpochResult result;
    const double seconds = epoch_watch_.seconds();
    result.train = session_.joined(sums_);
    const double trained = double(result.train.samples - first_sample_);
    result.samples_per_second = seconds > 0 ? trained / seconds : 0;
    result.epoch = state_.epoch + 1;
    result.step = state_.step;
    // Of a resumed epoch that has no batch left, the rate is that of its last.
    result.learning_rate = schedules_.learning_rate({state_.epoch, extent_.batches - 1});
    result.validation = session_.validate(check_ ? &*check_ : nullptr);
    if (result.validation.stopped) return End::interrupted;
    const bool any = result.validation.samples > 0;
    if (any && !std::isfinite(result.validation.loss()))
        diverged({"validation loss", result.validation.loss(), state_.epoch + 1, state_.step,
                  std::nullopt, ""});
    if (any && check_ && check_->found())
        broken_ = NotANumber{"", 0, state_.epoch + 1, state_.step, std::nullopt, ""};
    const Findings found = session_.agreement().agree(findings());
    if (const End end = heed(found); end == End::interrupted) return end;
    result.seconds = state_.epoch_seconds + epoch_watch_.seconds();

    const EpochDecision decision =
        schedules_.epoch_done(result.epoch, epoch_values(result.train, result.validation));
    ++state_.epoch;
    state_.batch = 0;
    state_.epoch_seconds = 0;
    state_.stop = decision.stop;
    sums_.reset();
    epoch_watch_.restart();
    observer_.epoch(result);
    if (request_.keeper != nullptr && !decision.keep.empty()) {
        // Before the checkpoint, which must not speak of weights that are not there.
        session_.share_statistics();
        for (const BestWeights& best : decision.keep)
            request_.keeper->keep_best(best);
    }
    const std::int64_t every = plan_.training.checkpoint.every_epochs;
    if ((every > 0 && state_.epoch % every == 0) || found.checkpoint || step_checkpoint_due())
        checkpoint();
    return End::no;
}

TrainingResult Loop::run() {
    if (request_.keeper != nullptr) request_.keeper->forget_others(schedules_.kept());
    session_.share_parameters();
    session_.scatter_own_states(state_.own_states);
    state_.own_states.clear();
    End end = heed(session_.agreement().agree(findings()));
    while (end == End::no && state_.stop.empty() && state_.epoch < extent_.epochs) {
        end = train_epoch();
        if (end == End::no) end = finish_epoch();
    }
    if (end == End::interrupted) checkpoint();
    TrainingResult result;
    result.state = full_state();
    if (request_.keeper != nullptr) result.state.own_states = session_.gather_own_states();
    result.epoch = state_.epoch;
    result.step = state_.step;
    result.stop = state_.stop;
    result.interrupted = end == End::interrupted;
    if (end != End::no || request_.keeper == nullptr) return result;
    if (const auto best = schedules_.restore_at_end()) {
        // The weights of the end are worth keeping though the best ones are lost.
        try {
            together(session_.communicator(), "the best weights",
                     [&] { request_.keeper->take_back(*best); });
            session_.share_parameters();
            result.restored = best;
        } catch (const RunError& error) {
            // The plan is sound: what has failed is this run.
            result.not_restored =
                RunError(Exit::failed, error.what(), error.help(), error.detail());
        }
    }
    return result;
}

// --- numbers that are none --------------------------------------------------------------------

void Loop::require_number(const char* what, double loss) {
    const bool finite = std::isfinite(loss);
    if (finite && !(check_ && check_->found())) return;
    if (broken_) return;
    broken_ = NotANumber{finite ? "" : what, loss, state_.epoch + 1, state_.step, std::nullopt, ""};
    if (check_) broken_->first = check_->suspect();
    if (session_.ranks() == 1) diverged(*broken_);
}

/// Every rank calls it, with what it has found itself, if anything.
void Loop::diverged(const NotANumber& mine) {
    session_.pipeline().stop();
    broken_.reset();
    NotANumber found = first_of_ranks(mine, session_.communicator());
    if (!check_) {
        // A validation that is no number though all weights are: it makes it itself.
        if (found.what == "validation loss" && !parameter_not_finite(session_.executor()))
            found = look_at_validation(found);
        if (!found.first) found.search = search();
    } else if (!found.first) {
        NotANumber seen = found;
        seen.first = check_->suspect();
        found = first_of_ranks(seen, session_.communicator());
    }
    if (!found.first) found.first = parameter_not_finite(session_.executor());
    throw SharedRunError(not_a_number(plan_, found));
}

NotANumber Loop::look_at_validation(NotANumber found) {
    NumberCheck check(session_.executor());
    static_cast<void>(session_.validate(&check));
    found.first = check.suspect();
    return first_of_ranks(found, session_.communicator());
}

/// Repeats the steps since the last state that can be gone back to, looking at every result; throws
/// what it finds. What it says when it has found nothing.
std::string Loop::search() {
    if (!request_.rewind) return "";
    const std::string remedy = "; --check-numbers looks at every result from the beginning";
    if (session_.agreement().agree(findings()).stop) return "a stop was requested" + remedy;
    TrainingState from;
    try {
        from = request_.rewind();
    } catch (const RunError& error) {
        return fmt::format("no step can be repeated: {}", error.what());
    }
    if (from.step >= state_.step) return "";
    observer_.searching(from, state_.step);
    TrainingRequest again;
    again.from = &from;
    again.check_numbers = true;
    again.until_step = state_.step;
    again.until_seconds = kSearchSeconds;
    TrainingObserver nobody;
    const std::int64_t until = Loop(session_, nobody, again).run().step;
    if (until < state_.step) {
        return fmt::format("steps {} to {} were repeated in {} s and made none{}", from.step + 1,
                           until, kSearchSeconds, remedy);
    }
    return fmt::format("steps {} to {} were repeated and made none", from.step + 1, until);
}

}  // namespace

TrainingResult train(Session& session, TrainingObserver& observer, const TrainingRequest& request) {
    return Loop(session, observer, request).run();
}

}  // namespace dtnn::runtime
