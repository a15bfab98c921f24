#include "plan/diff/diff.hpp"

#include <fmt/format.h>

#include <memory>

#include "compiler/frontend/read/resolve_spec.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/same_samples.hpp"

namespace dtnn::tools {

namespace {

constexpr int kTrouble = 2;

struct DiffArguments {
    std::string a, b;
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
        as_text.format = "text";
        print_diagnostics(diagnostics, as_text);
        return plan;
    }
    // A plan has the layers that they make; only a spec can say that they were what was chosen.
    for (plan::ResolvedValue& value : compiler::model_parameters(spec, load_options(options)))
        plan->values.push_back(std::move(value));
    return plan;
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
    if (given.data) settle_samples(*first, *second, a, b, changes);
    if (given.quiet) return changes.empty() ? 0 : 1;
    if (options.format == "json")
        write_stdout(plan::diff_json(changes, given.summary));
    else
        write_stdout_bytes(
            plan::diff_text(changes, a, b, {given.summary, use_color(options.color, stdout)}));
    return changes.empty() ? 0 : 1;
}

std::function<int()> declare_diff(OptionList& list) {
    auto given = std::make_shared<DiffArguments>();
    list.argument("A", given->a, "A spec or a plan", true, "SPEC|PLAN");
    list.argument("B", given->b, "A spec or a plan", true, "SPEC|PLAN");
    list.flag("--summary", given->summary, "Prints the headline and the counts only");
    list.flag("-q,--quiet", given->quiet, "Prints no difference: the exit code tells");
    list.flag("!--no-data", given->data,
              "Does not read datasets whose paths differ to see whether the samples do");
    declare_common(list, given->common);
    return [given] { return diff(*given); };
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
                  {"dtnnc diff job.yaml plan.json --summary", "the headline and the counts"}},
     .failure = kTrouble});

}  // namespace

}  // namespace dtnn::tools
