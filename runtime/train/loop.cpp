#include "runtime/train/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/train/divergence.hpp"
#include "runtime/train/epoch_steps.hpp"
#include "runtime/train/epoch_sums.hpp"
#include "runtime/train/schedules.hpp"

namespace dtnn::runtime {
namespace {

/// The values that schedules watch: whatever is one number.
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

/// The order of a training: batches, what ranks tell each other between them, validation,
/// schedules, checkpoints. EpochSteps knows the steps of an epoch, EpochSums adds up their metrics,
/// Divergence deals with NaNs.
class Loop {
  public:
    Loop(Session& session, TrainingObserver& observer, const TrainingRequest& request)
        : session_(session),
          observer_(observer),
          request_(request),
          plan_(session.plan()),
          steps_(session),
          schedules_(plan_, session.ranks()),
          sums_(session, steps_.batches()),
          divergence_(session, observer, request) {
        state_.ranks = session.ranks();
        if (request.from != nullptr) go_on_from(*request.from);
    }

    TrainingResult run();

  private:
    enum class End { no, interrupted, enough };

    void go_on_from(const TrainingState& from);
    End train_epoch();
    void train_batch();
    const BatchProgram& start_batch(plan::Part part);
    void take_results();
    void fill_inputs(const BatchProgram& batch);
    End finish_epoch();
    std::vector<CurvePoint> curve() const;
    Findings findings() const;
    End heed(const Findings& found);
    bool step_checkpoint_due() const;
    bool parameters_not_finite() const;
    void checkpoint();
    TrainingState full_state();
    TrainingPlace place() const { return {state_.epoch + 1, state_.step}; }

    /// A batch that the device has been given, and whose results are not taken yet.
    struct UnderWay {
        const BatchProgram* batch = nullptr;  ///< null: this rank has none in the step
        std::int64_t samples = 0;
        TrainingPlace place;
        std::int64_t batches = 0;  ///< of the epoch, with this one
    };

