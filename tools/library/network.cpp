#include "tools/library/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/spec_folders.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/environment.hpp"
#include "runtime/base/surroundings.hpp"
#include "runtime/checkpoint/parameter_tensors.hpp"
#include "runtime/comm/open.hpp"
#include "runtime/comm/start_checks.hpp"
#include "runtime/train/learning_rates.hpp"
#include "runtime/train/private_data.hpp"

namespace dtnn::library {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file drives it

namespace {

/// What the machine lacks is an error, what costs speed a warning.
void check_surroundings(const plan::Plan& plan, int threads, Network::Warnings& warnings) {
    for (const Finding& finding : check_start(needs_of(plan, {threads}), {find_surroundings()})) {
        if (finding.refused) throw RunError(Exit::mismatch, finding.fact, finding.remedy);
        warnings.push_back(fmt::format("{}; {}", finding.fact, finding.remedy));
    }
}

/// Tells the listener, and the history where the run is kept.
class Listening final : public TrainingObserver {
  public:
    Listening(const TrainListener& listener, Session& session, KeptRun* kept, int threads)
        : listener_(listener), session_(session), kept_(kept), threads_(threads) {}

    void first_step() override {
        if (kept_ == nullptr || !kept_->history.empty()) return;
        kept_->history.start(kept_->loaded.checksum, threads_, 1e3 * watch_.seconds(),
                             content_text(session_.source().content_hash()), 1,
                             class_names_of(session_.source(), session_.plan().dataset));
    }
    void step(const Progress& progress) override {
        if (listener_.step && listener_.step(progress)) stop();
    }
    void epoch(const EpochResult& result) override {
        if (kept_ != nullptr) kept_->history.epoch(result);
        if (listener_.epoch && listener_.epoch(result)) stop();
    }
    bool asked_to_stop() const { return stopped_; }

  private:
    void stop() {
        stopped_ = true;
        session_.agreement().ask_to_stop();
    }

