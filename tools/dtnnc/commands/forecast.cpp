#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "base/json_text.hpp"
#include "base/quantity_text.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "compiler/frontend/load_machine.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/support/diagnostics.hpp"
#include "plan/forecast/forecast_rows.hpp"
#include "plan/forecast/rates.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/draw/forecast_svg.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {
namespace {

struct ForecastCommand {
    std::string machine;     ///< a file, or a name on the spec path; empty: the job's
    std::string ranks;       ///< "1,2,4,...,64"; empty: powers of two that the machine has
    int threads = 0;         ///< of a rank; 0: the plan's
    int ranks_per_node = 0;  ///< 0: as many as have cores
    plan::Scaling scaling = plan::Scaling::weak;
    std::string svg;  ///< a file to draw; empty: none
};

using plan::kMostRanks;
constexpr std::size_t kMostRows = 1000;

/// The plan of a spec with the workspaces of as many threads as are asked for.
std::optional<plan::Plan> plan_of(const std::string& source, int threads,
                                  const CommonOptions& options,
                                  compiler::Diagnostics& diagnostics) {
    CompileCommand compile;
    compile.options.threads = threads;
    return named_plan(source, compile, options, diagnostics);
}

std::optional<plan::Machine> machine_of(const plan::Plan& plan, const ForecastCommand& command,
                                        const CommonOptions& options,
                                        compiler::Diagnostics& diagnostics) {
    if (!command.machine.empty()) {
        compiler::LoadOptions load;
        load.spec_path = options.spec_path;
        auto spec = compiler::load_machine(command.machine, load, diagnostics);
        if (!spec) return std::nullopt;
        return spec->machine;
    }
    if (plan.machine.name.empty())
        throw UsageError(
            "the job names no machine\nhelp: name one with --machine; `dtnnc calibrate -o "
            "machine.yaml` writes one of this machine");
    return plan.machine;
}

std::string batch_text(double batch) {
    return batch == double(std::int64_t(batch)) ? fmt::format("{:.0f}", batch)
                                                : fmt::format("{:.1f}", batch);
}

/// "1.5 ms +-12 %"
std::string step_text(const plan::Forecast& row) {
    std::string text = estimated_time_text(row.step());
    if (row.error > 0) text += fmt::format(" ±{:.0f} %", 100 * row.error / row.step());
    return text;
}

Table rows_table(const std::vector<plan::Forecast>& rows) {
    Table table;
    for (const char* name : {"ranks", "nodes", "batch", "step", "compute", "exchange", "input",
                             "samples/s", "efficiency", "sent", "memory", "epoch", "job"})
        table.columns.push_back({name, true});
    for (const plan::Forecast& row : rows) {
        if (!row.refused.empty()) continue;
        table.rows.push_back(
            {fmt::format("{}", row.ranks), fmt::format("{}", row.nodes), batch_text(row.batch),
             step_text(row), estimated_time_text(row.compute), estimated_time_text(row.exposed),
             estimated_time_text(row.input), fmt::format("{:.0f}", row.samples_per_second),
             fmt::format("{:.1f} %", 100 * row.efficiency),
             bytes_text(row.wire_bytes, BytesForm::in_tables),
             (row.memory_is_bound ? "< " : "") +
                 bytes_text(double(row.memory), BytesForm::in_tables),
             estimated_time_text(row.epoch_seconds), estimated_time_text(row.job_seconds)});
    }
    return table;
}

std::string title_of(const plan::Plan& plan, const plan::Machine& machine,
                     const ForecastCommand& command, int threads) {
    return fmt::format("{} on {}: {} scaling, {} a rank", plan.name, machine.name,
                       name_of(command.scaling), count_text(threads, "thread"));
}

std::string text_of(const std::vector<plan::Forecast>& rows, const std::string& title) {
    std::string text = title + "\n" + text_table(rows_table(rows), std::max(output_width(), 132));
    text +=
        "\nstep: of the training, with what of exchanges and input is not hidden; sent: by a rank "
        "in a step; memory: of a rank\n";
    if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.error > 0; }))
        text +=
            "±: what the machine's calibration missed by, in the mean, of what it had measured\n";
    std::vector<std::pair<std::string, std::string>> notes;  // what is noted of which ranks
    for (const plan::Forecast& row : rows) {
        for (const std::string& note : row.notes) {
            auto found = std::find_if(notes.begin(), notes.end(),
                                      [&](const auto& one) { return one.first == note; });
            if (found == notes.end())
                notes.emplace_back(note, fmt::format("{}", row.ranks));
            else
                found->second += fmt::format(", {}", row.ranks);
        }
        if (!row.refused.empty())
            text += fmt::format("note: {}\n", row.refused.substr(0, row.refused.find('\n')));
    }
    for (const auto& [note, ranks] : notes)
        text += fmt::format("note: {} ({} {})\n", note, ranks == "1" ? "rank" : "ranks", ranks);
    return text;
}

