// dtnnc: reads the command line and calls the commands; see commands.hpp.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "compiler/support/check.hpp"
#include "compiler/support/diagnostics.hpp"
#include "tools/dtnnc/calibrate.hpp"
#include "tools/dtnnc/commands.hpp"
#include "tools/dtnnc/forecast.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace {

using namespace dtnn::tools;

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kPlanMismatch = 5, kInternal = 70 };

// Behind --spec-path: DTNN_SPEC_PATH, then the specs that came with the program, wherever it was
// installed, or those of the source when it runs from a build folder.
void complete_spec_path(std::vector<std::string>& path) {
    namespace fs = std::filesystem;
    if (const char* variable = std::getenv("DTNN_SPEC_PATH")) {
        std::string_view rest = variable;
        while (!rest.empty()) {
            std::size_t colon = std::min(rest.find(':'), rest.size());
            if (colon > 0) path.emplace_back(rest.substr(0, colon));
            rest.remove_prefix(std::min(colon + 1, rest.size()));
        }
    }
    std::error_code error;
    fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    if (error) return;
    for (const char* specs : {"../share/dtnn/specs", "../../../specs"})
        if (fs::path found = (folder / specs).lexically_normal(); fs::is_directory(found, error))
            path.push_back(found.string());
}

// CLI11's own checks of one bound print the largest double as the other.
CLI::Validator at_least(int lowest) {
    const auto check = [lowest](const std::string& text) {
        int value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= lowest) return std::string();
        return fmt::format("{} is not an integer of at least {}", text, lowest);
    };
    return {check, fmt::format("at least {}", lowest), "at_least"};
}

void add_common(CLI::App& command, CommonOptions& options, bool specs,
                const std::vector<std::string>& formats = {"text", "json"}) {
    command
        .add_option("--format", options.format,
                    fmt::format("Form of what is printed: {}", fmt::join(formats, ", ")))
        ->check(CLI::IsMember(formats));
    command.add_option("--color", options.color, "auto, always or never; auto obeys NO_COLOR")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    if (!specs) return;
    command
        .add_option("--max-errors", options.max_errors,
                    "Most errors that are shown as text; 0 shows all")
        ->check(at_least(0))
        ->capture_default_str();
    command
        .add_option("--set", options.settings,
                    "Sets a field: training.batch_size=128; may be given again")
        ->allow_extra_args(false)
        ->take_all();
    command
        .add_option("--ranks", options.ranks,
                    "Ranks that the figures are for; a job that does not say how many share its "
                    "data has just so many")
        ->check(CLI::Range(1, 1'000'000));
    command
        .add_option("--spec-path", options.spec_path,
                    "Folder with specs, searched before DTNN_SPEC_PATH and the installed ones")
        ->allow_extra_args(false)
        ->take_all();
}

void add_sweep(CLI::App& command, std::vector<std::string>& sweeps) {
    command
        .add_option("--sweep", sweeps,
                    "Sets a field to several values in turn: training.batch_size=32,64; given "
                    "again, every combination")
        ->allow_extra_args(false)
        ->take_all();
}

void add_summary(CLI::App& command, SummaryCommand& summary) {
    const std::string columns = column_names();
    command
        .add_option("--columns", summary.columns,
                    "Columns to show, in that order, with commas: " + columns)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->take_all();
    command.add_option("--with", summary.with, "Columns to show after the usual ones")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->take_all();
    command
        .add_option("--depth", summary.depth,
                    "Shows what is nested in more than that many blocks as one row")
        ->check(at_least(1));
}

void add_graph(CLI::App& command, GraphCommand& graph) {
    command
        .add_option(
            "-o,--output", graph.output,
            "File to draw, by its ending svg, png, pdf or dot; - for dot on standard output")
        ->required();
    command
        .add_option("--depth", graph.depth,
                    "Draws what is nested in more than that many blocks as one box")
        ->check(at_least(1));
    command.add_flag("--fused", graph.fused, "Draws the steps after fusion instead of layers");
    command.add_option("--program", graph.program,
                       "Whose steps: train or evaluate, or another program of the plan");
}

void add_compile(CLI::App& command, CompileCommand& compile, std::string& output) {
    command.add_option(
        "-o,--output", output,
        "File of the plan, - for standard output; default NAME.plan.json; with --sweep "
        "the folder of the plans, default NAME-sweep");
    command.add_option("--target", compile.options.device, "Device: cpu");
    command.add_option("--isa", compile.options.isa,
                       "Instruction set: baseline, avx2 or avx512; default this machine's best");
    command
        .add_option("--threads", compile.options.threads,
                    "Most threads of a run; default the job's, else this machine's cores")
        ->check(CLI::Range(1, 4096));
    command.add_option("--memory-budget", compile.memory_budget,
                       "Most memory per rank, as in 4GiB; exit code 4 when the plan needs more");
    command.add_option("--disable", compile.options.disabled_passes, "Leaves an optional pass out")
        ->allow_extra_args(false)
        ->take_all();
    command.add_flag("--reference-kernels", compile.options.reference_kernels,
                     "Chooses the reference kernels only");
    command
        .add_option("--emit", compile.emit,
                    "Prints the graph after a PHASE, or of one program: PHASE:PROGRAM")
        ->allow_extra_args(false)
        ->take_all();
}

