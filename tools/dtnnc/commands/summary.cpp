#include "plan/summary/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "compiler/support/diagnostics.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/sweep/sweep_commands.hpp"

namespace dtnn::tools {

namespace {

/// Beyond the common options, whose format may also be table (the same as text), markdown or csv.
struct SummaryCommand {
    std::vector<std::string> columns;  ///< empty: the usual ones
    std::vector<std::string> with;     ///< in addition
    int depth = 0;                     ///< of blocks; 0: every layer
};

std::vector<std::string> known_columns() {
    std::vector<std::string> names;
    for (const plan::SummaryColumn& column : plan::summary_columns())
        names.emplace_back(column.name);
    return names;
}

std::string column_names() {
    return fmt::format("{}", fmt::join(known_columns(), ", "));
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
    if (options.format == Format::json) result.form = plan::SummaryForm::json;
    if (options.format == Format::csv) result.form = plan::SummaryForm::csv;
    if (options.format == Format::markdown) result.form = plan::SummaryForm::markdown;
    auto add = [&](const std::string& name) {
        if (std::find(result.columns.begin(), result.columns.end(), name) == result.columns.end())
            result.columns.push_back(name);
    };
    for (const std::string& name : command.columns)
        add(checked_column(name));
    for (const std::string& name : command.with)
        result.more.push_back(checked_column(name));
    result.chosen.assign(command.columns.begin(), command.columns.end());
    result.chosen.insert(result.chosen.end(), command.with.begin(), command.with.end());
    return result;
}

int summary(const std::string& spec_or_plan, const SummaryCommand& command,
            const CommonOptions& options) {
    const plan::SummaryOptions summary_options = checked_options(command, options);
    compiler::Diagnostics diagnostics;
    const std::optional<plan::Plan> plan = named_plan(spec_or_plan, {}, options, diagnostics);
    // Warnings must not stand in the middle of JSON output.
    if (!plan || options.format != Format::json) {
        const int exit_code = print_diagnostics(diagnostics, options);
        if (!plan) return exit_code;
    }
    write_stdout(plan::summary(*plan, summary_options));
    return 0;
}

struct SummaryArguments {
    std::string source;
    std::vector<std::string> sweeps;
    SummaryCommand command;
    CommonOptions common;
};

std::function<int()> declare_summary(OptionList& list) {
    auto given = std::make_shared<SummaryArguments>();
    SummaryCommand& command = given->command;
    list.argument("SPEC|PLAN", given->source, "A job, a model or a plan");
    declare_common(list, given->common,
                   {Format::text, Format::table, Format::markdown, Format::csv, Format::json});
    list.words("--columns", command.columns,
               "Columns to show, in that order, with commas: " + column_names(),
               {.value = "COLUMNS", .offers = known_columns()});
    list.words("--with", command.with, "Columns to show after the usual ones",
               {.value = "COLUMNS", .offers = known_columns()});
    list.number("--depth", command.depth,
                "Shows what is nested in more than that many blocks as one row", {.lowest = 1});
    declare_sweep(list, given->sweeps);
    return [given] {
        if (!given->sweeps.empty())
            return summary_sweep(given->source, given->sweeps, given->common);
        return summary(given->source, given->command, given->common);
    };
}

const RegisteredCommand kSummaryCommand(
    {.name = "summary",
     .doc = "Prints the layer table, parameters, memory and work",
     .place = 30,
     .declare = declare_summary,
     .purpose = Purpose::look,
     .exits = {{ExitCode::failed},
               {ExitCode::invalid_spec},
               {ExitCode::over_budget},
               {ExitCode::mismatch}},
     .examples = {{"dtnnc summary job.yaml", "a row for each layer, and totals"},
                  {"dtnnc summary resnet50 --depth 1 --with flops",
                   "a row for each block of a model on the spec path, with its work"},
                  {"dtnnc summary plan.json --format csv", "for a spreadsheet"}}});

}  // namespace

}  // namespace dtnn::tools