    Session& session_;
    TrainingObserver& observer_;
    const TrainingRequest& request_;
    const plan::Plan& plan_;
    EpochSteps steps_;
    Schedules schedules_;
    EpochSums sums_;
    Divergence divergence_;
    TrainingState state_;  ///< sums, schedules and times are those it began with: see full_state
    Stopwatch run_watch_, epoch_watch_, checkpoint_watch_;
    std::int64_t checkpoint_step_ = 0;     ///< where the last checkpoint was written
    std::int64_t first_batch_ = 0;         ///< the first of the epoch that this loop runs
    std::int64_t first_sample_ = 0;        ///< likewise
    std::span<const std::int64_t> order_;  ///< the epoch's
    const BatchProgram* last_program_ = nullptr;
    bool inputs_filled_ = false;  ///< a batch has been taken: a rank can run without one
    double learning_rate_ = 0;
    bool first_step_told_ = false;
    std::optional<UnderWay> under_way_;
};

void Loop::go_on_from(const TrainingState& from) {
    state_ = at_ranks(plan_, from, session_.ranks());
    const bool sound = state_.epoch >= 0 && state_.epoch <= steps_.epochs() && state_.batch >= 0 &&
                       state_.batch <= steps_.batches() && state_.step >= 0 && state_.update >= 0 &&
                       steps_.between_updates(state_.batch);
    if (!sound) {
        throw RunError(Exit::mismatch,
                       fmt::format("no training by this plan stands at batch {} of epoch {}",
                                   state_.batch, state_.epoch),
                       "go on with the plan that the training began with");
    }
    sums_.restore(from);
    state_.sums.clear();
    state_.counts.clear();
    if (!state_.schedules.empty() && !schedules_.set_state(state_.schedules)) {
        throw RunError(Exit::mismatch, "the state of the schedules is of another plan",
                       "go on with the plan that the training began with");
    }
    checkpoint_step_ = state_.step;
}

TrainingState Loop::full_state() {
    TrainingState state = state_;
    sums_.save(state);
    state.schedules = schedules_.state();
    state.epoch_seconds += epoch_watch_.seconds();
    state.seconds += run_watch_.seconds();
    return state;
}

bool Loop::step_checkpoint_due() const {
    const std::int64_t steps = plan_.training.checkpoint.every_steps;
    return steps > 0 && state_.step / steps > checkpoint_step_ / steps;
}

/// The findings that this rank has to tell the others: what depends on its signals, its clock, its
/// samples.
Findings Loop::findings() const {
    Findings found;
    found.stop = session_.agreement().asked_to_stop();
    found.broken = divergence_.found();
    if (session_.rank() != 0) return found;
    const double every = plan_.training.checkpoint.every_seconds;
    found.checkpoint = every > 0 && checkpoint_watch_.seconds() >= every;
    found.enough = request_.until_seconds > 0 && run_watch_.seconds() > request_.until_seconds;
    return found;
}

/// Acts, on all ranks alike, on what any of them has found.
Loop::End Loop::heed(const Findings& found) {
    if (found.broken) divergence_.report(place());
    if (found.stop) return End::interrupted;
    return found.enough ? End::enough : End::no;
}

/// Together. The parameters are the same on all ranks, unless ranks have states in parts or weights
/// of their own.
bool Loop::parameters_not_finite() const {
    const std::byte own{parameter_not_finite(session_.executor()).has_value()};
    if (plan_.shards.empty() && !steps_.local()) return own != std::byte{0};
    const auto all = session_.communicator().all_gather({&own, 1}, "whether states are finite");
    return std::any_of(all.begin(), all.end(),
                       [](const auto& one) { return one.front() != std::byte{0}; });
}

void Loop::checkpoint() {
    if (request_.keeper == nullptr) return;
    take_results();
    session_.share_statistics();
    // The state that a run goes on from is always sound.
    if (parameters_not_finite())
        divergence_.report({"", 0, place().epoch, place().step, std::nullopt, ""}, place());
    session_.gather_states();
    TrainingState state = full_state();
    state.own_states = session_.gather_own_states();
    if (state_.batch > 0) state.carried = session_.gather_carried();
    request_.keeper->checkpoint(std::move(state));
    session_.executor().shard_states().clear();
    checkpoint_step_ = state_.step;
    checkpoint_watch_.restart();
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

/// A device with memory of its own computes a batch while the host takes the results of the one
/// before.
void Loop::train_batch() {
    const plan::Part part = steps_.part(state_.batch);
    const bool ends_group = steps_.ends_group(state_.batch);
    const BatchProgram* batch = steps_.runs(state_.batch) ? &start_batch(part) : nullptr;
    if (batch == nullptr) observer_.batch({state_.epoch + 1, state_.step + 1, {}});
    ++state_.step;
    ++state_.batch;
    if (ends_group) ++state_.update;
    take_results();
    under_way_ = {batch, part.count, place(), state_.batch};
    if (session_.executor().device().is_host() || divergence_.check() != nullptr) take_results();
}

void Loop::take_results() {
    if (!under_way_) return;
    const UnderWay done = *under_way_;
    under_way_.reset();
    if (done.batch != nullptr) done.batch->program->wait();
    if (done.batch != nullptr && done.samples > 0) {
        divergence_.look_at_batch(done.batch->loss(), done.place);
        sums_.add(done.batch->outputs, done.samples, done.batches - 1, done.place.step);
    }
    if (!first_step_told_) observer_.first_step();
    first_step_told_ = true;
    observer_.step({state_.epoch + 1, steps_.epochs(), done.batches, steps_.batches(),
                    epoch_watch_.seconds(), first_batch_, first_sample_,
                    steps_.samples_before(done.batches), sums_.mine()});
}

const BatchProgram& Loop::start_batch(plan::Part part) {
    const bool update = steps_.updates(state_.batch);
    const BatchProgram& batch =
        part.count > 0 ? session_.train_program(part.count, update) : session_.idle_program(update);
    const DType dtype = plan_.target.dtype;

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
    batch.set_batch_weight(double(part.count) / double(steps_.group_samples(state_.batch)), dtype);
    batch.set_position(steps_.drawing_epoch(state_.epoch), part.first);
    if (batch.update != nullptr)
        *batch.update = steps_.updates_before(state_.epoch, state_.batch, state_.update);
    if (NumberCheck* check = divergence_.check()) check->begin_run(batch.program->program());
    if (&batch != last_program_) batch.program->run_prologue();
    last_program_ = &batch;
    batch.program->start();
    return batch;
}

Loop::End Loop::train_epoch() {
    Pipeline& pipeline = session_.pipeline();
    Agreement& agreement = session_.agreement();
    epoch_watch_.restart();
    first_batch_ = state_.batch;
    first_sample_ = steps_.samples_before(state_.batch);
    // Samples of a pass that was cut short may still be prepared, by the order that is made anew.
    pipeline.stop();
    order_ = session_.sampler().epoch_order(state_.epoch);
    if (state_.batch == 0) session_.begin_states(plan::ProgramKind::train);
    pipeline.start(steps_.pass(order_, state_.epoch, state_.batch));
    End end = End::no;
    while (end == End::no && state_.batch < steps_.batches()) {
        train_batch();
        if (request_.until_step > 0 && state_.step >= request_.until_step) {
            take_results();
            end = heed(agreement.agree(findings()));
            if (end == End::no) end = End::enough;
            break;
        }
        // Ranks tell each other what they have found where their weights are the same.
        const bool meets = steps_.local() ? steps_.synchronise(state_.batch)
                                          : steps_.between_updates(state_.batch);
        if (!meets) continue;
        const Findings found =
            steps_.local() ? agreement.agree(findings()) : agreement.tell(findings());
        end = heed(found);
        // The end of an epoch has a checkpoint of its own, behind validation and schedules.
        if (end == End::no && state_.batch < steps_.batches() &&
            (found.checkpoint || step_checkpoint_due()))
            checkpoint();
    }
    take_results();
    const End last = heed(agreement.settle());
    if (end == End::no) end = last;
    if (end == End::interrupted) pipeline.stop();
    return end;
}

std::vector<CurvePoint> Loop::curve() const {
    std::vector<CurvePoint> curve;
    for (const EpochSums::Point& point : sums_.points())
        curve.push_back(
            {point.step, point.loss, schedules_.learning_rate({state_.epoch, point.batches - 1})});
    return curve;
}

Loop::End Loop::finish_epoch() {
    EpochResult result;
    const double seconds = epoch_watch_.seconds();
    result.train = sums_.values();
    const double trained = double(result.train.samples - first_sample_);
    result.samples_per_second = seconds > 0 ? trained / seconds : 0;
    result.epoch = state_.epoch + 1;
    result.step = state_.step;
    // A resumed epoch may have no batch left: the rate is that of the epoch's last batch.
    result.learning_rate = schedules_.learning_rate({state_.epoch, steps_.batches() - 1});
    result.curve = curve();
    result.validation = session_.validate(divergence_.check());
    if (result.validation.stopped) return End::interrupted;
    divergence_.look_at_validation(result.validation, place());
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
    session_.scatter_carried(state_.carried);
    state_.carried.clear();
    End end = heed(session_.agreement().agree(findings()));
    while (end == End::no && state_.stop.empty() && state_.epoch < steps_.epochs()) {
        end = train_epoch();
        if (end == End::no) end = finish_epoch();
        // The end of the training itself is more: its best weights come back.
        if (end == End::no && request_.until_epoch > 0 && state_.epoch >= request_.until_epoch &&
            state_.epoch < steps_.epochs() && state_.stop.empty())
            end = End::enough;
    }
    if (end == End::interrupted) checkpoint();
    TrainingResult result;
    result.state = full_state();
    if (request_.keeper != nullptr) {
        result.state.own_states = session_.gather_own_states();
        if (state_.batch > 0) result.state.carried = session_.gather_carried();
    }
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

}  // namespace

TrainingResult train(Session& session, TrainingObserver& observer, const TrainingRequest& request) {
    return Loop(session, observer, request).run();
}

}  // namespace dtnn::runtime
