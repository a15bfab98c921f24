#pragma once
/// From a forward graph to a plan: passes, schedule, kernel selection, memory layout, emission,
/// audit.

#include <functional>
#include <set>
#include <string>

#include "compiler/ir/graph.hpp"
#include "compiler/support/diagnostics.hpp"
#include "compiler/tuning/kernel_choice.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

struct CompileRequest {
    std::string job_name;
    std::string model_name;
    /// Builds the forward graph for a batch size (the full batch, and the tails).
    std::function<Graph(std::int64_t batch)> build;
    plan::Training training;  ///< steps_per_epoch is filled in by compile
    plan::Dataset dataset;    ///< sizes before the validation split
    plan::Target target;      ///< isa, threads and ranks already decided
    plan::Parallel parallel;  ///< bucket_bytes 0: compile chooses
    plan::Machine machine;    ///< what exchanges are foreseen for; without a name: unknown
    std::int64_t memory_budget = 0;
    std::int64_t prompts = 0;  ///< texts that are generated at once; 0: the plan generates none
    std::vector<plan::ResolvedValue> values;
    std::string resolved_spec;
    Span job_span;  ///< for diagnostics about the job as a whole

    std::set<std::string> disabled_passes;
    KernelWishes kernels;
    /// Called after each phase with its name ("forward", a pass, "schedule", ...), program and the
    /// graph's text.
    std::function<void(const std::string& phase, const std::string& program, const Graph&)> emit;
    /// Is called before work that may take long, with what it is ("looking for what fits 4 GiB, try
    /// 3"); empty: nobody is told.
    std::function<void(const std::string& work)> tell;
};

/// Programs, by name: "train" (batch_size), "accumulate" (with accumulation: a batch whose
/// gradients the next "train" or "train_tail" takes), "train_tail" (what is left of an epoch, if
/// anything; with data parallelism also where the job limits the steps of an epoch), "evaluate",
/// one "evaluate_tail" per distinct remainder ("evaluate_tail", "evaluate_tail_2",
/// "evaluate_tail_3": validation, test and the samples that are trained on), "predict", "generate"
/// and "generate_prompt" (one step of texts and several, where prompts are asked for; a model that
/// needs all steps at once is a diagnostic, and one of recurrent cells has the first alone). A plan
/// that does not fit the memory budget is a diagnostic (exit code 4). The plan is audited before it
/// is returned.
plan::Plan compile(const CompileRequest& request, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
