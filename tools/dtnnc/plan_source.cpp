#include "tools/dtnnc/plan_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/file_limits.hpp"
#include "base/input_file.hpp"
#include "base/text.hpp"
#include "compiler/driver/compile_job.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/support/check.hpp"
#include "plan/audit/audit.hpp"
#include "plan/devices.hpp"
#include "plan/json/json.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/standard_input.hpp"
#include "tools/dtnnc/tuning_file.hpp"

namespace dtnn::tools {

namespace {

using compiler::Graph;

constexpr const char* kFailureFile = "dtnnc-failure.txt";

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
    if (auto near = compiler::did_you_mean(word, candidates))
        return fmt::format("\nhelp: did you mean `{}`?", *near);
    return fmt::format("\nhelp: there are {}", fmt::join(candidates, ", "));
}

std::int64_t parse_budget(const std::string& text) {
    if (auto bytes = compiler::parse_memory_size(text)) return *bytes;
    throw UsageError(fmt::format(
        "--memory-budget `{}` is no size\nhelp: write a number and a unit, as in 512MiB or 4GiB",
        text));
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

/// Prints the graphs that are asked for, and notes which of them there were.
auto emit_hook(std::vector<EmitRequest>& emit) {
    return [&emit, broken = phase_to_break_after()](
               const std::string& phase, const std::string& program, const Graph& graph) {
        for (EmitRequest& request : emit)
            if (request.phase == phase && (request.program.empty() || request.program == program)) {
                request.found = true;
                write_stdout(
                    fmt::format("; {} after {}\n{}\n", program, phase, compiler::print(graph)));
            }
        DTNN_CHECK(!broken || phase != broken, "asked for by DTNN_BREAK_AFTER");
    };
}

/// Says what is done, where nothing has been said for a while.
class SlowWords {
  public:
    void tell(const std::string& spec, const std::string& work) {
        constexpr std::chrono::seconds kSilence{2};
        const auto now = Clock::now();
        if (now - told_ < kSilence) return;
        told_ = now;
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begun_);
        write_stderr(fmt::format("dtnnc: {}: {} ({} s)\n", spec, work, seconds.count()));
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point begun_ = Clock::now(), told_ = begun_;
};

void refuse_unseen(const std::vector<EmitRequest>& emit, const plan::Plan& plan) {
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
}

// ---- Internal errors

// Compiles once more, keeping the graph after every phase, until it fails at the same place; so
// that a compilation that goes well never pays for it.
std::string describe_failure(const compiler::JobSpec& job, compiler::CompileOptions options,
                             const compiler::InternalError& error) {
    std::string phase, program, text;
    const char* broken = phase_to_break_after();
    options.observe = [&](const std::string& p, const std::string& g, const Graph& graph) {
        phase = p;
        program = g;
        text = compiler::print(graph);
        DTNN_CHECK(!broken || p != broken, "asked for by DTNN_BREAK_AFTER");
    };
    try {
        compiler::Diagnostics again;
        compiler::compile_job(job, options, again);
    } catch (const std::exception&) {
        // The first one is reported.
    }
    std::string where = phase.empty() ? "before the first phase"
                                      : fmt::format("after phase {} of {}", phase, program);
    try {
        refuse_link(kFailureFile);
        write_file(kFailureFile, fmt::format("; {}\n; {}\n{}\n", error.what(), where, text));
        where += fmt::format("; the graph was written to {}", kFailureFile);
    } catch (const OutputError& failure) {
        where += fmt::format("; {}", failure.what());
    }
    return fmt::format("{}\n  {}; please report this", error.what(), where);
}

}  // namespace

void declare_tuning(OptionList& list, CompileCommand& command) {
    list.text("--tuning", command.tuning,
              "File of measured times that kernels are chosen by; default $DTNN_TUNING, else "
              "tuning.json of the cache folder",
              {.value = "FILE"});
    list.flag("--no-tuning", command.no_tuning, "Chooses kernels without measured times");
}

std::optional<plan::Plan> compile_spec(const std::string& spec, const CompileCommand& command,
                                       const CommonOptions& common,
                                       compiler::Diagnostics& diagnostics) {
    compiler::CompileOptions options = command.options;
    if (auto mistake = compiler::find_mistake(options))
        throw UsageError(mistake->text + (mistake->help.empty() ? "" : "\nhelp: " + mistake->help));
    std::vector<EmitRequest> emit = parse_emit(command.emit);
    if (!command.memory_budget.empty()) options.memory_budget = parse_budget(command.memory_budget);
    if (!emit.empty() || phase_to_break_after()) options.observe = emit_hook(emit);

    options.tell = [spec, words = SlowWords()](const std::string& work) mutable {
        words.tell(spec, work);
    };

    std::optional<compiler::TuningHistory> tuning;
    if (!command.no_tuning && plan::traits_of(options.device).tunes_kernels &&
        !options.reference_kernels)
        tuning = read_tuning_file(tuning_file(command.tuning), !command.tuning.empty());
    if (tuning) options.tuning = &*tuning;

    const compiler::JobSpec job = compiler::load_job(spec, load_options(common), diagnostics);
    const plan::Training& training = job.training.training;
    if (command.every_fold && training.fold == 0 && training.k_folds > 0 &&
        !diagnostics.has_errors())
        throw FoldsWanted{training.k_folds};
    std::optional<plan::Plan> plan;
    try {
        plan = compiler::compile_job(job, options, diagnostics);
    } catch (const compiler::InternalError& error) {
        throw compiler::InternalError(describe_failure(job, options, error));
    }
    settle_warnings(common, diagnostics);
    if (!plan || diagnostics.has_errors()) return std::nullopt;
    refuse_unseen(emit, *plan);
    plan->generator = "dtnnc " DTNN_VERSION;
    return plan;
}

namespace {
constexpr std::size_t kBeginning = 64;  ///< bytes by which a plan is told from a spec
}  // namespace

bool is_plan(const std::string& path) {
    if (is_standard_input(path))
        return plan::looks_like_plan(std::string_view(standard_input()).substr(0, kBeginning));
    if (path.ends_with(".json")) return true;
    const InputFile file(path);
    if (file.fault()) return false;
    char start[kBeginning];
    const std::size_t count = std::min(sizeof start, std::size_t(file.size()));
    return !file.read(0, {start, count}) && plan::looks_like_plan({start, count});
}

plan::Plan load_plan(const std::string& path) {
    std::string text;
    if (is_standard_input(path)) {
        text = standard_input();
    } else if (const ReadFault fault = read_input(path, kMostPlanBytes, "a plan", text)) {
        throw PlanError(fmt::format("cannot read {}: {}{}{}", path, fault.reason(),
                                    fault.remedy.empty() ? "" : "\nhelp: ", fault.remedy));
    }
    plan::ReadResult result = plan::read_plan(text);
    if (!result.plan)
        throw PlanError(
            fmt::format("{}: {}{}", path, result.error,
                        plan::looks_like_plan(text)
                            ? ""
                            : "\nhelp: `dtnnc compile SPEC -o PLAN` makes one of a job"));
    if (std::vector<std::string> findings = plan::audit(*result.plan); !findings.empty())
        throw PlanError(fmt::format("{}: the plan is not sound: {} ({})", path, findings.front(),
                                    count_text(std::int64_t(findings.size()), "finding")));
    return std::move(*result.plan);
}

std::optional<plan::Plan> named_plan(const std::string& spec_or_plan, const CompileCommand& command,
                                     const CommonOptions& common,
                                     compiler::Diagnostics& diagnostics) {
    if (!is_plan(spec_or_plan)) return compile_spec(spec_or_plan, command, common, diagnostics);
    refuse_spec_options(common, spec_or_plan);
    return load_plan(spec_or_plan);
}

plan::SweepIndex read_sweep(const std::string& folder) {
    const std::string path = fmt::format("{}/{}", folder, plan::kSweepIndex);
    std::string text, error;
    if (const ReadFault fault = read_input(path, kMostSmallFileBytes, "a sweep's index", text))
        throw PlanError(
            fmt::format("cannot read {}: {}\nhelp: name a plan, or the folder that dtnnc compile "
                        "--sweep has written",
                        path, fault.reason()));
    plan::SweepIndex index = plan::read_sweep_index(text, error);
    if (!error.empty()) throw PlanError(fmt::format("{}: {}", path, error));
    return index;
}

}  // namespace dtnn::tools
