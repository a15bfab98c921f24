#include "tools/dtnnc/plan_source.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

#include "compiler/ir/printer.hpp"
#include "compiler/lower/compile.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/support/check.hpp"
#include "kernels/catalogue.hpp"
#include "plan/audit/audit.hpp"
#include "plan/json/json.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {

namespace {

using compiler::Graph;

constexpr const char* kFailureFile = "dtnnc-failure.txt";

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
    if (auto near = compiler::did_you_mean(word, candidates))
        return fmt::format("\nhelp: did you mean `{}`?", *near);
    return fmt::format("\nhelp: there are {}", fmt::join(candidates, ", "));
}

std::set<std::string> checked_passes(const std::vector<std::string>& names) {
    std::vector<std::string> optional = {"in_place"};
    for (const compiler::PassInfo& pass : compiler::all_passes())
        if (pass.optional) optional.emplace_back(pass.name);
    std::sort(optional.begin(), optional.end());
    for (const std::string& name : names) {
        if (std::find(optional.begin(), optional.end(), name) != optional.end()) continue;
        throw UsageError(compiler::find_pass(name)
                             ? fmt::format("the pass `{}` is not optional", name)
                             : fmt::format("no optional pass is named `{}`", name) +
                                   suggestion(name, optional));
    }
    return {names.begin(), names.end()};
}

int usable_cores() {
    cpu_set_t cores;
    if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::int64_t parse_budget(const std::string& text) {
    if (auto bytes = compiler::parse_memory_size(text)) return *bytes;
    throw UsageError(fmt::format(
        "--memory-budget `{}` is no size\nhelp: write a number and a unit, as in 512MiB or 4GiB",
        text));
}

plan::Target decide_target(const compiler::JobSpec& job, const CompileOptions& compile) {
    if (compile.target != "cpu")
        throw UsageError(
            fmt::format("--target {}: this version compiles for cpu only", compile.target));
    plan::Target target;
    target.device = compile.target;
    target.dtype = job.training.dtype;
    const plan::Machine& machine = job.machine.machine;
    target.isa = !compile.isa.empty()   ? compile.isa
                 : !machine.isa.empty() ? machine.isa
                                        : std::string(kernels::name_of(kernels::host_isa()));
    kernels::Isa isa{};
    if (!kernels::parse_isa(target.isa, isa))
        throw UsageError(fmt::format("--isa {}: no such instruction set", target.isa) +
                         suggestion(target.isa, {"baseline", "avx2", "avx512"}));
    target.threads = compile.threads > 0 ? compile.threads
                     : job.threads > 0   ? job.threads
                     : machine.cores > 0
                         ? std::max(1, machine.cores / compiler::ranks_per_node(machine, job.ranks))
                     : compile.usual_threads > 0 ? compile.usual_threads
                                                 : usable_cores();
    target.data_workers = job.data_workers;
    target.ranks = job.ranks;
    return target;
}

// Where the budget was written, for the diagnostic about it; nowhere when it came from the command
// line.
compiler::Span budget_span(const compiler::JobSpec& job, const CompileOptions& compile) {
    compiler::Span span;
    if (!compile.memory_budget.empty()) return span;
    for (const plan::ResolvedValue& value : job.values)
        if (value.path == "memory_budget" && value.origin == plan::OriginKind::file)
            span.place = value.place;
    return span;
}

// ---- --emit

struct EmitRequest {
    std::string phase, program;
    bool found = false;
};

std::vector<EmitRequest> parse_emit(const std::vector<std::string>& texts) {
    std::vector<std::string> phases = {"forward"};
    for (const compiler::PassInfo& pass : compiler::all_passes())
        phases.emplace_back(pass.name);
    std::vector<EmitRequest> requests;
    for (const std::string& text : texts) {
        std::size_t colon = text.find(':');
        EmitRequest request{text.substr(0, colon),
                            colon == std::string::npos ? "" : text.substr(colon + 1)};
        if (std::find(phases.begin(), phases.end(), request.phase) == phases.end())
            throw UsageError(fmt::format("--emit {}: no phase has that name", request.phase) +
                             suggestion(request.phase, phases));
        requests.push_back(std::move(request));
    }
    return requests;
}

// For the tests of internal errors: one after the phase that this variable names.
const char* phase_to_break_after() {
    return std::getenv("DTNN_BREAK_AFTER");
}

using EmitHook = std::function<void(const std::string&, const std::string&, const Graph&)>;

EmitHook make_hook(std::vector<EmitRequest>& emit) {
    const char* broken = phase_to_break_after();
    if (emit.empty() && !broken) return {};
    return [&emit, broken](const std::string& phase, const std::string& program,
                           const Graph& graph) {
        for (EmitRequest& request : emit)
            if (request.phase == phase && (request.program.empty() || request.program == program)) {
                request.found = true;
                write_stdout(
                    fmt::format("; {} after {}\n{}\n", program, phase, compiler::print(graph)));
            }
        DTNN_CHECK(!broken || phase != broken, "asked for by DTNN_BREAK_AFTER");
    };
}

// ---- Internal errors

// Compiles once more, keeping the graph after every phase, until it fails at the same place; so
// that a compilation that goes well never pays for it.
std::string describe_failure(compiler::CompileRequest request,
                             const compiler::InternalError& error) {
    std::string phase, program, text;
    const char* broken = phase_to_break_after();
    request.emit = [&](const std::string& p, const std::string& g, const Graph& graph) {
        phase = p;
        program = g;
        text = compiler::print(graph);
        DTNN_CHECK(!broken || p != broken, "asked for by DTNN_BREAK_AFTER");
    };
    try {
        compiler::Diagnostics again;
        compiler::compile(request, again);
    } catch (const std::exception&) {
        // The first one is reported.
    }
    std::string where = phase.empty() ? "before the first phase"
                                      : fmt::format("after phase {} of {}", phase, program);
    try {
        write_file(kFailureFile, fmt::format("; {}\n; {}\n{}\n", error.what(), where, text));
        where += fmt::format("; the graph was written to {}", kFailureFile);
    } catch (const OutputError& failure) {
        where += fmt::format("; {}", failure.what());
    }
    return fmt::format("{}\n  {}; please report this", error.what(), where);
}

}  // namespace

