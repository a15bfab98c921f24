// Machines, and whether a job fits the one it names.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "compiler/frontend/read/members.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/tables/misplaced_fields.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "plan/rules/memory_need.hpp"

namespace dtnn::compiler {
namespace {

/// In the order in which each can do what those before it can.
constexpr std::array<std::string_view, 5> kIsas = {"baseline", "avx2", "avx512", "avx512_bf16",
                                                   "amx"};

std::ptrdiff_t rank_of(std::string_view isa) {
    return std::find(kIsas.begin(), kIsas.end(), isa) - kIsas.begin();
}

std::string on_nodes(const JobSpec& job) {
    return job.ranks == 1 ? std::string("the one rank")
                          : fmt::format("the {} ranks of a node",
                                        ranks_per_node(job.machine.machine, job.ranks));
}

/// Whether a rank's device has the memory, and a node the devices, where the machine says so.
void check_gpus(const JobSpec& job, const plan::Plan& plan, Diagnostics& diagnostics) {
    const plan::Machine& machine = job.machine.machine;
    const plan::Gpus& gpus = machine.gpus;
    if (gpus.count == 0) return;
    const int per_node = ranks_per_node(machine, job.ranks);
    if (per_node > gpus.count)
        diagnostics.error(
            Code::machine_mismatch, span_or(job.machine.spans, "gpus.count", job.machine.span),
            fmt::format("{} need a device each, and a node of the machine `{}` has {}",
                        on_nodes(job), machine.name, gpus.count),
            fmt::format("at most {} ranks fit", std::int64_t{gpus.count} * machine.nodes));
    const std::int64_t need = plan::memory_need(plan).device;
    if (gpus.memory_bytes == 0 || need <= gpus.memory_bytes - gpus.library_bytes) return;
    const auto [needed, there] = unlike_bytes_text(double(need), double(gpus.memory_bytes));
    diagnostics.error(
        Code::over_machine_memory, span_or(job.machine.spans, "gpus.memory", job.machine.span),
        fmt::format("the plan needs {} of a device's memory, and one of the machine `{}` has {}{}",
                    needed, machine.name, there,
                    gpus.library_bytes > 0 ? fmt::format(", of which libraries take {}",
                                                         bytes_text(double(gpus.library_bytes)))
                                           : std::string()),
        "make batch_size smaller");
}

}  // namespace

MachineSpec read_machine(const SourceNode& tree, const std::string& default_name,
                         Diagnostics& diagnostics) {
    MachineSpec spec;
    spec.span = span_of(tree);
    FieldValues fields =
        read_fields(tree, machine_table(),
                    {.what = "machine",
                     .span = spec.span,
                     .more_elsewhere = [] { return help_for_misplaced("machine"); }},
                    diagnostics);
    check_spec_name(fields, "machine", diagnostics);
    fill_members(machine_table(), fields, spec);
    plan::Machine& machine = spec.machine;
    machine.name = fields.values.contains("name") ? fields.text("name") : default_name;
    machine.nodes = std::max(1, machine.nodes);
    spec.spans = fields.spans;
    read_record_members(machine_table(), fields, "", spec, spec.spans, diagnostics);
    const auto record = [&](const char* name, const FieldTable& table, Attributes& into) {
        const SourceNode* node = fields.node(name);
        if (node == nullptr) return;
        const FieldValues values = read_record(*node, table, {name, node->span}, diagnostics);
        into = values.values;
        for (const auto& [field, span] : values.spans)
            spec.spans[fmt::format("{}.{}", name, field)] = span;
    };
    record("kernels", kernel_rate_table(), machine.kernels);
    record("slurm", slurm_table(), machine.slurm);
    forget_made(spec.spans);
    return spec;
}

int ranks_per_node(const plan::Machine& machine, int ranks) {
    const int nodes = std::max(1, machine.nodes);
    return ranks / nodes + (ranks % nodes > 0);
}

void check_cores(const JobSpec& job, int threads, const Span& span, Diagnostics& diagnostics) {
    const plan::Machine& machine = job.machine.machine;
    if (machine.name.empty() || machine.cores == 0) return;
    const int per_node = ranks_per_node(machine, job.ranks);
    if (std::int64_t{threads} * per_node <= machine.cores) return;
    Diagnostic& error = diagnostics.error(
        Code::machine_mismatch, span,
        fmt::format("{} compute with {} threads{}, and a node of the machine `{}` has {} cores",
                    on_nodes(job), threads,
                    per_node > 1
                        ? fmt::format(" each, {} together", std::int64_t{threads} * per_node)
                        : std::string(),
                    machine.name, machine.cores));
    error.notes.push_back(
        {span_or(job.machine.spans, "cores", job.machine.span), "the cores are given here"});
    if (job.ranks == 1 || machine.cores >= per_node)
        error.help = fmt::format("at most {} threads fit", std::max(1, machine.cores / per_node));
    else
        error.help = fmt::format("even with 1 thread each at most {} ranks fit",
                                 std::int64_t{machine.cores} * machine.nodes);
}

void check_machine(const JobSpec& job, const plan::Plan& plan, Diagnostics& diagnostics) {
    const plan::Machine& machine = job.machine.machine;
    if (machine.name.empty()) return;
    if (!machine.isa.empty() && rank_of(plan.target.isa) > rank_of(machine.isa))
        diagnostics.error(Code::machine_mismatch,
                          span_or(job.machine.spans, "isa", job.machine.span),
                          fmt::format("the plan is for {}, and the machine `{}` has {}",
                                      plan.target.isa, machine.name, machine.isa),
                          fmt::format("compile with --isa {}, or without --isa", machine.isa));
    if (plan::has_own_memory(plan.target)) check_gpus(job, plan, diagnostics);
    if (machine.memory_bytes == 0) return;
    const std::int64_t need = plan::memory_need(plan).host;
    const int per_node = ranks_per_node(machine, job.ranks);
    // Divided, because the product may be larger than any memory.
    const std::int64_t share = machine.memory_bytes / per_node;
    if (need <= share) return;
    const auto [needed, there] = unlike_bytes_text(double(need), double(share));
    Diagnostic& error = diagnostics.error(
        Code::over_machine_memory, span_or(job.machine.spans, "memory", job.machine.span),
        fmt::format("the plan needs {} of memory per rank, and a node of the machine `{}` has {} "
                    "for each of {}",
                    needed, machine.name, there,
                    per_node == 1 ? "its one rank" : fmt::format("its {} ranks", per_node)));
    const std::int64_t fitting = machine.memory_bytes / need;
    error.help =
        fitting < 1
            ? "make batch_size smaller"
            : fmt::format("at most {} on a node; or make batch_size smaller",
                          count_text(fitting, "rank of this size fits", "ranks of this size fit"));
}

}  // namespace dtnn::compiler
