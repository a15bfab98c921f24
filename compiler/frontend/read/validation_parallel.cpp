// How ranks share a training: `parallel` of a job, --ranks, and the batch of all ranks.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/frontend/read/members.hpp"
#include "compiler/frontend/read/scalars.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

Span data_span(const ParallelSpec& parallel) {
    return span_or(parallel.spans, "data", parallel.span);
}

/// The ranks that the figures are for, and which the plan runs on.
void settle_number(JobSpec& job, int option, Diagnostics& diagnostics) {
    ParallelSpec& spec = job.parallel;
    plan::Parallel& parallel = spec.parallel;
    const bool any = spec.takes_any_ranks();
    const auto written = any ? std::nullopt : parse_integer(spec.data).value;
    const int stated = int(written.value_or(1));
    // A job that says nothing about its ranks has as many as the command line says.
    const bool silent = spec.data.empty();
    job.ranks = option > 0 ? option : stated;
    parallel.data = any || job.ranks > 1;
    parallel.any_ranks = any || !parallel.data;
    if (any || silent || option == 0 || option == stated) return;
    diagnostics.error(
        Code::ranks_mismatch, data_span(spec),
        fmt::format("`data` of parallel is {}, and --ranks is {}", spec.data, option),
        fmt::format("leave --ranks out, or write `data: auto`{}",
                    spec.data == "none" ? "" : fmt::format(" or `data: {}`", option)));
    job.ranks = stated;
    parallel.data = stated > 1;
}

/// From the samples of all ranks those of one.
void share_batch(JobSpec& job, bool known, Diagnostics& diagnostics) {
    plan::Training& training = job.training.training;
    const std::int64_t global = job.training.global_batch_size;
    if (global == 0) return;
    const Span span = span_or(job.training.spans, "global_batch_size", job.training.span);
    if (!known) {
        Diagnostic& error = diagnostics.error(
            Code::ranks_mismatch, span,
            "`global_batch_size` is shared by the ranks, and their number is not known: `data` of "
            "parallel is auto");
        error.notes.push_back({data_span(job.parallel), "`data` is given here"});
        error.help =
            "write `data: N`, or say for how many with --ranks N, or give the `batch_size` of a "
            "rank";
        return;
    }
    if (global % job.ranks != 0) {
        const std::int64_t below = global / job.ranks * job.ranks, above = below + job.ranks;
        Diagnostic& error = diagnostics.error(
            Code::ranks_mismatch, span,
            fmt::format("`global_batch_size` {} cannot be shared evenly by {} ranks", global,
                        job.ranks));
        if (!job.parallel.data.empty())
            error.notes.push_back({data_span(job.parallel), "the ranks are given here"});
        error.help = below > 0 ? fmt::format("the nearest that can are {} and {}", below, above)
                               : fmt::format("the smallest that can is {}", above);
        return;
    }
    training.batch_size = global / job.ranks;
}

/// What a sharded optimizer asks for: a known number of ranks, and updates that look at one weight
/// at a time.
void check_sharded(JobSpec& job, bool known, Diagnostics& diagnostics) {
    plan::Parallel& parallel = job.parallel.parallel;
    if (parallel.optimizer != plan::OptimizerState::sharded) return;
    const Span span = span_or(job.parallel.spans, "optimizer", job.parallel.span);
    const auto refuse = [&](std::string fact, std::string help) {
        Diagnostic& error =
            diagnostics.error(Code::conflicting_fields, span,
                              "`optimizer` of parallel is `sharded`" + std::move(fact));
        error.help = std::move(help);
        return &error;
    };
    if (!known) {
        Diagnostic* error =
            refuse(", and the number of ranks, each of which has a part of the state, is not known",
                   "write `data: N`, or say for how many with --ranks N");
        if (!job.parallel.data.empty())
            error->notes.push_back({data_span(job.parallel), "`data` is given here"});
    } else {
        parallel.any_ranks = parallel.any_ranks && !parallel.data;
    }
    const std::string& optimizer = job.training.training.optimizer;
    if (optimizers().find(optimizer)->takes_norms)
        refuse(fmt::format(", and {} takes the norm of every whole tensor, of which a rank has a "
                           "part",
                           optimizer),
               "write `replicated`, or take another optimizer");
}

