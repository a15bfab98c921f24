// dtnnc slurm: the batch script of a plan. The script's shell gets Slurm's signal before the time
// limit, hands it to the ranks, and puts the job back into the queue when they have stopped
// cleanly.

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
#include "compiler/frontend/read/quantity.hpp"
#include "compiler/frontend/specs.hpp"
#include "plan/rules/memory_need.hpp"
#include "plan/rules/parallel.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {
namespace {

struct SlurmCommand {
    int ranks = 0;            ///< 0: the plan's
    int nodes = 0;            ///< 0: left to Slurm
    int signal_before = 120;  ///< seconds between the signal and the time limit
    bool requeue = true;      ///< a job that stopped after a checkpoint goes back into the queue
    std::string time, partition, account;
    std::string setup, constraint, qos;  ///< empty: the machine's
    int restarts = 0;                    ///< of ranks that died, inside the allocation
    int idle_requeues = 3;               ///< in a row without a newer checkpoint
    std::string mpi = "pmi2";  ///< how srun wires the ranks up; empty: as Slurm is configured
    std::string run;           ///< the run's folder; empty: runs/NAME
};

namespace fs = std::filesystem;

constexpr std::int64_t kMiB = 1 << 20;
/// What a rank takes beside the plan's memory: program, libraries, MPI's buffers.
constexpr std::int64_t kMarginMiB = 512;

/// A name for Slurm and for comments: what else there is becomes `_`.
std::string plain(const std::string& text) {
    std::string name = text.substr(0, 100);
    for (char& c : name) {
        const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
        if (!kept) c = '_';
    }
    return name.empty() ? "dtnn" : name;
}

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

/// What the machine says where the option says nothing.
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

/// The program beside this one; else the one that the ranks' PATH has.
std::string runner() {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    if (error) return "dtnn-run";
    const fs::path beside = own.parent_path() / "dtnn-run";
    return fs::exists(beside, error) ? beside.string() : "dtnn-run";
}

/// What the ranks ask Slurm for.
struct Request {
    int ranks = 1;
    int threads = 1;
    int cores = 1;            ///< of each rank
    std::int64_t memory = 0;  ///< MiB, of each rank, margin included
};

void warn(const std::string& text, const std::string& help) {
    write_stderr(fmt::format("warning: {}\nhelp: {}\n", text, help));
}

/// Whether the job's machine, if the plan names one, has what is asked for; a core for the data
/// workers only where there is one.
Request request_of(const plan::Plan& plan, int ranks, int nodes) {
    const plan::Machine& machine = plan.machine;
    Request request;
    request.ranks = ranks;
    request.threads = plan.target.threads;
    request.cores = request.threads + plan.target.data_workers;
    const std::int64_t need = plan::memory_need(plan).host;
    request.memory = need / kMiB + 1 + kMarginMiB;
    if (machine.name.empty()) return request;

    plan::Machine used = machine;
    if (nodes > 0) used.nodes = nodes;
    const std::string name = plain(machine.name);
    const std::int64_t per_node = compiler::ranks_per_node(used, ranks);
    if (nodes > machine.nodes)
        warn(fmt::format("--nodes {}, and the machine `{}` has {}", nodes, name, machine.nodes),
             "use fewer, or correct the machine's spec and compile again");
    if (machine.cores > 0 && per_node * request.cores > machine.cores)
        request.cores = std::max<int>(request.threads, machine.cores / int(per_node));
    if (machine.cores > 0 && per_node * request.threads > machine.cores)
        warn(fmt::format("{} rank{} of {} threads on a node of {} cores of the machine `{}`: they "
                         "would share cores",
                         per_node, per_node == 1 ? "" : "s", request.threads, machine.cores, name),
             fmt::format("compile with --threads {}, or use more nodes",
                         std::max<std::int64_t>(1, machine.cores / per_node)));
    if (machine.memory_bytes > 0 && per_node * request.memory > machine.memory_bytes / kMiB)
        warn(fmt::format("{} rank{} of {} MiB on a node of {} of the machine `{}`", per_node,
                         per_node == 1 ? "" : "s", request.memory,
                         compiler::quantity_text(double(machine.memory_bytes), "bytes"), name),
             "use more nodes, or a smaller batch");
    return request;
}

/// The lines that Slurm reads.
std::string header(const plan::Plan& plan, const Request& request, const SlurmCommand& command) {
    std::string text = fmt::format(
        "#!/bin/bash\n"
        "# {}: {} rank{} of {} thread{}, {} cores each. Written by dtnnc slurm.\n"
        "# Memory of a rank: {} MiB of the plan, {} more for the program and MPI.\n"
        "#SBATCH --job-name={}\n"
        "#SBATCH --ntasks={}\n",
        plain(plan.name), request.ranks, request.ranks == 1 ? "" : "s", request.threads,
        request.threads == 1 ? "" : "s", request.cores, request.memory - kMarginMiB, kMarginMiB,
        plain(plan.name), request.ranks);
    const auto line = [&](const std::string& option) { text += "#SBATCH --" + option + "\n"; };
    if (command.nodes > 0) {
        line(fmt::format("nodes={}", command.nodes));
        line(fmt::format("ntasks-per-node={}",
                         request.ranks / command.nodes + (request.ranks % command.nodes > 0)));
    }
    line(fmt::format("cpus-per-task={}", request.cores));
    if (plan::has_own_memory(plan.target)) {
        // All of a node's are seen by its ranks, of which each takes the one of its number: what
        // sees its own alone cannot reach the others' memory.
        line("gpus-per-task=1");
        line("gpu-bind=none");
    }
    // A rank's threads are one to a core; the second threads of cores would only slow them.
    line("threads-per-core=1");
    line(fmt::format("mem-per-cpu={}M", (request.memory + request.cores - 1) / request.cores));
    if (!command.time.empty()) line("time=" + command.time);
    if (!command.partition.empty()) line("partition=" + command.partition);
    if (!command.account.empty()) line("account=" + command.account);
    if (!command.constraint.empty()) line("constraint=" + command.constraint);
    if (!command.qos.empty()) line("qos=" + command.qos);
    line(fmt::format("signal=B:USR1@{}", command.signal_before));
    line(command.requeue ? "requeue" : "no-requeue");
    line("open-mode=append");
    return text;
}

constexpr const char* kStart = R"sh(
{setup}set -u
cd -- {folder} || exit 1
program={program}
plan={plan}
run={run}
export OMP_NUM_THREADS={threads}

# Slurm's signal comes to this shell alone, {before} s before the time limit; srun hands USR1 to every
# rank. They write a checkpoint and end with 75. At TERM srun itself would kill them, so that they are
# asked by USR1 then too.
child=
signals=0
last=
# shellcheck disable=SC2317 # the traps call it
forward() {{
    signals=$((signals + 1))
    last=$1
    if [ -n "$child" ]; then
        kill -s USR1 "$child" 2>/dev/null # or all have ended
    fi
}}
trap 'forward USR1' USR1
trap 'forward TERM' TERM

# The newest checkpoint's name; empty: there is none.
newest() {{
    cat -- "$run/checkpoints/latest" 2>/dev/null
}}

restarts={restarts}
while :; do
    # A run that was begun goes on from its newest checkpoint.
    if [ -e "$run/plan.json" ]; then
        begin=(--resume "$run")
    else
        begin=(--output "$run")
    fi
    was=$(newest)
    srun --ntasks={ranks} --cpus-per-task={cores} --cpu-bind=cores{mpi} --kill-on-bad-exit=1 \
        --wait={before} "$program" train "$plan" "${{begin[@]}}" &
    child=$!
    if [ -n "$last" ]; then
        sleep 2 # it came before there was anybody to tell; an srun that has just begun would die of it
        kill -s USR1 "$child"
    fi