/// "1,2,4,...,64": numbers of ranks; dots go on as the two numbers before them, by their quotient
/// where it is whole and else by their difference. Throws UsageError.
std::vector<int> parse_rank_list(const std::string& text) {
    const auto wrong = [&](const std::string& what) {
        return UsageError(
            fmt::format("--ranks {}: {}\nhelp: write numbers of ranks, as in 1,2,4 or 1,2,4,...,64",
                        text, what));
    };
    std::vector<int> ranks;
    bool dots = false;
    std::string_view rest = text;
    while (true) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        const std::string_view part = rest.substr(0, comma);
        if (part == "...") {
            if (ranks.size() < 2 || dots) throw wrong("dots go on from two numbers");
            dots = true;
        } else {
            int value = 0;
            const auto [end, error] =
                std::from_chars(part.data(), part.data() + part.size(), value);
            if (error != std::errc() || end != part.data() + part.size() || value < 1 ||
                value > kMostRanks)
                throw wrong(fmt::format("`{}` is no number from 1 to {}", part, kMostRanks));
            if (!ranks.empty() && value <= ranks.back())
                throw wrong(fmt::format("{} follows {}; they must grow", value, ranks.back()));
            if (dots) {
                const std::int64_t a = ranks[ranks.size() - 2], b = ranks.back();
                std::int64_t next = b;
                while ((next = b % a == 0 ? next * (b / a) : next + (b - a)) < value) {
                    ranks.push_back(int(next));
                    if (ranks.size() > kMostRows) break;
                }
                dots = false;
            }
            ranks.push_back(value);
        }
        if (ranks.size() > kMostRows) throw wrong(fmt::format("more than {} numbers", kMostRows));
        if (comma == rest.size()) break;
        rest.remove_prefix(comma + 1);
    }
    if (dots) throw wrong("dots need a number to end with");
    return ranks;
}

int forecast(const std::string& spec_or_plan, const ForecastCommand& command,
             const CommonOptions& options) {
    std::vector<int> ranks;
    if (!command.ranks.empty()) ranks = parse_rank_list(command.ranks);
    compiler::Diagnostics diagnostics;
    const std::optional<plan::Plan> plan =
        plan_of(spec_or_plan, command.threads, options, diagnostics);
    std::optional<plan::Machine> machine;
    if (plan) machine = machine_of(*plan, command, options, diagnostics);
    if (!machine || options.format != Format::json) {
        const int exit_code = print_diagnostics(diagnostics, options);
        if (!machine) return exit_code;
    }
    if (const auto missing = plan::missing_rates(*machine, plan->target))
        throw UsageError(*missing);
    const int threads = command.threads > 0 ? command.threads : plan->target.threads;
    if (ranks.empty()) ranks = plan::usual_ranks(*plan, *machine, threads);

    plan::ForecastRequest request;
    request.threads = threads;
    request.ranks_per_node = command.ranks_per_node;
    request.scaling = command.scaling;
    const std::vector<plan::Forecast> rows = plan::forecast_rows(*plan, *machine, ranks, request);
    const auto refused = [](const plan::Forecast& row) { return !row.refused.empty(); };
    if (std::all_of(rows.begin(), rows.end(), refused) ||
        (!plan->parallel.data && std::any_of(rows.begin(), rows.end(), refused)))
        throw PlanError(std::find_if(rows.begin(), rows.end(), refused)->refused);
    const std::string title = title_of(*plan, *machine, command, threads);
    if (!command.svg.empty()) {
        write_file(command.svg, forecast_svg(rows, title));
        tell_written(command.svg);
    }
    write_stdout(options.format == Format::json
                     ? plan::forecast_json(rows, *plan, *machine, command.scaling)
                     : text_of(rows, title));
    return 0;
}

struct ForecastArguments {
    std::string source;
    ForecastCommand command;
    CommonOptions common;
};

std::function<int()> declare_forecast(OptionList& list) {
    auto given = std::make_shared<ForecastArguments>();
    ForecastCommand& command = given->command;
    list.argument("SPEC|PLAN", given->source, "A job, a model or a plan");
    // Not all that commands on specs take: its --ranks are numbers to foretell, not what a spec is
    // compiled for.
    declare_format(list, given->common);
    declare_set(list, given->common);
    declare_spec_path(list, given->common);
    list.text("--machine", command.machine,
              "The machine: a spec's file or name; default the job's own", {.value = "SPEC"});
    list.text(
        "--ranks", command.ranks,
        "Numbers of ranks, as in 1,2,4,...,4096; default those that the machine has cores for",
        {.value = "LIST"});
    list.number("--threads", command.threads, "Threads of a rank; default the plan's",
                {.lowest = 1, .highest = kMostRanks});
    list.number("--ranks-per-node", command.ranks_per_node,
                "Default as many as a node has cores for", {.lowest = 1, .highest = kMostRanks});
    list.one_of("--scaling", command.scaling,
                "weak: every rank has the plan's batch; strong: all together have it",
                std::vector{plan::Scaling::weak, plan::Scaling::strong});
    list.text("--svg", command.svg, "File to draw the rows into", {.value = "FILE"});
    return [given] { return forecast(given->source, given->command, given->common); };
}

const RegisteredCommand kForecastCommand(
    {.name = "forecast",
     .doc = "Foretells what a job takes on a machine, on any number of ranks",
     .place = 100,
     .declare = declare_forecast,
     .purpose = Purpose::measure,
     .exits = {{ExitCode::failed},
               {ExitCode::invalid_spec},
               {ExitCode::over_budget},
               {ExitCode::mismatch}},
     .examples = {
         {"dtnnc forecast digits_ranks --machine cluster_100g --ranks 1,2,4,...,64",
          "time of a step, efficiency, memory and traffic, row by row"},
         {"dtnnc forecast plan.json --machine cluster_100g --scaling strong --svg scaling.svg",
          "the same batch on more ranks, drawn"}}});

}  // namespace

}  // namespace dtnn::tools