compiler::LoadOptions load_options(const CommonOptions& options) {
    return {options.spec_path, options.settings, {}, options.ranks};
}

void refuse_spec_options(const CommonOptions& options, const std::string& plan) {
    if (!options.settings.empty())
        throw UsageError(fmt::format("--set changes specs; {} is a plan", plan));
    if (options.ranks > 0)
        throw UsageError(
            fmt::format("--ranks says what a spec is compiled for; {} is a plan", plan));
}

std::optional<plan::Plan> compile_spec(const std::string& spec, const CompileOptions& compile,
                                       const CommonOptions& options,
                                       compiler::Diagnostics& diagnostics) {
    std::set<std::string> disabled = checked_passes(compile.disabled);
    std::vector<EmitRequest> emit = parse_emit(compile.emit);
    std::int64_t budget = compile.memory_budget.empty() ? 0 : parse_budget(compile.memory_budget);
    if (compile.threads < 0) throw UsageError("--threads takes a number of at least 1");

    compiler::JobSpec job = compiler::load_job(spec, load_options(options), diagnostics);
    plan::Target target = decide_target(job, compile);
    if (compile.threads > 0 && !diagnostics.has_errors())
        check_cores(job, compile.threads, {}, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;

    compiler::CompileRequest request;
    request.job_name = job.name;
    request.model_name = job.model.name;
    request.build = [&](std::int64_t batch) {
        return compiler::build_graph(job, batch, diagnostics);
    };
    request.training = job.training.training;
    request.dataset = job.dataset.dataset;
    request.target = target;
    request.parallel = job.parallel.parallel;
    request.machine = job.machine.machine;
    request.memory_budget = budget > 0 ? budget : job.memory_budget;
    request.values = job.values;
    request.resolved_spec = job.resolved_text;
    request.job_span = budget_span(job, compile);
    request.disabled_passes = std::move(disabled);
    request.reference_kernels = compile.reference_kernels;
    request.emit = make_hook(emit);
    plan::Plan plan;
    try {
        plan = compiler::compile(request, diagnostics);
    } catch (const compiler::InternalError& error) {
        throw compiler::InternalError(describe_failure(request, error));
    }
    if (!diagnostics.has_errors()) check_machine(job, plan, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    for (const EmitRequest& wanted : emit) {
        if (wanted.found) continue;
        std::vector<std::string> names;
        for (const plan::Program& program : plan.programs)
            names.push_back(program.name);
        if (std::find(names.begin(), names.end(), wanted.program) != names.end() ||
            wanted.program.empty())
            throw UsageError(fmt::format("--emit {}: the pass did not run{}", wanted.phase,
                                         wanted.program.empty() ? "" : " for that program"));
        throw UsageError(
            fmt::format("--emit {}:{}: no program has that name", wanted.phase, wanted.program) +
            suggestion(wanted.program, names));
    }
    plan.generator = "dtnnc " DTNN_VERSION;
    return plan;
}

bool is_plan(const std::string& path) {
    if (path.ends_with(".json")) return true;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                         &std::fclose);
    if (!file) return false;
    char start[64];
    std::size_t count = std::fread(start, 1, sizeof start, file.get());
    return plan::looks_like_plan({start, count});
}

plan::Plan load_plan(const std::string& path) {
    std::string error;
    std::optional<std::string> text = read_file(path, error);
    if (!text) throw PlanError(fmt::format("cannot read {}: {}", path, error));
    plan::ReadResult result = plan::read_plan(*text);
    if (!result.plan) throw PlanError(fmt::format("{}: {}", path, result.error));
    if (std::vector<std::string> findings = plan::audit(*result.plan); !findings.empty())
        throw PlanError(fmt::format("{}: the plan is not sound: {} ({} finding{})", path,
                                    findings.front(), findings.size(),
                                    findings.size() == 1 ? "" : "s"));
    return std::move(*result.plan);
}

}  // namespace dtnn::tools
