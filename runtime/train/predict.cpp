#include "runtime/train/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "plan/rules/lengths.hpp"
#include "runtime/base/arrangement.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/train/session.hpp"

namespace dtnn::runtime {
namespace {

constexpr const char* kOutput = "predictions";

const plan::Tensor& predictions_of(const plan::Plan& plan) {
    const plan::Program* program = plan::find_program(plan, plan::ProgramKind::predict);
    if (program != nullptr) {
        for (const plan::Output& output : program->outputs) {
            if (output.name == kOutput) return program->tensors[std::size_t(output.tensor)];
        }
    }
    throw RunError(Exit::mismatch, "the plan has no program for prediction",
                   "compile the job again with the dtnnc of this version");
}

/// Copies rows of the output to `to`, logarithms and logits as the probabilities that they mean.
template <class T>
void copy_rows(const void* from, const Arrangement& batch, plan::Prediction given,
               std::span<double> to) {
    const T* const values = static_cast<const T*>(from);
    batch.for_each(0, std::int64_t(to.size()), [&](std::int64_t logical, std::int64_t place) {
        T value = values[place];
        if (given == plan::Prediction::log_probabilities) value = std::exp(value);
        if (given == plan::Prediction::logits) value = T(1) / (T(1) + std::exp(-value));
        to[std::size_t(logical)] = double(value);
    });
}

/// Labels as the pipeline writes them, for one batch.
struct PredictedAnswers {
    PredictedAnswers(const plan::Plan& plan, std::int64_t batch) {
        const plan::StagedSample sample = plan::staged_sample(plan);
        labels.resize(std::size_t(batch * sample.labels) / sizeof(std::int32_t));
        if (labels.empty()) raw.resize(std::size_t(batch * sample.targets));
        targets.resize(raw.size() / std::size_t(size_of(plan.target.dtype)));
    }
    void convert(DType dtype) {
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (dtype == DType::f64) {
                std::memcpy(&targets[i], raw.data() + i * sizeof(double), sizeof(double));
            } else {
                float value = 0;
                std::memcpy(&value, raw.data() + i * sizeof(float), sizeof(float));
                targets[i] = double(value);
            }
        }
    }
    /// The predictions for the batch's first samples.
    template <class T>
    static std::span<const T> of(const std::vector<T>& all, std::int64_t samples,
                                 std::int64_t batch) {
        return std::span<const T>(all).first(all.size() / std::size_t(batch) *
                                             std::size_t(samples));
    }
    std::vector<std::int32_t> labels;
    std::vector<std::byte> raw;
    std::vector<double> targets;
};

}  // namespace

PredictionForm prediction_form(const plan::Plan& plan) {
    const plan::Tensor& tensor = predictions_of(plan);
    PredictionForm form;
    form.kind = plan.dataset.target().kind;
    // A class for each step, whatever the labels are.
    if (form.kind == plan::LabelKind::sequence) form.kind = plan::LabelKind::classes;
    form.dims.assign(tensor.dims.begin() + 1, tensor.dims.end());
    if (!plan.layers.empty()) form.axes = plan.layers.back().output_axes;
    if (form.axes.size() != form.dims.size()) form.axes = {};
    form.given = plan.prediction;
    form.probabilities =
        form.given != plan::Prediction::scores && form.given != plan::Prediction::values;
    return form;
}

/// All that predicting takes, allocated once.
struct Predictor::Parts {
    Parts(Executor& executor, Pipeline& its_pipeline, const SampleSource& its_source)
        : pipeline(its_pipeline),
          source(its_source),
          plan(executor.plan()),
          form(prediction_form(plan)),
          tensor(predictions_of(plan)),
          program(*executor.find(plan::ProgramKind::predict, plan.training.batch_size)),
          elements(element_count(form.dims)),
          arrangement(tensor.dims, tensor.order),
          sample_bytes(plan::staged_sample(plan).inputs),
          output(program.output(kOutput)),
          answers(plan, program.batch()),
          rows(std::size_t(program.batch() * elements)),
          inputs(batch_inputs(program)) {
        const auto said = plan::lengths_input(plan.dataset);
        const bool by_step = !plan.dataset.target().dims.empty() && form.axes.size() > 1 &&
                             form.axes.front() == AxisKind::step;
        if (said && by_step && form.dims.front() == plan.dataset.inputs[*said].classes - 1)
            lengths = *said;
        inputs.labels = form.kind == plan::LabelKind::classes;
        if (inputs.labels)
            inputs.target = answers.labels.data();
        else if (!answers.raw.empty())
            inputs.target = answers.raw.data();
    }