void add_data(CLI::App& command, DataCommand& data) {
    command
        .add_option("--samples", data.samples,
                    "Samples of each split to look at, drawn at random; 0 looks at all")
        ->check(at_least(0))
        ->capture_default_str();
    command.add_option("--contact-sheet", data.contact_sheet,
                       "PNG file to draw: samples as evaluation sees them, then as the first "
                       "epochs do");
    command.add_flag("!--no-step", data.step, "Does not measure the job's training step");
}

void add_slurm(CLI::App& command, SlurmCommand& slurm) {
    command.add_option("--ranks", slurm.ranks, "Ranks, for a plan that runs on any number")
        ->check(CLI::Range(1, 1'000'000));
    command
        .add_option("--nodes", slurm.nodes,
                    "Nodes that the ranks are spread over evenly; default Slurm's choice")
        ->check(CLI::Range(1, 1'000'000));
    command.add_option("--time", slurm.time, "Time limit, as in 2:00:00");
    command.add_option("--partition", slurm.partition, "Partition");
    command.add_option("--account", slurm.account, "Account");
    command.add_option("--run", slurm.run, "Folder of the run; default runs/NAME");
    command
        .add_option("--signal-before", slurm.signal_before,
                    "Seconds before the time limit at which the run writes a checkpoint and stops")
        ->check(CLI::Range(10, 65535))
        ->capture_default_str();
    command
        .add_option("--mpi", slurm.mpi,
                    "How srun wires the ranks up; empty leaves it to Slurm's configuration")
        ->capture_default_str();
    command.add_flag("--requeue,!--no-requeue", slurm.requeue,
                     "Whether the job goes back into the queue after such a stop; default it does");
}

// CLI11 names an unknown first word an unexpected argument; the commands are a closed set, so a
// near one is offered.
bool unknown_command(int argc, char** argv, const CLI::App& app) {
    if (argc < 2 || argv[1][0] == '-') return false;
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return false;
    fmt::print(stderr, "dtnnc: no command is named `{}`\n", argv[1]);
    if (auto near = dtnn::compiler::did_you_mean(argv[1], names))
        fmt::print(stderr, "help: did you mean `{}`?\n", *near);
    else
        fmt::print(stderr, "help: there are {}\n", fmt::join(names, ", "));
    return true;
}

