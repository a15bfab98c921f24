#include "plan/diff/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "compiler/frontend/read/resolve_spec.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {

namespace {

constexpr int kTrouble = 2;

struct DiffArguments {
    std::string a, b;
    std::string page;  ///< of the runs of a folder; empty: none
    bool summary = false;
    bool quiet = false;
    bool data = true;  ///< datasets of other paths are read
    CommonOptions common;
};

// A spec is compiled for the machine of the plan it is compared with, so that only what the specs
// say can differ; a spec that names a machine or says how many threads it wants is taken at its
// word.
std::optional<plan::Plan> compile_like(const std::string& spec, const plan::Plan* other,
                                       const CommonOptions& options) {
    CompileCommand compile;
    if (other) compile.options = compiler::options_beside(*other);
    compiler::Diagnostics diagnostics;
    std::optional<plan::Plan> plan = compile_spec(spec, compile, options, diagnostics);
    if (!plan) {
        // Differences may be wanted as JSON; what keeps them from being found is for people.
        CommonOptions as_text = options;
        as_text.format = Format::text;
        print_diagnostics(diagnostics, as_text);
        return plan;
    }
    // A plan has the layers that they make; only a spec can say that they were what was chosen.
    for (plan::ResolvedValue& value : compiler::model_parameters(spec, load_options(options)))
        plan->values.push_back(std::move(value));
    return plan;
}

/// Settles what only the samples can: see RuntimeLibrary::settle_samples.
void read_samples(const plan::Plan& a, const plan::Plan& b, const DiffArguments& given,
                  std::vector<plan::Change>& changes) {
    const auto unread = [](plan::Change& change) {
        return change.meaning == plan::Meaning::unread;
    };
    if (std::none_of(changes.begin(), changes.end(), unread)) return;
    try {
        runtime_library().settle_samples(a, b, given.a, given.b, changes);
    } catch (const NoRuntimeLibrary& error) {
        for (plan::Change& change : changes)
            if (unread(change))
                change.reason = fmt::format("the datasets cannot be read here: {}", error.what());
    }
}

int diff(const DiffArguments& given) {
    const std::string &a = given.a, &b = given.b;
    const CommonOptions& options = given.common;
    if (is_plan(a) && is_plan(b)) {
        if (!options.settings.empty()) throw UsageError("--set changes specs; these are two plans");
        refuse_spec_options(options, a);
    }
    std::optional<plan::Plan> first, second;
    try {
        if (is_plan(a)) first = load_plan(a);
        if (is_plan(b)) second = load_plan(b);
    } catch (const PlanError& error) {
        write_stderr(fmt::format("dtnnc: {}\n", error.what()));
        return kTrouble;
    }
    if (!first) first = compile_like(a, second ? &*second : nullptr, options);
    if (!first) return kTrouble;
    if (!second) second = compile_like(b, &*first, options);
    if (!second) return kTrouble;
    // The machine that only the second names is no reason for the first to be compiled for another.
    if (!is_plan(a) && !is_plan(b) && first->machine.name.empty() && !second->machine.name.empty())
        first = compile_like(a, &*second, options);
    if (!first) return kTrouble;
    std::vector<plan::Change> changes = plan::diff(*first, *second);
    if (given.data) read_samples(*first, *second, given, changes);
    if (given.quiet) return changes.empty() ? 0 : 1;
    if (options.format == Format::json)
        write_stdout(plan::diff_json(changes, given.summary));
    else
        write_stdout_bytes(
            plan::diff_text(changes, a, b, {given.summary, use_color(options.color, stdout)}));
    return changes.empty() ? 0 : 1;
}

/// The runs of a folder beside each other: what their plans differ in, and what came of that.
int diff_runs(const DiffArguments& given) {
    const CommonOptions& options = given.common;
    refuse_spec_options(options, given.a);
    return runtime_library().compare_runs({given.a, given.page, given.quiet, options.format},
                                          kTrouble);
}

/// The plan of a run, where the folder of a run is named.
std::string plan_of(const std::string& path) {
    std::error_code ignored;
    const std::string plan = path + "/plan.json";
    return std::filesystem::exists(plan, ignored) ? plan : path;
}

std::function<int()> declare_diff(OptionList& list) {
    auto given = std::make_shared<DiffArguments>();
    list.argument("A", given->a,
                  "A spec, a plan or the folder of a run; alone: the folder of a sweep, or of "
                  "runs, which are compared with each other",
                  true, "SPEC|PLAN|FOLDER");
    list.argument("B", given->b, "A spec, a plan or the folder of a run", false, "SPEC|PLAN|RUN");
    list.text(
        "--page", given->page,
        "Of the runs of a folder: also writes a page for a browser, with curves, to this file",
        {.value = "FILE"});
    list.flag("--summary", given->summary, "Prints the headline and the counts only");
    list.flag("-q,--quiet", given->quiet, "Prints no difference: the exit code tells");
    list.flag("!--no-data", given->data,
              "Does not read datasets whose paths differ to see whether the samples do");
    declare_common(list, given->common, {Format::text, Format::json, Format::csv});
    return [given] {
        std::error_code ignored;
        if (given->b.empty() && std::filesystem::is_directory(given->a, ignored))
            return diff_runs(*given);
        if (given->b.empty())
            throw UsageError("B is missing: diff compares two, or the runs of one folder");
        if (!given->page.empty() || given->common.format == Format::csv)
            throw UsageError("--page and --format csv are for the runs of a folder");
        given->a = plan_of(given->a);
        given->b = plan_of(given->b);
        return diff(*given);
    };
}

const RegisteredCommand kDiffCommand(
    {.name = "diff",
     .doc = "Compares two jobs by what their difference means",
     .place = 50,
     .declare = declare_diff,
     .purpose = Purpose::compare,
     .exits = {{ExitCode::done, "they are the same"},
               {ExitCode::failed, "they are different"},
               {ExitCode::usage, "trouble: a side cannot be read, or the difference not be told"}},
     .examples = {{"dtnnc diff plan.json other.json",
                   "what changed, and whether it changes the mathematics"},
                  {"dtnnc diff job.yaml plan.json", "whether the plan is still the job's"},
                  {"dtnnc diff job.yaml plan.json --summary", "the headline and the counts"},
                  {"dtnnc diff sw --page sw.html", "the runs of a sweep, with their best values"}},
     .failure = kTrouble});

}  // namespace

}  // namespace dtnn::tools