    while :; do
        before=$signals
        wait "$child"
        code=$?
        # A signal cuts the waiting short; what srun ends with comes from the next.
        if [ "$signals" -eq "$before" ]; then
            break
        fi
    done
    child=

    # Another try mends a rank that was killed or lost; not what is wrong with job, plan or program.
    case "$code" in
        0 | 2 | 3 | 4 | 5 | 6 | 70 | 75) break ;;
    esac
    if [ -n "$last" ] || [ "$restarts" -le 0 ]; then
        break
    fi
    if [ "$restarts" -lt {restarts} ] && [ "$(newest)" = "$was" ]; then
        echo "no restart: the last one came no further than the one before" >&2
        break
    fi
    echo "the ranks ended with $code; restart, $restarts left" >&2
    restarts=$((restarts - 1))
    sleep 1
done
)sh";

constexpr const char* kRequeue = R"sh(
# TERM is not answered: who cancels a job does not want it back, and who preempts one requeues it.
if [ "$code" -eq 75 ] && [ "$last" != TERM ]; then
    # How often in a row it went back without a newer checkpoint.
    idle=0
    at=
    if [ -e "$run/requeues" ] && read -r idle at <"$run/requeues" && [ "$at" = "$(newest)" ]; then
        idle=$((idle + 1))
    else
        idle=0
    fi
    if [ -d "$run" ]; then
        echo "$idle $(newest)" >"$run/requeues"
    fi
    if [ "$idle" -ge {idle_requeues} ]; then
        echo "stopped $idle times without a newer checkpoint; not back into the queue" >&2
        exit "$code"
    fi
    echo "stopped after a checkpoint; back into the queue" >&2
    scontrol requeue "$SLURM_JOB_ID" || echo "the job could not be requeued; submit it again to go on" >&2
fi
exit "$code"
)sh";

constexpr const char* kNoRequeue = R"sh(
if [ "$code" -eq 75 ]; then
    echo "stopped after a checkpoint; submit the job again to go on" >&2