int run(int argc, char** argv) {
    CLI::App app{"Compiles specs of training jobs to execution plans.", "dtnnc"};
    app.set_version_flag("--version", "dtnnc " DTNN_VERSION);
    app.require_subcommand(1);
    CommonOptions options;
    CompileCommand compile_options;
    SummaryCommand summary_options;
    GraphCommand graph_options;
    std::vector<std::string> specs, sweeps;
    std::string first, second, output;

    CLI::App* check_command = app.add_subcommand("check", "Finds every mistake in specs");
    check_command->add_option("SPEC", specs, "Files to check")->required();
    add_common(*check_command, options, true);
    add_sweep(*check_command, sweeps);

    CLI::App* compile_command = app.add_subcommand("compile", "Writes the plan of a job");
    compile_command->add_option("SPEC", first, "The job, or a model alone")->required();
    add_common(*compile_command, options, true);
    add_compile(*compile_command, compile_options, output);
    add_sweep(*compile_command, sweeps);

    CLI::App* summary_command =
        app.add_subcommand("summary", "Prints the layer table, parameters, memory and work");
    summary_command->add_option("SPEC|PLAN", first, "A job, a model or a plan")->required();
    add_common(*summary_command, options, true, {"text", "table", "markdown", "csv", "json"});
    add_summary(*summary_command, summary_options);
    add_sweep(*summary_command, sweeps);

    CLI::App* graph_command = app.add_subcommand("graph", "Draws the network");
    graph_command->add_option("SPEC|PLAN", first, "A job, a model or a plan")->required();
    add_common(*graph_command, options, true, {"dot", "svg", "png", "pdf"});
    add_graph(*graph_command, graph_options);

    CLI::App* diff_command = app.add_subcommand(
        "diff", "Compares two jobs by what their difference means: 0 same, 1 different, 2 trouble");
    diff_command->add_option("A", first, "A spec or a plan")->required();
    diff_command->add_option("B", second, "A spec or a plan")->required();
    bool headline = false;
    diff_command->add_flag("--summary", headline, "Prints the headline and the counts only");
    add_common(*diff_command, options, true);

    CLI::App* resolve_command = app.add_subcommand(
        "resolve", "Prints a spec with everything said, and where each value comes from");
    resolve_command->add_option("SPEC", first, "A spec of any kind")->required();
    resolve_command->add_option("-o,--output", output,
                                "File of the document; default standard output");
    std::string origins = "comment";
    resolve_command
        ->add_option("--origins", origins, "comment: beside each value; none: only the document")
        ->check(CLI::IsMember({"comment", "none"}));
    add_common(*resolve_command, options, true);

    CLI::App* settings_command =
        app.add_subcommand("settings", "Lists every setting of a job outside its layers");
    settings_command->add_option("SPEC|PLAN", first, "A job, another spec or a plan")->required();
    add_common(*settings_command, options, true, {"text", "markdown", "csv", "json"});

    CLI::App* data_command = app.add_subcommand(
        "data", "Looks at a dataset: counts, balance, pixels, and whether it comes fast enough");
    DataCommand data_options;
    data_command->add_option("SPEC|PLAN", first, "A job, a dataset or a plan")->required();
    add_common(*data_command, options, true);
    add_data(*data_command, data_options);

    CLI::App* slurm_command =
        app.add_subcommand("slurm", "Writes the Slurm batch script of a plan");
    SlurmCommand slurm_options;
    slurm_command->add_option("PLAN", first, "A plan, written by dtnnc compile")->required();
    slurm_command->add_option("-o,--output", output, "File of the script; default standard output");
    add_slurm(*slurm_command, slurm_options);

    CLI::App* forecast_command = app.add_subcommand(
        "forecast", "Foretells what a job takes on a machine, on any number of ranks");
    ForecastCommand forecast_options;
    forecast_command->add_option("SPEC|PLAN", first, "A job, a model or a plan")->required();
    add_forecast(*forecast_command, forecast_options, options);

    CLI::App* calibrate_command = app.add_subcommand(
        "calibrate", "Measures this machine and writes its spec, for forecasts and plans");
    CalibrateCommand calibrate_options;
    add_calibrate(*calibrate_command, calibrate_options);

    CLI::App* explain_command = app.add_subcommand(
        "explain", "Explains an operator, a field, a word of the language, a diagnostic, a kernel");
    explain_command->add_option("WORD", first, "What to explain; without it, the words there are");
    add_common(*explain_command, options, false);

    CLI::App* reference_command = app.add_subcommand(
        "reference", "Writes the reference: a page of Markdown per kind and per operator");
    reference_command->add_option("-o,--output", output, "Folder of the pages")->required();

    CLI::App* schema_command =
        app.add_subcommand("schema", "Writes JSON Schemas of the specs, for editors");
    std::string kind;
    schema_command->add_option("-o,--output", output,
                               "Folder for a file of each kind and one of all; - or nothing for "
                               "the one of all on standard output");
    schema_command
        ->add_option("--kind", kind, "Of one kind: job, model, dataset, training or machine")
        ->check(CLI::IsMember({"job", "model", "dataset", "training", "machine"}));

    if (unknown_command(argc, argv, app)) return kUsage;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? kDone : kUsage;
    }
    complete_spec_path(options.spec_path);
    if (!sweeps.empty()) {
        if (check_command->parsed()) return check_sweep(specs, sweeps, options);
        if (summary_command->parsed()) return summary_sweep(first, sweeps, options);
        return compile_sweep(first, output, sweeps, compile_options, options);
    }
    if (check_command->parsed()) return check(specs, options);
    if (compile_command->parsed()) return compile(first, output, compile_options, options);
    if (summary_command->parsed()) return summary(first, summary_options, options);
    if (graph_command->parsed()) return graph(first, graph_options, options);
    if (diff_command->parsed()) return diff(first, second, headline, options);
    if (resolve_command->parsed()) return resolve(first, output, origins, options);
    if (settings_command->parsed()) return settings(first, options);
    if (data_command->parsed()) return data(first, data_options, options);
    if (forecast_command->parsed()) return forecast(first, forecast_options, options);
    if (calibrate_command->parsed()) return calibrate(calibrate_options);
    if (slurm_command->parsed()) return slurm(first, output, slurm_options);
    if (schema_command->parsed()) return schema(output, kind);
    if (reference_command->parsed()) return reference(output);
    return explain(first, options);
}

int report(int code, const char* what) {
    fmt::print(stderr, "dtnnc: {}\n", what);
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    // A reader that went away (`| head`) is an error of writing like any other, only not worth a
    // word.
    std::signal(SIGPIPE, SIG_IGN);
    // `diff` says with 1 that there is a difference, as diff(1) does.
    const bool compares = argc > 1 && std::string_view(argv[1]) == "diff";
    const int failed = compares ? kUsage : kFailed;
    try {
        int code = run(argc, argv);
        flush_stdout();
        return code;
    } catch (const UsageError& error) {
        return report(kUsage, error.what());
    } catch (const PlanError& error) {
        return report(kPlanMismatch, error.what());
    } catch (const ClosedOutput&) {
        return failed;
    } catch (const OutputError& error) {
        return report(failed, error.what());
    } catch (const std::bad_alloc&) {
        return report(failed, "not enough memory");
    } catch (const std::system_error& error) {
        // What fmt::print throws for a stream that cannot be written.
        if (error.code() == std::errc::broken_pipe) return failed;
        return report(failed, error.what());
    } catch (const dtnn::compiler::InternalError& error) {
        std::string text = error.what();
        if (text.find("please report this") == std::string::npos) text += "\n  please report this";
        return report(kInternal, text.c_str());
    } catch (const std::exception& error) {
        return report(
            kInternal,
            fmt::format("internal error: {}\n  please report this", error.what()).c_str());
    }
}
