#include "plan/summary/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/diagnostics.hpp"
#include "tools/dtnnc/commands.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {

namespace {

std::vector<std::string> known_columns() {
    std::vector<std::string> names;
    for (const plan::SummaryColumn& column : plan::summary_columns())
        names.emplace_back(column.name);
    return names;
}

// Columns may be written as people say them: output-shape.
std::string checked_column(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    if (plan::is_summary_column(name)) return name;
    std::string text = fmt::format("no column of the summary is named `{}`", name);
    if (auto near = compiler::did_you_mean(name, known_columns()))
        text += fmt::format("\nhelp: did you mean `{}`?", *near);
    else
        text += fmt::format("\nhelp: the columns are {}", column_names());
    throw UsageError(text);
}

plan::SummaryOptions checked_options(const SummaryCommand& command, const CommonOptions& options) {
    plan::SummaryOptions result;
    result.width = output_width();
    result.depth = command.depth;
    if (options.format == "json") result.form = plan::SummaryForm::json;
    if (options.format == "csv") result.form = plan::SummaryForm::csv;
    if (options.format == "markdown") result.form = plan::SummaryForm::markdown;
    auto add = [&](const std::string& name) {
        if (std::find(result.columns.begin(), result.columns.end(), name) == result.columns.end())
            result.columns.push_back(name);
    };
    for (const std::string& name : command.columns)
        add(checked_column(name));
    if (!command.with.empty() && command.columns.empty())
        for (const plan::SummaryColumn& column : plan::summary_columns())
            if (column.usual) add(std::string(column.name));
    for (const std::string& name : command.with)
        add(checked_column(name));
    result.chosen.assign(command.columns.begin(), command.columns.end());
    result.chosen.insert(result.chosen.end(), command.with.begin(), command.with.end());
    return result;
}

}  // namespace

std::string column_names() {
    return fmt::format("{}", fmt::join(known_columns(), ", "));
}

int summary(const std::string& spec_or_plan, const SummaryCommand& command,
            const CommonOptions& options) {
    const plan::SummaryOptions summary_options = checked_options(command, options);
    std::optional<plan::Plan> plan;
    if (is_plan(spec_or_plan)) {
        refuse_spec_options(options, spec_or_plan);
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
    write_stdout(plan::summary(*plan, summary_options));
    return 0;
}

}  // namespace dtnn::tools
