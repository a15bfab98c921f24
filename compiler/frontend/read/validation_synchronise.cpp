// Ranks that move weights of their own: `synchronise` of a job's `parallel`, and datasets of ranks.

#include <fmt/format.h>

#include "compiler/frontend/read/members.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "plan/rules/local_steps.hpp"

namespace dtnn::compiler {
namespace {

Span span_of_synchronise(const ParallelSpec& parallel) {
    return span_or(parallel.spans, "synchronise", parallel.span);
}

/// What exchanges something for every update.
void refuse_exchanges(const ParallelSpec& spec, Diagnostics& diagnostics) {
    const plan::Parallel& parallel = spec.parallel;
    const plan::Parallel usual;
    const auto refuse = [&](const char* field, auto plan::Parallel::*value, const char* reason) {
        if (parallel.*value == usual.*value) return;
        Diagnostic& error = diagnostics.error(
            Code::conflicting_fields, span_or(spec.spans, field, spec.span),
            fmt::format("`{}` of parallel is `{}`, and ranks that move weights of their own {}",
                        field, name_of(parallel.*value), reason));
        error.notes.push_back({span_of_synchronise(spec), "`synchronise` is given here"});
        error.help = "leave one of them out";
    };
    refuse("optimizer", &plan::Parallel::optimizer, "have each an optimizer of their own");
    refuse("wire", &plan::Parallel::compression, "exchange no gradients");
    refuse("batch_statistics", &plan::Parallel::batch_statistics,
           "share no batches whose statistics could be one");
}

/// Fields of the dataset's type that name files of the rank's own.
std::vector<std::string> paths_of_rank(const DatasetSpec& spec) {
    std::vector<std::string> fields;
    for (const auto& [name, value] : spec.dataset.attributes)
        if (const auto* text = std::get_if<std::string>(&value))
            if (text->find(plan::kRankInPath) != std::string::npos) fields.push_back(name);
    return fields;
}

void check_private_data(const JobSpec& job, const std::string& field, Diagnostics& diagnostics) {
    const Span span = span_or(job.dataset.spans, field, job.dataset.span);
    const plan::Parallel& parallel = job.parallel.parallel;
    if (parallel.local_steps == 0 || !parallel.data) {
        diagnostics.error(
            Code::conflicting_fields, span,
            fmt::format("`{}` of dataset has `{}`, a file for each rank, and {}", field,
                        plan::kRankInPath,
                        parallel.data ? "all ranks take their parts of one dataset's batches"
                                      : "the job is for one rank"),
            parallel.local_steps == 0
                ? "such as `parallel: {data: auto, synchronise: {every: 8}}` for ranks that train "
                  "on data of their own and average their weights"
                : "such as `data: auto` in parallel");
        return;
    }
    if (job.dataset.dataset.validation_files)
        diagnostics.error(Code::conflicting_fields, span,
                          fmt::format("`{}` of dataset has `{}`, a file for each rank, and the "
                                      "dataset has files of validation, which are the same for all",
                                      field, plan::kRankInPath),
                          "keep a part of each rank's samples for validation by `validation_split` "
                          "of the training");
    const std::int64_t batch = job.training.training.batch_size;
    if (job.dataset.dataset.train_samples < batch)
        diagnostics.error(Code::out_of_range, span_or(job.dataset.spans, "train_samples", span),
                          fmt::format("a rank has at most {} training samples of its own, less "
                                      "than a batch of {}; it trains on whole batches",
                                      job.dataset.dataset.train_samples, batch),
                          "give the training a smaller batch_size");
}

}  // namespace

void read_synchronise(const SourceNode* node, ParallelSpec& spec, Diagnostics& diagnostics) {
    if (node == nullptr) return;
    read_members(*node, synchronise_table(), "synchronise", spec, spec.spans, diagnostics);
    plan::Parallel& parallel = spec.parallel;
    if (parallel.participation == plan::Participation::all && parallel.min_avail > 0) {
        diagnostics.error(Code::conflicting_fields,
                          span_or(spec.spans, "synchronise.min_avail", node->span),
                          fmt::format("`min_avail` of synchronise is {}, and `participation` is "
                                      "all: every rank has data until an epoch ends",
                                      parallel.min_avail),
                          "write `participation: avail2all`, or leave min_avail out");
        parallel.min_avail = 0;
    }
}

void settle_local_steps(JobSpec& job, Diagnostics& diagnostics) {
    plan::Parallel& parallel = job.parallel.parallel;
    if (parallel.local_steps > 0) refuse_exchanges(job.parallel, diagnostics);
    if (parallel.local_steps > 0 && parallel.data && !parallel.any_ranks &&
        parallel.min_avail > job.ranks)
        diagnostics.error(Code::out_of_range,
                          span_or(job.parallel.spans, "synchronise.min_avail", job.parallel.span),
                          fmt::format("`min_avail` of synchronise is {}, and there are {} ranks: "
                                      "their weights would be averaged at the ends of epochs only",
                                      parallel.min_avail, job.ranks),
                          fmt::format("at most {}", job.ranks));
    const std::vector<std::string> fields = paths_of_rank(job.dataset);
    for (const std::string& field : fields)
        check_private_data(job, field, diagnostics);
    parallel.private_data = !fields.empty() && parallel.data && parallel.local_steps > 0;
}

}  // namespace dtnn::compiler
