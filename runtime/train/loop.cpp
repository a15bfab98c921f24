#include "runtime/train/loop.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"

namespace dtnn::runtime {
namespace {

RunError diverged(const plan::Plan& plan, const std::string& what, double loss, std::int64_t epoch,
                  std::int64_t step) {
    return RunError(Exit::diverged, fmt::format("the {} is {}", what, loss),
                    fmt::format("the learning rate is {}; a smaller one is what most often helps "
                                "(--set training.optimizer.{}.learning_rate=...)",
                                plan.training.learning_rate, plan.training.optimizer),
                    fmt::format("epoch {}, step {}", epoch, step));
}

/// The means of the sums that the steps have added up.
Means means_of(const Means& sums) {
    Means means = sums;
    for (double& value : means.values)
        value /= double(sums.samples > 0 ? sums.samples : 1);
    return means;
}

std::int64_t steps_of_epoch(const plan::Plan& plan) {
    const std::int64_t batch = plan.training.batch_size;
    const std::int64_t all = (plan.dataset.train_samples + batch - 1) / batch;
    const std::int64_t wanted = plan.training.steps_per_epoch;
    return wanted > 0 && wanted < all ? wanted : all;
}

}  // namespace

TrainingResult train(Session& session, TrainingObserver& observer) {
    const plan::Plan& plan = session.plan();
    const plan::DType dtype = plan.target.dtype;
    const double learning_rate = plan.training.learning_rate;
    Executor& executor = session.executor();
    Pipeline& pipeline = session.pipeline();
    const std::size_t measures = measure_names(plan).size();
    const std::int64_t steps = steps_of_epoch(plan);
    TrainingResult result;
    Means sums(measures), means(measures);

    for (std::int64_t epoch = 0; epoch < plan.training.epochs; ++epoch) {
        const Stopwatch watch;
        sums = Means(measures);
        const BatchProgram* last = nullptr;
        pipeline.start(Split::train, session.sampler().epoch_order(epoch), plan.training.batch_size,
                       steps);
        for (std::int64_t step = 1; const std::int64_t samples = pipeline.wait(); ++step) {
            const BatchProgram& batch = session.train_program(samples);
            if (&batch != last) batch.program->run_prologue(executor.team());
            last = &batch;
            pipeline.take(batch.source, batch.labels);
            batch.set_learning_rate(learning_rate, dtype);
            if (batch.step != nullptr) *batch.step = result.step;
            if (batch.update != nullptr) *batch.update = result.step;
            batch.program->run(executor.team());
            ++result.step;
            const double loss = batch.measure(0, dtype);
            if (!std::isfinite(loss)) {
                throw diverged(plan, "loss", loss, epoch + 1, result.step);
            }
            sums.samples += samples;
            means.samples = sums.samples;
            for (std::size_t i = 0; i < measures; ++i) {
                sums.values[i] += batch.measure(i, dtype) * double(samples);
                means.values[i] = sums.values[i] / double(sums.samples);
            }
            if (result.step == 1) observer.first_step();
            observer.step({epoch + 1, plan.training.epochs, step, steps, watch.seconds(), means});
            if (stop_requested() != 0) {
                pipeline.stop();
                result.interrupted = true;
                return result;
            }
        }
        EpochResult epoch_result;
        epoch_result.samples_per_second = double(sums.samples) / watch.seconds();
        epoch_result.epoch = epoch + 1;
        epoch_result.step = result.step;
        epoch_result.learning_rate = learning_rate;
        epoch_result.train = means_of(sums);
        epoch_result.validation = Means(measures);
        if (!session.sampler().validation().empty()) {
            epoch_result.validation =
                session.evaluate(Split::train, session.sampler().validation());
            if (stop_requested() != 0) {
                result.interrupted = true;
                return result;
            }
            const double loss = epoch_result.validation.values[0];
            if (!std::isfinite(loss)) {
                throw diverged(plan, "validation loss", loss, epoch + 1, result.step);
            }
        }
        epoch_result.seconds = watch.seconds();
        result.epoch = epoch + 1;
        observer.epoch(epoch_result);
    }
    return result;
}

}  // namespace dtnn::runtime
