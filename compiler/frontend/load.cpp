// load_job and check_spec: composition, validation, and what must hold between model, dataset and
// training.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "compiler/frontend/compose/composition.hpp"
#include "compiler/frontend/compose/spec_files.hpp"
#include "compiler/frontend/expand/blocks.hpp"
#include "compiler/frontend/lint/lint.hpp"
#include "compiler/frontend/read/fitting.hpp"
#include "compiler/frontend/read/resolved.hpp"
#include "compiler/frontend/read/scalars.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/misplaced_fields.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/ir/graph.hpp"
#include "plan/dataset_types.hpp"
#include "plan/metrics.hpp"
#include "plan/rules/staging.hpp"
#include "plan/rules/validation_part.hpp"

namespace dtnn::compiler {
namespace {

/// The name of a file as a job's name: what a folder cannot be called becomes `_`.
std::string name_of_file(const std::string& file) {
    std::string name = stem_of(file);
    for (char& c : name) {
        const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
        if (!kept) c = '_';
    }
    if (name.empty() || name[0] == '.' || name[0] == '-' || name[0] == '_') name.insert(0, "job");
    return name.substr(0, 100);
}

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

/// A batch of one rank that is larger than its samples becomes one of all of them.
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

/// An epoch that should end after more steps than it has would end where it does anyway.
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

/// Where samples are their own labels, the form of these follows from what the model gives: images,
/// or rows of all numbers.
void settle_target(JobSpec& job) {
    plan::Dataset& dataset = job.dataset.dataset;
    if (dataset.target().kind != plan::LabelKind::input || job.model.layers.empty()) return;
    dataset.target().classes = element_count(dataset.input().dims);
    if (job.model.layers.back().axes != dataset.input().axes) return;
    plan::label_places(dataset.input(), dataset.target());
    dataset.target().classes /= element_count(dataset.target().dims);
}

/// Whether the model reads what datasets give of themselves: one array of real numbers.
bool reads_plainly(const ModelSpec& model) {
    return model.input().name.empty() && model.input().is_image();
}

/// Text is generated where the classes of a step are those of the next token.
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

/// What inputs that have names, are of integers or are no images ask of the dataset.
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

/// What people look for in the job itself though it belongs to a part of it: where that is, as
/// --set has it.
std::map<std::string, std::string> fields_of_parts(const SourceNode& tree) {
    std::map<std::string, std::string> elsewhere;
    const auto add = [&](const std::string& name, const std::string& path) {
        elsewhere.emplace(name, fmt::format("did you mean `{}`?", path));
    };
    if (const SourceEntry* model = tree.find("model"))
        if (const SourceEntry* parameters = model->value.find("parameters"))
            for (const SourceEntry& parameter : parameters->value.entries)
                add(parameter.key, "model.parameters." + parameter.key);
    for (const char* part : {"training", "dataset", "model"})
        for (const Field& field : *find_kind(part)->fields)
            add(std::string(field.name), fmt::format("{}.{}", part, field.name));
    for (const Field& field : parallel_table())
        add(std::string(field.name), fmt::format("parallel.{}", field.name));
    add("ranks", "parallel.data");
    for (const Field& field : machine_table())
        add(std::string(field.name), fmt::format("machine.{}", field.name));
    elsewhere.insert(help_for_misplaced("job").begin(), help_for_misplaced("job").end());
    // `memory` in a job means its budget.
    elsewhere.erase("memory");
    return elsewhere;
}

/// What is measured where nobody says it follows from the labels.
void settle_metrics(JobSpec& job) {
    const auto& spans = job.training.spans;
    if (spans.contains("metrics") || spans.contains("metrics[0]")) return;
    const plan::LabelKind kind = job.dataset.dataset.target().kind;
    if (kind == plan::LabelKind::classes) return;
    const char* const type =
        kind == plan::LabelKind::multiple ? "binary_accuracy" : "mean_absolute_error";
    job.training.training.metrics = {metric_of(default_component(*metrics().find(type)))};
}

JobSpec read_job(SourceNode tree, bool model_alone, bool composed, const std::string& file,
                 const LoadOptions& options, Diagnostics& diagnostics) {
    JobSpec job;
    job.file = file;
    job.model_alone = model_alone;
    FieldTable table = job_table();
    if (model_alone || !composed)
        for (Field& field : table)
            field.optional = true;
    const Span own_span{{file, 1, 1}, 1};
    FieldValues fields = read_fields(
        tree, table,
        {.what = "job", .span = own_span, .more_elsewhere = [&] { return fields_of_parts(tree); }},
        diagnostics);
    check_spec_name(fields, "job", diagnostics);
    read_allowed(fields, "job", diagnostics);
    job.name = fields.spans.contains("name") && !fields.spans["name"].place.file.empty()
                   ? fields.text("name")
                   : name_of_file(file);
    job.threads = int(fields.integer("threads"));
    job.data_workers = int(std::max<std::int64_t>(1, fields.integer("data_workers")));
    job.pin_threads = fields.flag("pin_threads");
    job.memory_budget = fields.integer("memory_budget");
    if (const SourceNode* node = fields.node("parallel"))
        job.parallel = read_parallel(*node, diagnostics);
    job.spans = fields.spans;
    if (const SourceNode* node = fields.node("kernels")) {
        const FieldValues kernels =
            read_record(*node, kernel_wish_table(), {"kernels", node->span}, diagnostics);
        if (kernels.values.contains("prefer")) parse_name(kernels.text("prefer"), job.prefer);
        for (const auto& [name, span] : kernels.spans)
            job.spans["kernels." + name] = span;
    }
    if (const SourceNode* node = fields.node("generation")) {
        const FieldValues generation =
            read_record(*node, generation_table(), {"generation", node->span}, diagnostics);
        job.prompts = std::max<std::int64_t>(1, generation.integer("prompts"));
        for (const auto& [name, span] : generation.spans)
            job.spans["generation." + name] = span;
    }
    std::erase_if(job.spans, [](const auto& entry) { return entry.second.place.file.empty(); });

    // A part that could not be loaded has its diagnostic; the rest is checked all the same.
    const auto part = [&](const char* name) -> SourceEntry* {
        SourceEntry* entry = tree.find(name);
        if (!entry) return nullptr;
        if (entry->value.is_map()) return entry;
        if (composed)
            diagnostics.error(Code::wrong_type, entry->value.span,
                              fmt::format("`{}` of job is {}; it must be {}", name,
                                          describe(entry->value), describe(FieldType::reference)));
        return nullptr;
    };
    bool model_sound = false;
    SourceEntry* const model_entry = part("model");
    SourceEntry* const given_dataset = tree.find("dataset");
    const bool dataset_first = !model_alone && model_entry && given_dataset &&
                               given_dataset->value.is_map() && leaves_input(model_entry->value);
    if (dataset_first) {
        job.dataset = read_dataset(given_dataset->value, job.name, options.find_data, diagnostics);
        // Every layer's shape would be a mistake that follows.
        if (diagnostics.has_errors()) return job;
        fit_model(job.dataset, model_entry->value);
    }
    if (SourceEntry* entry = model_entry) {
        const int errors = diagnostics.error_count();
        job.model = read_model(entry->value, job.name, diagnostics);
        model_sound = diagnostics.error_count() == errors;
        const bool named = fields.spans.contains("name") && job.name == fields.text("name");
        if (model_alone && !named && !job.model.name.empty()) job.name = job.model.name;
    }
    if (model_alone) {
        if (!tree.find("dataset")) tree.entries.push_back({"dataset", Span{}, make_map()});
        if (!tree.find("training")) tree.entries.push_back({"training", Span{}, make_map()});
        SourceEntry* dataset = tree.find("dataset");
        if (dataset->value.is_map()) fit_dataset(job, dataset->value, model_sound);
    }
    SourceEntry* dataset = dataset_first ? nullptr : part("dataset");
    if (dataset) {
        if (dataset->value.span.place.file.empty()) dataset->value.span = job.model.span;
        const bool plain = reads_plainly(job.model);
        if (!plain && dataset->value.is_map()) fit_shape(job.model, dataset->value);
        job.dataset =
            read_dataset(dataset->value, model_alone ? job.model.name : job.name, options.find_data,
                         diagnostics, plain ? std::vector<InputSpec>() : job.model.inputs);
    }
    settle_loss(tree, diagnostics);
    SourceEntry* training = part("training");
    if (training) {
        if (training->value.span.place.file.empty()) training->value.span = job.model.span;
        job.training = read_training(training->value, diagnostics);
        // A training's name has no meaning beyond its file; the resolved specs carry it for people.
        if (const SourceEntry* name = training->value.find("name"); name && name->value.is_scalar())
            job.training.name = name->value.text;
    }
    if (SourceEntry* machine = part("machine"))
        job.machine = read_machine(machine->value, job.name, diagnostics);
    if (diagnostics.has_errors()) return job;
    settle_ranks(job, options.ranks, diagnostics);
    if (job.threads > 0)
        check_cores(job, job.threads, span_or(job.spans, "threads", job.machine.span), diagnostics);
    if (diagnostics.has_errors()) return job;
    check_inputs(job, diagnostics);
    if (diagnostics.has_errors()) return job;
    settle_target(job);
    settle_metrics(job);
    check_shapes(job, diagnostics);
    check_samples(job, diagnostics);
    check_steps(job, diagnostics);
    check_generation(job, diagnostics);
    check_watched(job.training, &job.dataset, diagnostics);
    // The output that a metric reads depends on the labels.
    for (plan::Metric& metric : job.training.training.metrics)
        metric =
            plan::make_metric({metric.type, metric.attributes}, job.dataset.dataset.target().kind);
    if (diagnostics.has_errors()) return job;
    describe_resolved(job);
    return job;
}

/// The rest of load_job, when the file itself has been read.
JobSpec finish_job(Composer& composer, Composer::Loaded loaded, const std::string& path,
                   const LoadOptions& options, Diagnostics& diagnostics) {
    const bool model_alone = loaded.kind->kind == SpecKind::model;
    SourceNode tree = std::move(loaded.tree);
    if (model_alone) {
        SourceNode job = make_map(Span{{path, 1, 1}, 1});
        job.entries.push_back({"model", Span{}, std::move(tree)});
        tree = std::move(job);
    }
    const bool composed = composer.compose_job(tree, path);
    return read_job(std::move(tree), model_alone, composed, path, options, diagnostics);
}

void allow_all(const LoadOptions& options, Diagnostics& diagnostics) {
    for (const std::string& name : options.allow)
        if (const auto code = find_lint(name)) diagnostics.allow(*code);
}

}  // namespace

JobSpec load_job(const std::string& path, const LoadOptions& options, Diagnostics& diagnostics) {
    JobSpec empty;
    empty.file = path;
    allow_all(options, diagnostics);
    Composer composer(options, diagnostics);
    auto loaded = composer.load_root(path, {"job", "model"});
    if (!loaded) return empty;
    if (loaded->kind->kind != SpecKind::model && loaded->kind->kind != SpecKind::job) {
        diagnostics.error(Code::wrong_kind, Span{{path, 1, 1}, 1},
                          fmt::format("`{}` is a {} spec; here a job or a model is wanted", path,
                                      loaded->kind->name),
                          "a job names its model, dataset and training");
        return empty;
    }
    const std::string file = loaded->file;
    JobSpec job = finish_job(composer, std::move(*loaded), file, options, diagnostics);
    if (options.lint && !diagnostics.has_errors()) lint_job(job, diagnostics);
    return job;
}

CheckedSpec check_spec(const std::string& path, const LoadOptions& options,
                       Diagnostics& diagnostics) {
    CheckedSpec checked;
    allow_all(options, diagnostics);
    Composer composer(options, diagnostics);
    auto loaded = composer.load_root(path);
    if (!loaded) return checked;
    const std::string file = loaded->file;
    const KindInfo& kind = *loaded->kind;
    checked.kind = kind.kind;
    if (kind.kind == SpecKind::job || kind.kind == SpecKind::model) {
        const JobSpec job = finish_job(composer, std::move(*loaded), file, options, diagnostics);
        if (!diagnostics.has_errors()) build_graph(job, 1, diagnostics);
        if (!diagnostics.has_errors()) lint_job(job, diagnostics);
        return checked;
    }
    auto job = composer.compose_part(std::move(*loaded));
    if (!job) return checked;
    const std::string kind_name(kind.name);
    SourceNode& part = job->find(kind_name)->value;
    if (kind.kind == SpecKind::operation || kind.kind == SpecKind::loss) {
        SourceNode operators = make_map(Span{{file, 1, 1}, 1});
        const SourceEntry* name = part.find("name");
        const std::string called = name ? name->value.text : std::string();
        part.erase("name");
        part.entries.push_back({"kind", Span{}, make_scalar(kind_name)});
        operators.entries.push_back({called, operators.span, std::move(part)});
        const Blocks read(nullptr, &operators, diagnostics);
        return checked;
    }
    if (const SourceEntry* model = job->find("model"))
        if (const SourceEntry* losses = model->value.find("operators"))
            const Blocks read(nullptr, &losses->value, diagnostics);
    settle_loss(*job, diagnostics);
    if (kind.kind == SpecKind::dataset) {
        checked.dataset = read_dataset(part, name_of_file(file), options.find_data, diagnostics);
        if (!diagnostics.has_errors()) lint_dataset(checked.dataset, diagnostics);
    } else if (kind.kind == SpecKind::machine) {
        checked.machine = read_machine(part, name_of_file(file), diagnostics);
    } else {
        checked.training = read_training(part, diagnostics);
        if (!diagnostics.has_errors()) check_watched(checked.training, nullptr, diagnostics);
        if (!diagnostics.has_errors()) lint_training(checked.training, diagnostics);
    }
    return checked;
}

}  // namespace dtnn::compiler
