#include "runtime/train/bench.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "runtime/base/clock.hpp"
#include "runtime/base/signals.hpp"

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
        // Where there is not a batch for each rank, all take the first.
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

}  // namespace

BenchResult bench(Session& session, const BenchRequest& request) {
    const plan::Plan& plan = session.plan();
    Batches batches(session);
    const BatchProgram& program = session.train_program(batches.size());
    BenchResult result;
    result.batch = batches.size() * session.ranks();
    result.program = &program.program->program();
    result.seconds.reserve(std::size_t(request.steps));
    if (request.per_step) result.program_step_seconds.assign(result.program->steps.size(), 0.0);

    session.share_parameters();
    std::int64_t step = 0;
    const auto run = [&] {
        batches.take(program);
        program.set_learning_rate(plan.training.learning_rate, plan.target.dtype);
        program.set_batch_weight(1.0 / double(plan.training.accumulation * session.ranks()),
                                 plan.target.dtype);
        program.set_position(0, step * result.batch);
        if (program.update != nullptr) *program.update = step;
        ++step;
    };
    program.program->run_prologue();
    std::int64_t before = 0;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, request.warm_up); ++i) {
        run();
        program.program->run();
        if (i == 0 && request.allocations != nullptr) before = request.allocations();
    }
    // A stop takes a step to be known to all, as in training.
    bool stopped = session.agreement().agree({.stop = stop_requested() != 0}).stop;
    // As in training: the results of a step are looked at when the next one is under way.
    bool under_way = false;
    for (std::int64_t i = 0; i < request.steps && !stopped; ++i) {
        const Stopwatch watch;
        run();
        program.program->start();
        if (under_way) program.program->wait();
        under_way = true;
        stopped = session.agreement().tell({.stop = stop_requested() != 0}).stop;
        result.seconds.push_back(watch.seconds());
    }
    if (under_way) program.program->wait();
    static_cast<void>(session.agreement().settle());
    if (request.allocations != nullptr) {
        result.allocations_after_first_step = request.allocations() - before;
    }
    if (request.per_step && !result.seconds.empty()) {
        const std::size_t rounds = result.seconds.size();
        for (std::size_t i = 0; i < rounds; ++i) {
            run();
            program.program->run_timed(result.program_step_seconds);
        }
        for (double& seconds : result.program_step_seconds)
            seconds /= double(rounds);
    }
    session.pipeline().stop();
    return result;
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
    struct rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t(usage.ru_maxrss) * 1024;
}

}  // namespace dtnn::runtime
