// dtnnc slurm: the batch script of a plan, or of the plans of a sweep as an array.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/escape.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "compiler/frontend/read/quantity.hpp"
#include "compiler/frontend/specs.hpp"
#include "plan/rules/memory_need.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/sweep_index.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/slurm/slurm_script.hpp"

namespace dtnn::tools {
namespace {

namespace fs = std::filesystem;

/// Partitions and accounts stand in lines that Slurm reads by itself: only what names are made of.
void check_word(const char* option, const std::string& text) {
    const bool sound = std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.' || c == ',' || c == '@' || c == '+';
    });
    if (!sound || text.starts_with('-'))
        throw UsageError(fmt::format(
            "{} `{}`: names have letters, digits, `_`, `-`, `.`, `,`, `@` and `+`", option, text));
}

/// Features of nodes have operators beside names: "rack1&gpu", "[a*2|b]".
void check_constraint(const std::string& text) {
    const bool sound = std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return c > ' ' && c < 127 && std::strchr("#'\"`$\\", c) == nullptr;
    });
    if (!sound)
        throw UsageError(fmt::format(
            "--constraint {}: features of nodes have no blanks, quotes, `#`, `$` or `\\`",
            shell_quoted(text)));
}

/// Takes what the machine says where the option says nothing.
void take_from_machine(const plan::Machine& machine, SlurmCommand& command) {
    for (const auto& [name, into] : {std::pair<const char*, std::string*>{"setup", &command.setup},
                                     {"constraint", &command.constraint},
                                     {"qos", &command.qos}}) {
        const auto found = machine.slurm.find(name);
        if (!into->empty() || found == machine.slurm.end()) continue;
        if (const auto* text = std::get_if<std::string>(&found->second)) *into = *text;
    }
    check_word("--qos", command.qos);
    check_constraint(command.constraint);
}

/// Seconds of a time as Slurm takes it: MIN, MIN:SEC, H:MIN:SEC, D-H, D-H:MIN, D-H:MIN:SEC.
std::optional<std::int64_t> seconds_of(const std::string& text) {
    std::string_view rest = text;
    std::int64_t days = 0;
    const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
        int value = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
            value < 0 || value > 1'000'000)
            return std::nullopt;
        return value;
    };
    const std::size_t dash = rest.find('-');
    if (dash != std::string_view::npos) {
        const auto value = number(rest.substr(0, dash));
        if (!value) return std::nullopt;
        days = *value;
        rest.remove_prefix(dash + 1);
    }
    std::vector<std::int64_t> parts;
    for (bool more = true; more;) {
        const std::size_t colon = rest.find(':');
        const auto value = number(rest.substr(0, colon));
        if (!value || parts.size() == 3) return std::nullopt;
        parts.push_back(*value);
        more = colon != std::string_view::npos;
        if (more) rest.remove_prefix(colon + 1);
    }
    // Behind days the first part is hours; else one is minutes, two are minutes and seconds.
    const bool hours_first = dash != std::string_view::npos || parts.size() == 3;
    std::int64_t seconds = 0, weight = hours_first ? 3600 : 60;
    for (const std::int64_t part : parts) {
        seconds += part * weight;
        weight /= 60;
    }
    return days * 86400 + seconds;
}

void warn(const std::string& text, const std::string& help) {
    write_stderr(fmt::format("warning: {}\nhelp: {}\n", text, help));
}