    const TrainListener& listener_;
    Session& session_;
    KeptRun* kept_;
    int threads_;
    Stopwatch watch_;
    bool stopped_ = false;
};

}  // namespace

Network::Network(const LoadedPlan& plan, const OpenRequest& request, Warnings& warnings)
    : loaded_(plan) {
    check_runnable(loaded_.plan, loaded_.plan.name);
    const std::optional<int> wanted =
        request.threads > 0 ? std::optional(request.threads) : threads_from_environment();
    const ThreadChoice choice = choose_threads(loaded_.plan.target.threads, wanted);
    threads_ = choice.threads;
    if (!choice.warning.empty()) warnings.push_back(choice.warning);
    check_surroundings(loaded_.plan, threads_, warnings);

    std::unique_ptr<SampleSource> opened;
    if (loaded_.plan.parallel.private_data) {
        opened = open_private_data(loaded_.plan, 0);
        static_cast<void>(share_sample_counts(loaded_.plan, *make_self()));
    }
    auto source = std::make_unique<LateSource>(loaded_.plan, std::move(opened));
    source_ = source.get();
    session_.emplace(loaded_.plan, threads_, std::move(source));
    memory_.emplace(session_->executor());
    const std::vector<plan::Parameter>& parameters = loaded_.plan.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (!parameters[i].optimizer_state) weights_.push_back(i);
    if (!request.weights.empty())
        load_weights({.path = request.weights, .map_folders = spec_folders()}, warnings);
    class_names_ = class_names_of(*source_, loaded_.plan.dataset, trained_names_.classes);
    if (!request.run_folder.empty()) keep_run(request, warnings);
}

void Network::open_data(Warnings& warnings) {
    if (source_->is_open()) return;
    source_->open();
    for (std::string& note : source_->notes())
        warnings.push_back(std::move(note));
    if (std::vector<std::string> names = class_names_of(*source_, plan().dataset); !names.empty())
        class_names_ = std::move(names);
}

void Network::keep_run(const OpenRequest& request, Warnings& warnings) {
    open_data(warnings);
    kept_.emplace(RunFolder(request.run_folder, loaded_, request.replace_run), loaded_, *session_,
                  RunIdentity{loaded_.checksum, content_text(source_->content_hash()), threads_},
                  LineFile::Begin::empty,
                  [this](const std::string& text) { mended_.push_back(text); });
}

template <class Real>
void Network::predict(std::vector<GivenArray>&& arrays, std::span<Real> to) {
    if (!predictor_) predictor_.emplace(session_->executor());
    Real* place = to.data();
    predictor_->predict(std::move(arrays), [&](const PredictedBatch& batch) {
        place = std::transform(batch.predictions.begin(), batch.predictions.end(), place,
                               [](double value) { return Real(value); });
    });
}

template void Network::predict(std::vector<GivenArray>&& arrays, std::span<float> to);
template void Network::predict(std::vector<GivenArray>&& arrays, std::span<double> to);

PassValues Network::evaluate(const std::string& split, Warnings& warnings) {
    require_split(plan(), split);
    open_data(warnings);
    prepare_again();
    const SplitSamples samples = samples_of(session_->sampler(), split);
    PassValues values = session_->evaluate(samples.split, samples.order);
    require_number(values, split);
    return values;
}

bool Network::over() const {
    return !state_.stop.empty() || state_.epoch >= plan().training.epochs;
}

/// The first step from this one on, counted from where the training stands, that ends an update.
std::int64_t Network::to_update(std::int64_t step) const {
    const TrainingExtent extent = extent_of(plan());
    const std::int64_t batch = (state_.batch + step - state_.step) % extent.batches;
    if (batch % extent.accumulation == 0) return step;
    return step +
           std::min(extent.accumulation - batch % extent.accumulation, extent.batches - batch);
}

Trained Network::train(const TrainExtent& extent, const TrainListener& listener,
                       Warnings& warnings) {
    open_data(warnings);
    prepare_again();
    TrainingRequest request;
    request.keeper = kept_ ? static_cast<TrainingKeeper*>(&kept_->checkpoints) : &*memory_;
    if (!begun_ && kept_) request.keeper->checkpoint(state_);
    begun_ = true;
    request.from = &state_;
    const std::int64_t batches = extent_of(plan()).batches;
    const std::int64_t last_step = extent.steps > 0 ? to_update(state_.step + extent.steps) : 0;
    const std::int64_t last_epoch = extent.epochs > 0 ? state_.epoch + extent.epochs : 0;
    request.until_step = last_step;
    Listening observer(listener, *session_, kept_ ? &*kept_ : nullptr, threads_);
    session_->agreement().forget_to_stop();
    bool enough = false;
    // Epoch by epoch, so that who stops at the end of one stops there. The last of the steps may be
    // the last of an epoch, whose validation then belongs to it.
    while (!finished_ && !enough && !observer.asked_to_stop()) {
        request.until_epoch = state_.epoch + 1;
        const TrainingResult result = runtime::train(*session_, observer, request);
        state_ = result.state;
        if (over()) finish(result);
        enough = (last_epoch > 0 && state_.epoch >= last_epoch) ||
                 (last_step > 0 && state_.step >= last_step && state_.batch < batches);
        if (kept_ && !finished_ && !result.interrupted && (enough || observer.asked_to_stop()))
            kept_->checkpoints.checkpoint(state_);
    }
    session_->agreement().forget_to_stop();
    for (std::string& text : std::exchange(mended_, {}))
        warnings.push_back(std::move(text));
    return {state_.epoch, state_.step, finished_, observer.asked_to_stop() && !finished_};
}

/// As dtnn-run: the weights, then the test's line of the history.
void Network::finish(const TrainingResult& result) {
    finished_ = true;
    if (kept_) kept_->save();
    if (result.not_restored)
        throw RunError(
            result.not_restored->exit(),
            fmt::format("the best weights cannot be taken back: {}", result.not_restored->what()),
            "the weights are those of the last epoch", result.not_restored->detail());
    if (!kept_) return;
    const PassValues test = session_->evaluate(Split::test, session_->sampler().test());
    require_number(test);
    kept_->tell_end(result, test);
    kept_->history.close();
    kept_->checkpoints.forget_dropped();
}

void Network::read_weight(std::size_t parameter, std::span<std::byte> to) {
    ParameterTensors tensors;
    tensors.add(session_->executor(), parameter, plan().parameters[parameter].name);
    const std::span<const std::byte> bytes = tensors.all().front().bytes;
    std::copy(bytes.begin(), bytes.end(), to.begin());
}

void Network::write_weight(std::size_t parameter, std::span<const std::byte> from) {
    prepare_again();
    set_parameter(session_->executor(), parameter, from);
    // Where weights are given, their moving average begins anew.
    if (const auto average = averages_of(plan())[parameter])
        set_parameter(session_->executor(), *average, from);
}

void Network::save_weights(const std::string& path) {
    runtime::save_weights(
        session_->executor(), path, loaded_.checksum,
        {class_names_, source_->is_open() ? source_->feature_names() : trained_names_.features});
}

void Network::load_weights(const WeightRequest& request, Warnings& warnings) {
    const TrainedNames names = read_trained_names(request.path);
    const LoadedWeights loaded = runtime::load_weights(session_->executor(), request);
    prepare_again();
    trained_names_ = names;
    const auto tell = [&](const char* what, const std::vector<std::string>& list) {
        if (!list.empty()) warnings.push_back(fmt::format("{}: {}", what, fmt::join(list, ", ")));
    };
    tell("not in the weights, kept as they were", loaded.kept);
    tell("in the weights, but not in the plan", loaded.unused);
}

}  // namespace dtnn::library
