#include "runtime/train/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

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
          extent_(extent_of(plan_)),
          schedules_(plan_),
          sums_(plan_, PassKind::training) {
        if (request.check_numbers) check_.emplace(session.executor());
        sums_.reset();
        if (request.from == nullptr) return;
        state_ = *request.from;
        const bool sound = state_.epoch >= 0 && state_.epoch <= extent_.epochs &&
                           state_.batch >= 0 && state_.batch <= extent_.batches &&
                           state_.step >= 0 && state_.update >= 0 && between_updates();
        if (!sound) {
            throw RunError(Exit::mismatch,
                           fmt::format("no training by this plan stands at batch {} of epoch {}",
                                       state_.batch, state_.epoch),
                           "go on with the plan that the training began with");
        }
        if (!state_.sums.empty()) sums_.restore(state_.sums);
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
    void train_batch(std::int64_t samples);
    End finish_epoch();
    std::int64_t group_samples() const;
    bool between_updates() const;
    bool checkpoint_due() const;
    void checkpoint();
    TrainingState full_state() const;
    void require_number(const char* what, double loss);
    [[noreturn]] void diverged(const char* what, double loss);
    std::string search();

    Session& session_;
    TrainingObserver& observer_;
    const TrainingRequest& request_;
    const plan::Plan& plan_;
    const TrainingExtent extent_;
    Schedules schedules_;
    MetricSet sums_;
    std::optional<NumberCheck> check_;
    TrainingState state_;  ///< sums, schedules and times are those it began with: see full_state
    Stopwatch run_watch_, epoch_watch_, checkpoint_watch_;
    std::int64_t checkpoint_step_ = 0;  ///< of the last checkpoint
    std::int64_t first_batch_ = 0;      ///< of the epoch that this loop has done
    std::int64_t first_sample_ = 0;     ///< likewise
    const BatchProgram* last_program_ = nullptr;
    double learning_rate_ = 0;
    bool first_step_told_ = false;
};

TrainingState Loop::full_state() const {
    TrainingState state = state_;
    state.sums = sums_.save();
    state.schedules = schedules_.state();
    state.epoch_seconds += epoch_watch_.seconds();
    state.seconds += run_watch_.seconds();
    return state;
}

bool Loop::between_updates() const {
    return state_.batch % extent_.accumulation == 0 || state_.batch == extent_.batches;
}

bool Loop::checkpoint_due() const {
    const plan::CheckpointRule& rule = plan_.training.checkpoint;
    const std::int64_t steps = rule.every_steps;
    if (steps > 0 && state_.step / steps > checkpoint_step_ / steps) return true;
    return rule.every_seconds > 0 && checkpoint_watch_.seconds() >= rule.every_seconds;
}

void Loop::checkpoint() {
    if (request_.keeper == nullptr) return;
    // What a run goes on from is always sound.
    if (parameter_not_finite(session_.executor())) diverged("", 0);
    request_.keeper->checkpoint(full_state());
    checkpoint_step_ = state_.step;
    checkpoint_watch_.restart();
}

/// Of the batches whose gradients are added up with those of the one that is about to run.
std::int64_t Loop::group_samples() const {
    const std::int64_t first = state_.batch / extent_.accumulation * extent_.accumulation;
    const std::int64_t last = std::min(first + extent_.accumulation, extent_.batches);
    const std::int64_t batch = plan_.training.batch_size;
    return std::min(last * batch, plan_.dataset.train_samples) - first * batch;
}

void Loop::train_batch(std::int64_t samples) {
    const std::int64_t next = state_.batch + 1;
    const bool update = next % extent_.accumulation == 0 || next == extent_.batches;
    const BatchProgram& batch = session_.train_program(samples, update);
    const plan::DType dtype = plan_.target.dtype;
    kernels::ThreadTeam& team = session_.executor().team();

    session_.pipeline().take(batch.inputs);
    learning_rate_ = schedules_.learning_rate({state_.epoch, state_.batch});
    batch.set_learning_rate(learning_rate_, dtype);
    batch.set_batch_weight(double(samples) / double(group_samples()), dtype);
    if (batch.step != nullptr) *batch.step = state_.step;
    if (batch.update != nullptr) *batch.update = state_.update;
    if (check_) check_->begin_run(batch.program->program());
    if (&batch != last_program_) batch.program->run_prologue(team);
    last_program_ = &batch;
    batch.program->run(team);

    ++state_.step;
    ++state_.batch;
    if (update) ++state_.update;
    require_number("loss", batch.loss());
    sums_.add(batch.outputs, samples);
    if (!first_step_told_) observer_.first_step();
    first_step_told_ = true;
    observer_.step({state_.epoch + 1, extent_.epochs, state_.batch, extent_.batches,
                    epoch_watch_.seconds(), first_batch_, first_sample_, sums_});
}

