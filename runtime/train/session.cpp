#include "runtime/train/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/exec/number_check.hpp"
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

const MetricValue* PassValues::find(const std::string& name) const {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const MetricValue& value) { return value.name == name; });
    return found == values.end() ? nullptr : &*found;
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
    add(accumulate_, "accumulate");
    add(evaluate_, "evaluate");
    initialize(executor_);
}

BatchProgram Session::ready(const std::string& kind, std::int64_t batch) {
    BatchProgram result;
    result.program = executor_.find(kind, batch);
    result.inputs = {result.program->input("source"),
                     static_cast<std::int32_t*>(result.program->input("labels")),
                     result.program->input("targets")};
    result.learning_rate = result.program->input("learning_rate");
    result.step = static_cast<std::int64_t*>(result.program->input("step"));
    result.update = static_cast<std::int64_t*>(result.program->input("update"));
    result.batch_weight = result.program->input("batch_weight");
    result.outputs = BatchOutputs::of(plan(), *result.program);
    return result;
}

const BatchProgram& Session::train_program(std::int64_t batch, bool update) const {
    return update ? of_size(train_, batch, "training")
                  : of_size(accumulate_, batch, "accumulating");
}

const BatchProgram& Session::evaluate_program(std::int64_t batch) const {
    return of_size(evaluate_, batch, "evaluation");
}

PassValues Session::evaluate(Split split, std::span<const std::int64_t> order, NumberCheck* check) {
    if (!evaluation_) evaluation_.emplace(plan());
    MetricSet& metrics = *evaluation_;
    metrics.reset();
    const BatchProgram* last = nullptr;
    pipeline_.start(split, order, plan().training.batch_size);
    while (const std::int64_t samples = pipeline_.wait()) {
        const BatchProgram& batch = evaluate_program(samples);
        pipeline_.take(batch.inputs);
        if (check != nullptr) check->begin_run(batch.program->program());
        if (&batch != last) batch.program->run_prologue(executor_.team());
        last = &batch;
        batch.program->run(executor_.team());
        metrics.add(batch.outputs, samples);
        if (!std::isfinite(batch.loss()) || (check != nullptr && check->found())) break;
        if (stop_requested() != 0) break;
    }
    pipeline_.stop();
    return {metrics.values(), metrics.samples()};
}

PassValues Session::validate(NumberCheck* check) {
    const plan::Dataset& dataset = plan().dataset;
    if (dataset.test_as_validation) return evaluate(Split::test, sampler_.test(), check);
    if (dataset.validation_samples == 0) return {};
    return evaluate(Split::train, sampler_.validation(), check);
}

}  // namespace dtnn::runtime