/// Whether the job's machine, if the plan names one, has what is asked for; a core for the data
/// workers only where there is one.
SlurmRequest request_of(const plan::Plan& plan, int ranks, int nodes) {
    const plan::Machine& machine = plan.machine;
    SlurmRequest request;
    request.ranks = ranks;
    request.threads = plan.target.threads;
    request.devices = plan::has_own_memory(plan.target);
    request.cores = request.threads + plan.target.data_workers;
    request.memory = plan::memory_need(plan).host;
    if (machine.name.empty()) return request;

    plan::Machine used = machine;
    if (nodes > 0) used.nodes = nodes;
    const std::string name = plain_name(machine.name);
    const std::int64_t per_node = compiler::ranks_per_node(used, ranks);
    if (nodes > machine.nodes)
        warn(fmt::format("--nodes {}, and the machine `{}` has {}", nodes, name, machine.nodes),
             "use fewer, or correct the machine's spec and compile again");
    if (machine.cores > 0 && per_node * request.cores > machine.cores)
        request.cores = std::max<int>(request.threads, machine.cores / int(per_node));
    if (machine.cores > 0 && per_node * request.threads > machine.cores)
        warn(fmt::format("{} of {} threads on a node of {} cores of the machine `{}`: they would "
                         "share cores",
                         count_text(per_node, "rank"), request.threads, machine.cores, name),
             fmt::format("compile with --threads {}, or use more nodes",
                         std::max<std::int64_t>(1, machine.cores / per_node)));
    const std::int64_t of_ranks = per_node * (plan::asked_mebibytes(request.memory) << 20);
    if (machine.memory_bytes > 0 && of_ranks > machine.memory_bytes) {
        const auto [asked, there] =
            unlike_bytes_text(double(of_ranks), double(machine.memory_bytes));
        warn(fmt::format("{} of {} in all on a node of {} of the machine `{}`",
                         count_text(per_node, "rank"), asked, there, name),
             "use more nodes, or a smaller batch");
    }
    return request;
}

int ranks_of(const plan::Plan& plan, int option) {
    if (plan.parallel.data && plan.parallel.any_ranks && option == 0)
        throw UsageError(
            "the plan runs on any number of ranks (`data: auto`); say how many with --ranks N");
    const int ranks = option > 0 ? option : plan.target.ranks;
    if (const std::string reason = plan::refuses_ranks(plan, ranks); !reason.empty())
        throw PlanError(fmt::format("the plan cannot run on {} ranks: {}", ranks, reason));
    return ranks;
}

void check(const SlurmCommand& command) {
    check_word("--partition", command.partition);
    check_word("--account", command.account);
    check_word("--mpi", command.mpi);
    if (command.time.empty()) return;
    const auto seconds = seconds_of(command.time);
    if (!seconds)
        throw UsageError(fmt::format(
            "--time `{}` is no time\nhelp: as Slurm takes it: minutes, H:MIN:SEC or D-H:MIN:SEC",
            command.time));
    if (*seconds <= command.signal_before)
        throw UsageError(fmt::format(
            "--time {} is no longer than the {} that --signal-before leaves for the checkpoint",
            command.time, limit_text(command.signal_before)));
}

/// The run of a plan; `command` gets what its machine says.
SlurmRun run_of(const plan::Plan& plan, SlurmCommand& command) {
    take_from_machine(plan.machine, command);
    const int ranks = ranks_of(plan, command.ranks);
    if (command.nodes > ranks)
        throw UsageError(fmt::format("--nodes {} for {}: every node has at least one",
                                     command.nodes, count_text(ranks, "rank")));
    SlurmRun run;
    run.request = request_of(plan, ranks, command.nodes);
    return run;
}

int slurm(const std::string& given, const std::string& output, SlurmCommand command) {
    check(command);
    std::error_code gone;
    const fs::path here = fs::current_path(gone);
    if (gone)
        throw OutputError(
            fmt::format("the current folder, in which the job is to run, cannot be found: {}\n"
                        "help: go to one that is there",
                        gone.message()));
    const auto absolute = [&](const fs::path& path) {
        return (here / path).lexically_normal().string();
    };
    std::string name;
    std::vector<SlurmRun> runs;
    const bool array = fs::is_directory(given, gone);
    if (array) {
        if (!command.run.empty())
            throw UsageError(
                fmt::format("--run names the folder of one run; those of a sweep are in {}",
                            (fs::path(given) / plan::kSweepRuns).string()));
        name = fs::path(absolute(fs::path(given) / "x")).parent_path().filename().string();
        for (const plan::SweptPlan& one : read_sweep(given).plans) {
            runs.push_back(run_of(load_plan((fs::path(given) / one.file).string()), command));
            runs.back().plan = absolute(fs::path(given) / one.file);
            runs.back().folder = absolute(fs::path(given) / plan::kSweepRuns / one.name());
        }
    } else {
        if (command.at_once > 0)
            throw UsageError("--at-once limits the jobs of a sweep; this is one plan");
        const plan::Plan plan = load_plan(given);
        name = plan.name;
        runs.push_back(run_of(plan, command));
        runs.back().plan = absolute(given);
        runs.back().folder =
            absolute(command.run.empty() ? "runs/" + plain_name(plan.name) : command.run);
    }
    const std::string text = slurm_script(name, here.string(), runs, array, command);
    if (output.empty() || output == "-") {
        // A path may have any bytes, which the script must have too; a terminal need not.
        if (isatty(STDOUT_FILENO) != 0)
            write_stdout(text);
        else
            write_stdout_bytes(text);
    } else {
        write_file(output, text);
        tell_written(output);
    }
    return 0;
}

