#include "runtime/train/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/train/initialize.hpp"

namespace dtnn::runtime {
namespace {

/// How one sample of the plan's source tensors lies in memory. The batch is their outermost axis,
/// and all programs agree (checked when the plan was loaded).
Arrangement sample_arrangement(const plan::Plan& plan) {
    const plan::Program& program = plan.programs.front();
    plan::Order order;
    for (const plan::Output& input : program.inputs) {
        if (input.name != "source") continue;
        const plan::Order& whole = program.tensors[std::size_t(input.tensor)].order;
        for (std::size_t i = 1; i < whole.size(); ++i)
            order.push_back(whole[i] - 1);
    }
    return Arrangement(plan.dataset.shape, order);
}

const BatchProgram& of_size(const std::vector<BatchProgram>& programs, std::int64_t batch,
                            const char* kind) {
    for (const BatchProgram& candidate : programs) {
        if (candidate.program->batch() == batch) return candidate;
    }
    throw RunError(Exit::mismatch,
                   fmt::format("the plan has no {} program for batches of {}", kind, batch),
                   "compile the job again with the dtnnc of this version");
}

/// Nothing where there is no place for it.
void set_number(void* place, double value, plan::DType dtype) {
    if (place == nullptr) return;
    if (dtype == plan::DType::f32) {
        *static_cast<float*>(place) = float(value);
    } else {
        *static_cast<double*>(place) = value;
    }
}

}  // namespace

std::vector<std::string> measure_names(const plan::Plan& plan) {
    std::vector<std::string> names = {"loss"};
    for (const plan::Metric& metric : plan.training.metrics)
        names.push_back(metric.name);
    return names;
}

double BatchProgram::measure(std::size_t i, plan::DType dtype) const {
    return dtype == plan::DType::f32 ? double(*static_cast<const float*>(measures[i]))
                                     : *static_cast<const double*>(measures[i]);
}

void BatchProgram::set_learning_rate(double value, plan::DType dtype) const {
    set_number(learning_rate, value, dtype);
}

void BatchProgram::set_batch_weight(double value, plan::DType dtype) const {
    set_number(batch_weight, value, dtype);
}

Session::Session(const plan::Plan& plan, int threads, std::unique_ptr<SampleSource> source)
    : executor_(plan, threads),
      source_(std::move(source)),
      sampler_(plan.dataset, plan.training),
      pipeline_(*source_, plan, sample_arrangement(plan)) {
    const auto add = [&](std::vector<BatchProgram>& list, const std::string& kind) {
        for (const plan::Program& program : plan.programs) {
            if (program.name == kind || program.name.starts_with(kind + "_")) {
                list.push_back(ready(kind, program.batch));
            }
        }
    };
    add(train_, "train");
    add(evaluate_, "evaluate");
    initialize(executor_);
}

BatchProgram Session::ready(const std::string& kind, std::int64_t batch) {
    BatchProgram result;
    result.program = executor_.find(kind, batch);
    result.source = result.program->input("source");
    result.labels = static_cast<std::int32_t*>(result.program->input("labels"));
    result.learning_rate = result.program->input("learning_rate");
    result.step = static_cast<std::int64_t*>(result.program->input("step"));
    result.update = static_cast<std::int64_t*>(result.program->input("update"));
    result.batch_weight = result.program->input("batch_weight");
    result.measures.push_back(result.program->output("loss"));
    for (const plan::Metric& metric : plan().training.metrics)
        result.measures.push_back(result.program->output(metric.output));
    return result;
}

const BatchProgram& Session::train_program(std::int64_t batch) const {
    return of_size(train_, batch, "training");
}

const BatchProgram& Session::evaluate_program(std::int64_t batch) const {
    return of_size(evaluate_, batch, "evaluation");
}

Means Session::evaluate(Split split, std::span<const std::int64_t> order) {
    Means means(measure_names(plan()).size());
    const plan::DType dtype = plan().target.dtype;
    const BatchProgram* last = nullptr;
    pipeline_.start(split, order, plan().training.batch_size);
    while (const std::int64_t samples = pipeline_.wait()) {
        const BatchProgram& batch = evaluate_program(samples);
        if (&batch != last) batch.program->run_prologue(executor_.team());
        last = &batch;
        pipeline_.take(batch.source, batch.labels);
        batch.program->run(executor_.team());
        for (std::size_t i = 0; i < means.values.size(); ++i)
            means.values[i] += batch.measure(i, dtype) * double(samples);
        means.samples += samples;
        if (stop_requested() != 0) break;
    }
    pipeline_.stop();
    for (double& value : means.values)
        value /= double(std::max<std::int64_t>(1, means.samples));
    return means;
}

}  // namespace dtnn::runtime
