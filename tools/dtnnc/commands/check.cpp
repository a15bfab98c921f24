#include <fmt/format.h>

#include <memory>

#include "compiler/frontend/specs.hpp"
#include "compiler/support/diagnostics.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/sweep/sweep_commands.hpp"

namespace dtnn::tools {

namespace {

int check(const std::vector<std::string>& specs, const CommonOptions& options) {
    const compiler::LoadOptions load = load_options(options);
    compiler::Diagnostics all;
    for (const std::string& spec : specs) {
        // Every spec is judged by itself; what two of them share and break is said once.
        compiler::Diagnostics own;
        check_spec(spec, load, own);
        all.merge(own);
    }
    return print_diagnostics(all, options);
}

struct CheckArguments {
    std::vector<std::string> specs, sweeps;
    CommonOptions common;
};

std::function<int()> declare_check(OptionList& list) {
    auto given = std::make_shared<CheckArguments>();
    list.arguments("SPEC", given->specs, "A spec of any kind: a file, or a name on the spec path");
    declare_common(list, given->common);
    declare_sweep(list, given->sweeps);
    return [given] {
        if (!given->sweeps.empty()) return check_sweep(given->specs, given->sweeps, given->common);
        return check(given->specs, given->common);
    };
}

const RegisteredCommand kCheckCommand(
    {.name = "check",
     .doc = "Finds every mistake in specs",
     .place = 10,
     .declare = declare_check,
     .purpose = Purpose::prepare,
     .exits = {{ExitCode::failed}, {ExitCode::invalid_spec}, {ExitCode::mismatch}},
     .examples = {{"dtnnc check job.yaml",
                   "every mistake in the job and in what it "
                   "names, with file, line and column"},
                  {"dtnnc check --format json - < job.yaml",
                   "as an editor asks for what is not saved yet"}}});

}  // namespace

}  // namespace dtnn::tools