/// What gradients in fewer bytes ask for: f32, and every rank making every update.
void check_wire(const JobSpec& job, Diagnostics& diagnostics) {
    const ParallelSpec& spec = job.parallel;
    const plan::Parallel& parallel = spec.parallel;
    const Span span = span_or(spec.spans, "wire", spec.span);
    const auto density = spec.spans.find("density");
    if (density != spec.spans.end() && parallel.compression != plan::Compression::top_k)
        diagnostics.error(
            Code::conflicting_fields, density->second,
            fmt::format("`density` of parallel is of `wire: top_k`, and `wire` is `{}`",
                        name_of(parallel.compression)),
            "leave it out, or write `wire: top_k`");
    if (parallel.compression == plan::Compression::full) return;
    if (job.training.dtype != DType::f32) {
        Diagnostic& error = diagnostics.error(
            Code::conflicting_fields, span,
            fmt::format("`wire` of parallel is `{}`, and numbers of {} do not travel in fewer "
                        "bytes, only those of f32",
                        name_of(parallel.compression), name_of(job.training.dtype)));
        if (const auto dtype = job.training.spans.find("dtype"); dtype != job.training.spans.end())
            error.notes.push_back({dtype->second, "`dtype` is given here"});
        error.help = "write `wire: full`, or train in f32";
    }
    if (parallel.optimizer == plan::OptimizerState::sharded) {
        Diagnostic& error = diagnostics.error(
            Code::conflicting_fields, span,
            fmt::format("`wire` of parallel is `{}`, and a sharded optimizer exchanges parts as "
                        "they are",
                        name_of(parallel.compression)));
        error.notes.push_back(
            {span_or(spec.spans, "optimizer", spec.span), "`optimizer` is given here"});
        error.help = "leave one of them out";
    }
}

bool warms_up(const plan::Training& training) {
    return std::any_of(
        training.schedules.begin(), training.schedules.end(),
        [](const plan::Component& schedule) { return schedules().find(schedule.type)->rises; });
}

}  // namespace

ParallelSpec read_parallel(const SourceNode& node, Diagnostics& diagnostics) {
    ParallelSpec spec;
    spec.given = true;
    spec.span = node.span;
    FieldScope scope{"parallel", node.span};
    scope.elsewhere["ranks"] = "`data` is the number of ranks: `parallel: {data: 4}`";
    scope.elsewhere["batch_size"] = "`training.batch_size` is of each rank";
    FieldValues values = read_record(node, parallel_table(), scope, diagnostics);
    if (const auto data = values.values.find("data"); data != values.values.end()) {
        const auto* number = std::get_if<std::int64_t>(&data->second);
        spec.data = number ? fmt::format("{}", *number) : std::get<std::string>(data->second);
    }
    plan::Parallel& parallel = spec.parallel;
    fill_members(parallel_table(), values, spec);
    if (parallel.compression != plan::Compression::top_k) parallel.density = 0;
    read_synchronise(values.node("synchronise"), spec, diagnostics);
    forget_made(values.spans);
    spec.spans.merge(values.spans);
    return spec;
}

void check_batch_fields(const TrainingSpec& training, Diagnostics& diagnostics) {
    const auto global = training.spans.find("global_batch_size");
    const auto own = training.spans.find("batch_size");
    if (global == training.spans.end() || own == training.spans.end()) return;
    Diagnostic& error = diagnostics.error(
        Code::conflicting_fields, global->second,
        "training has both `batch_size`, of each rank, and `global_batch_size`, of all together");
    error.notes.push_back({own->second, "`batch_size` is given here"});
    error.help = "leave one of them out";
}

void settle_ranks(JobSpec& job, int ranks_option, Diagnostics& diagnostics) {
    settle_number(job, ranks_option, diagnostics);
    const bool known = !job.parallel.takes_any_ranks() || ranks_option > 0;
    share_batch(job, known, diagnostics);
    settle_local_steps(job, diagnostics);
    check_sharded(job, known, diagnostics);
    check_wire(job, diagnostics);
    const plan::Parallel& parallel = job.parallel.parallel;
    if (parallel.data && parallel.learning_rate_scaling != plan::RateScaling::none &&
        !warms_up(job.training.training))
        diagnostics.warning(
            Code::no_warm_up,
            span_or(job.parallel.spans, "learning_rate_scaling", job.parallel.span),
            fmt::format("the learning rate is scaled by the ranks ({}), and no schedule "
                        "warms it up",
                        name_of(parallel.learning_rate_scaling)),
            "such as `schedules: [warm_up: {epochs: 5}]` in the training");
}

}  // namespace dtnn::compiler