    Pipeline& pipeline;
    const SampleSource& source;
    const plan::Plan& plan;
    const PredictionForm form;
    const plan::Tensor& tensor;
    BoundProgram& program;
    const std::int64_t elements;
    const Arrangement arrangement;
    const std::vector<std::int64_t> sample_bytes;
    const void* const output;
    PredictedAnswers answers;
    std::vector<double> rows;
    BatchInputs inputs;
    std::optional<std::size_t> lengths;  ///< which input says them, of predictions of steps
    std::vector<std::int32_t> steps;     ///< of the batch's samples, by that
};

Predictor::Predictor(Executor& executor, Pipeline& pipeline, const SampleSource& source)
    : parts_(std::make_unique<Parts>(executor, pipeline, source)) {}

Predictor::~Predictor() = default;

void Predictor::predict(Split split, std::span<const std::int64_t> order,
                        const std::function<void(const PredictedBatch&)>& tell, bool prepared) {
    Parts& all = *parts_;
    const std::int64_t batch = all.program.batch();
    PredictedAnswers& answers = all.answers;
    if (!prepared) all.program.run_prologue();
    PredictedBatch told;
    Pipeline& pipeline = all.pipeline;
    pipeline.start(split, order, batch);
    while (const std::int64_t samples = pipeline.wait()) {
        pipeline.take(all.inputs);
        for (std::size_t i = 0; i < all.inputs.features.size(); ++i)
            std::memset(
                static_cast<std::byte*>(all.inputs.features[i]) + samples * all.sample_bytes[i], 0,
                std::size_t((batch - samples) * all.sample_bytes[i]));
        if (all.lengths) {
            const auto* first = static_cast<const std::int32_t*>(all.inputs.features[*all.lengths]);
            all.steps.assign(first, first + samples);
        }
        all.program.run();
        const std::span<double> predictions(all.rows.data(), std::size_t(samples * all.elements));
        if (all.tensor.dtype == DType::f64) {
            copy_rows<double>(all.output, all.arrangement, all.form.given, predictions);
        } else {
            copy_rows<float>(all.output, all.arrangement, all.form.given, predictions);
        }
        for (std::size_t i = 0; i < all.steps.size(); ++i) {
            const std::int64_t numbers = all.elements / all.form.dims[0];
            const auto sample = predictions.begin() + std::int64_t(i) * all.elements;
            std::fill(sample + all.steps[i] * numbers, sample + all.elements, 0.0);
        }
        const auto none = std::find_if_not(predictions.begin(), predictions.end(),
                                           [](double value) { return std::isfinite(value); });
        if (none != predictions.end()) {
            const std::int64_t at = told.first + (none - predictions.begin()) / all.elements;
            throw RunError(Exit::diverged,
                           fmt::format("the prediction for {} is {}",
                                       all.source.name_of(split, order[std::size_t(at)]), *none),
                           "predict with the weights of a training that did not diverge");
        }
        answers.convert(all.plan.target.dtype);
        told.samples = samples;
        told.predictions = predictions;
        told.labels = PredictedAnswers::of(answers.labels, samples, batch);
        told.targets = PredictedAnswers::of(answers.targets, samples, batch);
        told.lengths = all.steps;
        tell(told);
        told.first += samples;
        if (stop_requested() != 0) break;
    }
    pipeline.stop();
}

void predict(Session& session, Split split, std::span<const std::int64_t> order,
             const std::function<void(const PredictedBatch&)>& tell) {
    Predictor(session.executor(), session.pipeline(), session.source()).predict(split, order, tell);
}

}  // namespace dtnn::runtime