fi
exit "$code"
)sh";

int ranks_of(const plan::Plan& plan, int option) {
    if (plan.parallel.data && plan.parallel.any_ranks && option == 0)
        throw UsageError(
            "the plan runs on any number of ranks (`data: auto`); say how many with --ranks N");
    const int ranks = option > 0 ? option : plan.target.ranks;
    if (const std::string reason = plan::refuses_ranks(plan, ranks); !reason.empty())
        throw PlanError(fmt::format("the plan cannot run on {} ranks: {}", ranks, reason));
    return ranks;
}

int slurm(const std::string& plan_file, const std::string& output, SlurmCommand command) {
    if (!command.time.empty()) {
        const auto seconds = seconds_of(command.time);
        if (!seconds)
            throw UsageError(
                fmt::format("--time `{}` is no time\nhelp: as Slurm takes it: minutes, H:MIN:SEC "
                            "or D-H:MIN:SEC",
                            command.time));
        if (*seconds <= command.signal_before)
            throw UsageError(fmt::format(
                "--time {} is no longer than the {} s that --signal-before leaves for the "
                "checkpoint",
                command.time, command.signal_before));
    }
    check_word("--partition", command.partition);
    check_word("--account", command.account);
    check_word("--mpi", command.mpi);
    const plan::Plan plan = load_plan(plan_file);
    take_from_machine(plan.machine, command);
    const int ranks = ranks_of(plan, command.ranks);
    if (command.nodes > ranks)
        throw UsageError(fmt::format("--nodes {} for {} rank{}: every node has at least one",
                                     command.nodes, ranks, ranks == 1 ? "" : "s"));
    const Request request = request_of(plan, ranks, command.nodes);
    std::error_code gone;
    const fs::path here = fs::current_path(gone);
    if (gone)
        throw OutputError(
            fmt::format("the current folder, in which the job is to run, cannot be found: {}\n"
                        "help: go to one that is there",
                        gone.message()));
    const std::string run = command.run.empty() ? "runs/" + plain(plan.name) : command.run;
    const auto absolute = [&](const std::string& path) {
        return shell_quoted((here / path).lexically_normal().string());
    };
    std::string text = header(plan, request, command);
    text += fmt::format(
        fmt::runtime(kStart), fmt::arg("folder", shell_quoted(here.string())),
        fmt::arg("program", shell_quoted(runner())), fmt::arg("plan", absolute(plan_file)),
        fmt::arg("run", absolute(run)), fmt::arg("threads", request.threads),
        fmt::arg("before", command.signal_before), fmt::arg("ranks", ranks),
        fmt::arg("cores", request.cores), fmt::arg("restarts", command.restarts),
        fmt::arg("setup", command.setup.empty() ? "" : command.setup + "\n"),
        fmt::arg("mpi", ranks > 1 && !command.mpi.empty() ? " --mpi=" + command.mpi : ""));
    text += command.requeue
                ? fmt::format(fmt::runtime(kRequeue),
                              fmt::arg("idle_requeues", std::max(1, command.idle_requeues)))
                : kNoRequeue;
    if (output.empty() || output == "-") {
        // A path may have any bytes, which the script must have too; a terminal need not.
        if (isatty(STDOUT_FILENO) != 0)
            write_stdout(text);
        else
            write_stdout_bytes(text);
    } else {
        write_file(output, text);
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
    list.argument("PLAN", given->plan, "A plan, written by dtnnc compile");
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
    list.number("--signal-before", command.signal_before,
                "Seconds before the time limit at which the run writes a checkpoint and stops",
                {.lowest = 10, .highest = 65535, .shows_default = true});
    list.text("--mpi", command.mpi,
              "How srun wires the ranks up, pmix where the ranks' program is built for Open MPI; "
              "empty leaves it to Slurm's configuration",
              {.shows_default = true, .value = "KIND", .offers = {"pmi2", "pmix"}});
    list.flag("--requeue,!--no-requeue", command.requeue,
              "Whether the job goes back into the queue after such a stop; default it does");
    return [given] { return slurm(given->plan, given->output, given->command); };
}

const RegisteredCommand kSlurmCommand({.name = "slurm",
                                       .doc = "Writes the Slurm batch script of a plan",
                                       .place = 90,
                                       .declare = declare_slurm,
                                       .purpose = Purpose::prepare,
                                       .exits = {{ExitCode::failed}, {ExitCode::mismatch}},
                                       .examples = {{"dtnnc slurm plan.json --time 2:00:00 -o "
                                                     "job.sh",
                                                     "for `sbatch job.sh`: cores, memory, signals, "
                                                     "requeue"},
                                                    {"dtnnc slurm ranks.json --ranks 64 --nodes 8 "
                                                     "-o job.sh",
                                                     "of a plan for any number of ranks"}}});

}  // namespace

}  // namespace dtnn::tools
