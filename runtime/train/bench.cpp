#include "runtime/train/bench.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

/// Full batches without end, of this rank.
class Batches {
  public:
    explicit Batches(Session& session)
        : session_(session),
          batch_(
              std::min(session.plan().training.batch_size, session.plan().dataset.train_samples)),
          per_pass_(session.plan().dataset.train_samples / batch_ / session.ranks()),
          shared_(per_pass_ > 0) {
        // Ranks all take the first batch where there is not one for each.
        per_pass_ = std::max<std::int64_t>(1, per_pass_);
    }

    std::int64_t size() const { return batch_; }

    void take(const BatchProgram& program) {
        if (left_ == 0) {
            session_.pipeline().start({.split = Split::train,
                                       .order = session_.sampler().epoch_order(epoch_),
                                       .batch = batch_,
                                       .last_batch = per_pass_,
                                       .epoch = epoch_,
                                       .rank = shared_ ? session_.rank() : 0,
                                       .ranks = shared_ ? session_.ranks() : 1});
            ++epoch_;
            left_ = per_pass_;
        }
        session_.pipeline().wait();
        session_.pipeline().take(program.inputs);
        --left_;
    }

  private:
    Session& session_;
    std::int64_t batch_;
    std::int64_t per_pass_;
    bool shared_;
    std::int64_t left_ = 0;
    std::int64_t epoch_ = 0;
};

/// The preparation of a step before its program runs.
using Prepare = std::function<void()>;

/// Fills the inputs with the first samples, over again where there are fewer than the batch has.
void fill_once(Session& session, const BoundProgram& program) {
    const std::vector<std::int64_t>& samples = session.sampler().train();
    if (samples.empty()) return;
    std::vector<std::int64_t> order(std::size_t(program.batch()));
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = samples[i % samples.size()];
    session.pipeline().start(Split::train, order, program.batch());
    session.pipeline().wait();
    session.pipeline().take(batch_inputs(program));
    session.pipeline().stop();
}

BenchResult measure(Session& session, const BenchRequest& request, BoundProgram& program,
                    const Prepare& prepare) {
    BenchResult result;
    result.batch = program.batch() * session.ranks();
    result.program = &program.program();
    result.seconds.reserve(std::size_t(request.steps));
    if (request.per_step) result.program_step_seconds.assign(result.program->steps.size(), 0.0);

    program.run_prologue();
    std::int64_t before = 0;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, request.warm_up); ++i) {
        prepare();
        program.run();
        if (i == 0 && request.allocations != nullptr) before = request.allocations();
    }
    // A stop takes a step to be known to all, as in training.
    bool stopped = session.agreement().agree({.stop = session.agreement().asked_to_stop()}).stop;
    // As in training: the results of a step are looked at when the next one is under way.
    bool under_way = false;
    for (std::int64_t i = 0; i < request.steps && !stopped; ++i) {
        const Stopwatch watch;
        if (request.resident) {
            program.start_again();
        } else {
            prepare();
            program.start();
        }
        if (under_way) program.wait();
        under_way = true;
        stopped = session.agreement().tell({.stop = session.agreement().asked_to_stop()}).stop;
        result.seconds.push_back(watch.seconds());
    }
    if (under_way) program.wait();
    static_cast<void>(session.agreement().settle());
    if (request.allocations != nullptr) {
        result.allocations_after_first_step = request.allocations() - before;
    }
    if (request.per_step && !result.seconds.empty()) {
        const std::size_t rounds = result.seconds.size();
        for (std::size_t i = 0; i < rounds; ++i) {
            prepare();
            program.run_timed(result.program_step_seconds);
        }
        for (double& seconds : result.program_step_seconds)
            seconds /= double(rounds);
    }
    return result;
}

BenchResult bench_training(Session& session, const BenchRequest& request) {
    const plan::Plan& plan = session.plan();
    Batches batches(session);
    const BatchProgram& program = session.train_program(batches.size());
    const std::int64_t samples = batches.size() * session.ranks();
    session.share_parameters();
    std::int64_t step = 0;
    BenchResult result = measure(session, request, *program.program, [&] {
        batches.take(program);
        program.set_learning_rate(plan.training.learning_rate, plan.target.dtype);
        program.set_batch_weight(1.0 / double(plan.training.accumulation * session.ranks()),
                                 plan.target.dtype);
        program.set_position(0, step * samples);
        if (program.update != nullptr) *program.update = step;
        ++step;
    });
    session.pipeline().stop();
    return result;
}

}  // namespace

BenchResult bench(Session& session, const BenchRequest& request) {
    if (request.program == plan::ProgramKind::train) return bench_training(session, request);
    const plan::Program* const program = plan::find_program(session.plan(), request.program);
    if (program == nullptr) {
        throw RunError(Exit::usage,
                       fmt::format("the plan has no `{}` program", plan::name_of(request.program)),
                       "measure another program, or compile a job that has samples for it");
    }
    BoundProgram& bound = *session.executor().find(program->kind, program->batch);
    session.share_parameters();
    fill_once(session, bound);
    return measure(session, request, bound, [] {});
}

Spread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median =
        values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
    return {median, values.front(), values.back()};
}

std::int64_t peak_memory() {
    // ru_maxrss also has what was resident before the program was executed: of whoever started it.
    constexpr std::string_view kPeak = "VmHWM:";
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(kPeak)) return std::atoll(line.c_str() + kPeak.size()) * 1024;
    struct rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t(usage.ru_maxrss) * 1024;
}

}  // namespace dtnn::runtime
