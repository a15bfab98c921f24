#include "plan/summary.hpp"

#include <fmt/format.h>

#include "tools/dtnnc/commands.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {

int summary(const std::string& spec_or_plan, const CommonOptions& options) {
    std::optional<plan::Plan> plan;
    if (is_plan(spec_or_plan)) {
        if (!options.settings.empty())
            throw UsageError(fmt::format("--set changes specs; {} is a plan", spec_or_plan));
        plan = load_plan(spec_or_plan);
    } else {
        compiler::Diagnostics diagnostics;
        plan = compile_spec(spec_or_plan, {}, options, diagnostics);
        // Warnings must not stand in the middle of JSON output.
        if (!plan || options.format != "json") {
            int exit_code = print_diagnostics(diagnostics, options);
            if (!plan) return exit_code;
        }
    }
    write_stdout(options.format == "json" ? plan::summary_json(*plan)
                                          : plan::summary_text(*plan, output_width()));
    return 0;
}

}  // namespace dtnn::tools