struct SlurmArguments {
    std::string plan, output;
    SlurmCommand command;
};

std::function<int()> declare_slurm(OptionList& list) {
    auto given = std::make_shared<SlurmArguments>();
    SlurmCommand& command = given->command;
    list.argument("PLAN", given->plan,
                  "A plan, written by dtnnc compile; or the folder of a sweep: an array with a job "
                  "for each of its plans",
                  true, "PLAN|FOLDER");
    list.text("-o,--output", given->output, "File of the script; default standard output",
              {.value = "FILE"});
    list.number("--ranks", command.ranks, "Ranks, for a plan that runs on any number",
                {.lowest = 1, .highest = 1'000'000});
    list.number("--nodes", command.nodes,
                "Nodes that the ranks are spread over evenly; default Slurm's choice",
                {.lowest = 1, .highest = 1'000'000});
    list.text("--time", command.time, "Time limit, as in 2:00:00", {.value = "TIME"});
    list.text("--partition", command.partition, "Partition of the cluster", {.value = "NAME"});
    list.text("--account", command.account, "Account that is charged", {.value = "NAME"});
    list.text("--setup", command.setup,
              "Lines of shell to run before the ranks start, such as module load mpich; default "
              "the machine's (slurm.setup)",
              {.value = "SHELL"});
    list.text("--constraint", command.constraint,
              "Features that nodes must have; default the machine's (slurm.constraint)",
              {.value = "FEATURES"});
    list.text("--qos", command.qos, "Quality of service; default the machine's (slurm.qos)",
              {.value = "NAME"});
    list.number("--restarts", command.restarts,
                "How often ranks that were killed or lost are started again inside the allocation",
                {.lowest = 0, .highest = 1000, .shows_default = true});
    list.number("--idle-requeues", command.idle_requeues,
                "How often in a row the job goes back into the queue without a newer checkpoint",
                {.lowest = 1, .highest = 1000, .shows_default = true});
    list.text("--run", command.run, "Folder of the run; default runs/NAME", {.value = "FOLDER"});
    list.number("--at-once", command.at_once,
                "Most jobs of a sweep's array that run at a time; default Slurm's choice",
                {.lowest = 1, .highest = 1'000'000});
    list.number("--signal-before", command.signal_before,
                "Seconds before the time limit at which the run writes a checkpoint and stops",
                {.lowest = 10, .highest = 65535, .shows_default = true});
    list.text("--mpi", command.mpi,
              "How srun wires the ranks up: pmi2 for MPICH, pmix for Open MPI; "
              "empty leaves it to Slurm's configuration",
              {.shows_default = true, .value = "KIND", .offers = {"pmi2", "pmix"}});
    list.flag("--requeue,!--no-requeue", command.requeue,
              "Whether the job goes back into the queue after such a stop; default it does");
    return [given] { return slurm(given->plan, given->output, given->command); };
}

const RegisteredCommand kSlurmCommand(
    {.name = "slurm",
     .doc = "Writes the Slurm batch script of a plan, or of a sweep",
     .place = 90,
     .declare = declare_slurm,
     .purpose = Purpose::prepare,
     .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
     .examples = {{"dtnnc slurm plan.json --time 2:00:00 -o job.sh",
                   "for `sbatch job.sh`: cores, memory, signals, requeue"},
                  {"dtnnc slurm ranks.json --ranks 64 --nodes 8 -o job.sh",
                   "of a plan for any number of ranks"}}});

}  // namespace

}  // namespace dtnn::tools
