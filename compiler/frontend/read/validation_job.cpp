// What must hold between the model, the dataset and the training of a job.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/ir/printer.hpp"
#include "plan/dataset_types.hpp"
#include "plan/rules/label_sequences.hpp"
#include "plan/rules/staging.hpp"
#include "plan/rules/validation_part.hpp"

namespace dtnn::compiler {
namespace {

/// Whether folds can be made as the training says.
bool check_folds(const JobSpec& job, std::int64_t samples, Diagnostics& diagnostics) {
    const plan::Training& training = job.training.training;
    const auto refuse = [&](const char* field, const std::string& fact, const std::string& help) {
        diagnostics
            .error(Code::conflicting_fields, span_or(job.training.spans, field, job.training.span),
                   fact)
            .help = help;
        return false;
    };
    if (training.k_folds == 0 && training.fold > 0)
        return refuse(
            "fold", "`fold` of training is one of `k_folds`, which it does not have",
            fmt::format("such as `k_folds: {}`", std::max<std::int64_t>(5, training.fold)));
    if (training.k_folds == 0) return true;
    if (training.k_folds == 1)
        return refuse("k_folds", "`k_folds` of training is 1: nothing would be left to train on",
                      "give 2 or more, or 0 for none");
    if (training.fold > training.k_folds)
        return refuse("fold",
                      fmt::format("`fold` of training is {}, and `k_folds` is {}", training.fold,
                                  training.k_folds),
                      fmt::format("give 1 to {}", training.k_folds));
    if (training.validation_split > 0)
        return refuse("validation_split",
                      "`validation_split` and `k_folds` of training both keep samples for "
                      "validation",
                      "leave one of them out");
    if (training.k_folds > samples)
        return refuse("k_folds",
                      fmt::format("`k_folds` of training is {}, and there are {} training samples",
                                  training.k_folds, samples),
                      fmt::format("give at most {}", samples));
    return true;
}

}  // namespace

bool reads_plainly(const ModelSpec& model) {
    return model.input().name.empty() && model.input().is_image();
}

void check_samples(JobSpec& job, Diagnostics& diagnostics) {
    plan::Training& training = job.training.training;
    const std::int64_t samples = job.dataset.dataset.train_samples;
    const std::int64_t validation = plan::validation_part(samples, training).count;
    const double percentage = job.dataset.sample_percentage;
    const std::int64_t left = samples - validation;
    const std::int64_t seen =
        percentage == 100
            ? left
            : std::max<std::int64_t>(left > 0 ? 1 : 0, plan::share_of(left, percentage / 100));
    const char* const splits = training.k_folds > 0 ? "k_folds" : "validation_split";
    const Span split_span = span_or(job.training.spans, splits, job.training.span);
    if (!check_folds(job, samples, diagnostics)) return;
    const Span sample_span = span_or(job.dataset.spans, "train_samples", job.dataset.span);
    if (training.validation_split > 0 && (validation == 0 || left == 0)) {
        Diagnostic& error = diagnostics.error(
            Code::too_few_samples,
            span_or(job.training.spans, "validation_split", job.training.span),
            fmt::format("`validation_split` {} of {} training samples leaves {} for {}",
                        training.validation_split, samples, 0,
                        validation == 0 ? "validation" : "training"));
        error.notes.push_back({sample_span, "the dataset is here"});
        return;
    }
    if (validation > 0 && job.dataset.dataset.test_as_validation) {
        Diagnostic& error = diagnostics.error(
            Code::conflicting_fields, split_span,
            fmt::format("`{}` keeps training samples for validation, but `test_as_validation` of "
                        "the dataset takes the test samples",
                        splits));
        error.notes.push_back({span_or(job.dataset.spans, "test_as_validation", job.dataset.span),
                               "it is said here"});
        error.help = "leave one of them out";
        return;
    }
    const bool series = plan::is_series(job.dataset.dataset);
    if (validation > 0 && (job.dataset.dataset.validation_files || series)) {
        const char* const why =
            job.dataset.dataset.validation_files
                ? "keeps training samples for validation, and the dataset has samples of "
                  "validation of its own"
                : "keeps samples for validation from all over the series, whose lines those beside "
                  "them train on";
        Diagnostic& error = diagnostics.error(Code::conflicting_fields, split_span,
                                              fmt::format("`{}` {}", splits, why));
        error.notes.push_back({job.dataset.span, "the dataset is here"});
        error.help = fmt::format("leave `{}` out{}", splits,
                                 series ? "; `validation_share` of the dataset keeps lines before "
                                          "those of the test"
                                        : "");
        return;
    }
    // Ranks that have nothing to do in any step are a mistake; one rank has one small batch.
    if (seen / job.ranks < training.batch_size) {
        const bool alone = job.ranks == 1 && !job.parallel.parallel.data;
        const bool global = job.training.global_batch_size > 0;
        const std::string ranks = job.ranks == 1 ? std::string()
                                  : global       ? fmt::format(" of {} ranks", job.ranks)
                                                 : fmt::format(" on each of {} ranks", job.ranks);
        const Span span = span_or(job.training.spans, global ? "global_batch_size" : "batch_size",
                                  job.training.span);
        const std::string text = fmt::format(
            "`{}` {}{} is more than the {} training samples{}{}",
            global ? "global_batch_size" : "batch_size",
            global ? job.training.global_batch_size : training.batch_size, ranks, seen,
            validation > 0 ? fmt::format(" ({} less {} for validation)", samples, validation)
                           : std::string(),
            seen != left ? fmt::format(" that are {} percent of {}", percentage, left)
                         : std::string());
        Diagnostic& said =
            alone ? diagnostics.warning(Code::large_batch, span,
                                        fmt::format("{}; an epoch is one batch of {}", text, seen))
                  : diagnostics.error(Code::too_few_samples, span, text);
        said.notes.push_back({sample_span, "the dataset is here"});
        if (!alone) return;
        training.batch_size = seen;
        if (global) job.training.global_batch_size = seen;
    }
}

void check_steps(const JobSpec& job, Diagnostics& diagnostics) {
    const plan::Training& training = job.training.training;
    const std::int64_t seen = samples_of_epoch(job);
    const std::int64_t batch = std::max<std::int64_t>(1, training.batch_size);
    const std::int64_t steps = (seen + batch - 1) / batch;
    if (training.steps_per_epoch <= steps) return;
    Diagnostic& error = diagnostics.error(
        Code::out_of_range, span_or(job.training.spans, "steps_per_epoch", job.training.span),
        fmt::format("`steps_per_epoch` is {}, but {} training samples in batches of {} are {}",
                    training.steps_per_epoch, seen, batch, count_text(steps, "step")));
    error.notes.push_back(
        {span_or(job.dataset.spans, "train_samples", job.dataset.span), "the dataset is here"});
    error.help = fmt::format("give at most {}, or 0 for all samples", steps);
}

void check_shapes(const JobSpec& job, Diagnostics& diagnostics) {
    const Dims& samples = job.dataset.dataset.input().dims;
    const Dims& input = job.model.input().shape;
    if (samples.empty() || input.empty() || samples == input) return;
    Diagnostic& error = diagnostics.error(
        Code::shape_mismatch, job.model.input().span,
        fmt::format("the model reads {}, but samples of the dataset `{}` are {}", shape_text(input),
                    job.dataset.dataset.name, shape_text(samples)));
    error.notes.push_back(
        {span_or(job.dataset.spans, "shape", job.dataset.span), "the dataset is here"});
    const bool extended = job.model.input().span.place.file != job.file;
    error.help = fmt::format("make the model read them: {}`input: {{shape: [{}]}}`",
                             extended ? "beside `extends: NAME` in the job's `model`, " : "",
                             fmt::join(samples, ", "));
}

namespace {

/// What files are checked by: the blank, and the steps that labels are laid along.
void settle_sequences(JobSpec& job) {
    plan::Dataset& dataset = job.dataset.dataset;
    const Attributes& loss = job.training.training.loss_attributes;
    if (const auto blank = loss.find(plan::kBlank); blank != loss.end())
        dataset.attributes[plan::kBlank] = blank->second;
    if (job.model.layers.empty()) return;
    const LayerSpec& last = job.model.layers.back();
    if (last.axes == Axes{AxisKind::step, AxisKind::feature})
        dataset.target().stored_dims = {last.shape.front()};
}

}  // namespace

void settle_target(JobSpec& job) {
    plan::Dataset& dataset = job.dataset.dataset;
    if (plan::has_sequences(dataset)) settle_sequences(job);
    if (dataset.target().kind != plan::LabelKind::input || job.model.layers.empty()) return;
    dataset.target().classes = element_count(dataset.input().dims);
    if (job.model.layers.back().axes != dataset.input().axes) return;
    plan::label_places(dataset.input(), dataset.target());
    dataset.target().classes /= element_count(dataset.target().dims);
}

void check_generation(const JobSpec& job, Diagnostics& diagnostics) {
    const plan::DatasetType* type = plan::find_dataset_type(job.dataset.dataset.type);
    if (job.prompts == 0 || (type && type->next_tokens)) return;
    diagnostics
        .error(Code::conflicting_fields, span_or(job.spans, "generation", job.model.span),
               fmt::format("`generation` writes the tokens that come next, and the dataset of type "
                           "{} has none",
                           job.dataset.dataset.type),
               "leave it out, or train on text: `dtnnc explain text`")
        .notes.push_back({job.dataset.span, "the dataset is here"});
}

void check_inputs(const JobSpec& job, Diagnostics& diagnostics) {
    if (reads_plainly(job.model)) return;
    const plan::Dataset& dataset = job.dataset.dataset;
    const auto refuse = [&](const char* field, const std::string& fact, const std::string& help) {
        Diagnostic& error = diagnostics.error(
            Code::conflicting_fields, span_or(job.dataset.spans, field, job.dataset.span), fact);
        error.help = help;
        error.notes.push_back({job.model.input().span, "the model's inputs are here"});
    };
    const plan::DatasetType* type = plan::find_dataset_type(dataset.type);
    const bool made = type && type->form == plan::DatasetForm::made;
    const bool sequences = type && (type->next_tokens || plan::is_series(dataset));
    if (type && !made && !sequences && !plan::holds_arrays(dataset))
        refuse("type",
               fmt::format("the dataset `{}` of type {} has no arrays for inputs that have names, "
                           "are of integers or are no images",
                           dataset.name, dataset.type),
               "an .npz file has an array for each: `{type: archive, path: data.npz}`; of an image "
               "of [channels, height, width] `flatten` makes a row");
    const bool changed = !dataset.transforms.empty() || !dataset.augmentations.empty();
    const bool integers = std::any_of(job.model.inputs.begin(), job.model.inputs.end(),
                                      [](const InputSpec& input) { return input.integers(); });
    if (changed && !job.model.input().is_image())
        refuse(dataset.transforms.empty() ? "augmentations" : "transforms",
               "transforms and augmentations change images, and the model's first input is none",
               "make the image the first of `inputs`, or leave them out");
    else if (integers && plan::mixes_samples(dataset))
        refuse("augmentations", "mixup mixes samples, and the model has an input of integers",
               "leave mixup out");
    if (dataset.target().kind == plan::LabelKind::input && job.model.input().integers())
        refuse("target", "samples are their own labels where the first input is of real numbers",
               "make such an input the first of `inputs`");
}

}  // namespace dtnn::compiler