Loop::End Loop::train_epoch() {
    Pipeline& pipeline = session_.pipeline();
    epoch_watch_.restart();
    first_batch_ = state_.batch;
    first_sample_ = sums_.samples();
    pipeline.start({.split = Split::train,
                    .order = session_.sampler().epoch_order(state_.epoch),
                    .batch = plan_.training.batch_size,
                    .first_batch = state_.batch,
                    .last_batch = extent_.batches,
                    .epoch = state_.epoch});
    while (state_.batch < extent_.batches) {
        const std::int64_t samples = pipeline.wait();
        if (samples == 0) break;
        train_batch(samples);
        if (request_.until_step > 0 && state_.step >= request_.until_step) return End::enough;
        if (request_.until_seconds > 0 && run_watch_.seconds() > request_.until_seconds)
            return End::enough;
        if (!between_updates()) continue;
        if (stop_requested() != 0) {
            pipeline.stop();
            return End::interrupted;
        }
        // The end of an epoch has its own, which is behind validation and schedules.
        if (state_.batch < extent_.batches && checkpoint_due()) checkpoint();
    }
    return End::no;
}

Loop::End Loop::finish_epoch() {
    EpochResult result;
    const double seconds = epoch_watch_.seconds();
    const double trained = double(sums_.samples() - first_sample_);
    result.samples_per_second = seconds > 0 ? trained / seconds : 0;
    result.epoch = state_.epoch + 1;
    result.step = state_.step;
    // Of a resumed epoch that has no batch left, the rate is that of its last.
    result.learning_rate = schedules_.learning_rate({state_.epoch, extent_.batches - 1});
    result.train = {sums_.values(), sums_.samples()};
    result.validation = session_.validate(check_ ? &*check_ : nullptr);
    if (stop_requested() != 0) return End::interrupted;
    if (result.validation.samples > 0) require_number("validation loss", result.validation.loss());
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
    if (request_.keeper != nullptr) {
        // Before the checkpoint, which must not speak of weights that are not there.
        for (const BestWeights& best : decision.keep)
            request_.keeper->keep_best(best);
    }
    const std::int64_t every = plan_.training.checkpoint.every_epochs;
    if ((every > 0 && state_.epoch % every == 0) || checkpoint_due()) checkpoint();
    return End::no;
}

TrainingResult Loop::run() {
    End end = End::no;
    while (end == End::no && state_.stop.empty() && state_.epoch < extent_.epochs) {
        if (stop_requested() != 0) {
            end = End::interrupted;
            break;
        }
        end = train_epoch();
        if (end == End::no) end = finish_epoch();
    }
    if (end == End::interrupted) checkpoint();
    TrainingResult result;
    result.state = full_state();
    result.epoch = state_.epoch;
    result.step = state_.step;
    result.stop = state_.stop;
    result.interrupted = end == End::interrupted;
    if (end != End::no || request_.keeper == nullptr) return result;
    if (const auto best = schedules_.restore_at_end()) {
        request_.keeper->take_back(*best);
        result.restored = best;
    }
    return result;
}

// --- numbers that are none --------------------------------------------------------------------

void Loop::require_number(const char* what, double loss) {
    if (!std::isfinite(loss)) diverged(what, loss);
    if (check_ && check_->found()) diverged("", loss);
}

void Loop::diverged(const char* what, double loss) {
    session_.pipeline().stop();
    NotANumber found{what, loss, state_.epoch + 1, state_.step, std::nullopt, ""};
    if (check_) {
        found.first = check_->suspect();
    } else {
        // A validation that is no number though all weights are: it makes it itself.
        if (std::string(what) != "loss" && !parameter_not_finite(session_.executor())) {
            NumberCheck check(session_.executor());
            static_cast<void>(session_.validate(&check));
            found.first = check.suspect();
        }
        if (!found.first) found.search = search();
    }
    if (!found.first) found.first = parameter_not_finite(session_.executor());
    throw not_a_number(plan_, found);
}

/// Repeats the steps since the last state that can be gone back to, looking at every result; throws
/// what it finds. What it says when it has found nothing.
std::string Loop::search() {
    if (!request_.rewind) return "";
    const std::string remedy = "; --check-numbers looks at every result from the beginning";
    if (stop_requested() != 0) return "a stop was requested" + remedy;
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
