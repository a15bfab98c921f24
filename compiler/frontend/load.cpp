// load_job and check_spec: composition, validation, and what must hold between model, dataset and
// training.

#include <fmt/format.h>

#include <algorithm>

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
    const char* const type = kind == plan::LabelKind::multiple   ? "binary_accuracy"
                             : kind == plan::LabelKind::sequence ? "label_error_rate"
                                                                 : "mean_absolute_error";
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
    check_sample_lengths(job, diagnostics);
    if (diagnostics.has_errors()) return job;
    settle_target(job);
    settle_metrics(job);
    check_shapes(job, diagnostics);
    check_samples(job, diagnostics);
    check_steps(job, diagnostics);
    check_generation(job, diagnostics);
    settle_carried_state(job, diagnostics);
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
