#include "tools/dtnnc/slurm/slurm_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/escape.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/rules/memory_need.hpp"

namespace dtnn::tools {
namespace {

namespace fs = std::filesystem;

/// The program beside this one; else the one that the ranks' PATH has.
std::string runner() {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    if (error) return "dtnn-run";
    const fs::path beside = own.parent_path() / "dtnn-run";
    return fs::exists(beside, error) ? beside.string() : "dtnn-run";
}

/// The most that any of the runs asks for: an array's jobs are all of one size.
SlurmRequest largest(const std::vector<SlurmRun>& runs) {
    SlurmRequest most;
    for (const SlurmRun& run : runs) {
        most.ranks = std::max(most.ranks, run.request.ranks);
        most.threads = std::max(most.threads, run.request.threads);
        most.cores = std::max(most.cores, run.request.cores);
        most.memory = std::max(most.memory, run.request.memory);
        most.devices = most.devices || run.request.devices;
    }
    return most;
}

/// The lines that Slurm reads.
std::string header(const std::string& name, const SlurmRequest& request, std::size_t jobs,
                   const SlurmCommand& command) {
    std::string text = fmt::format(
        "#!/bin/bash\n"
        "# {}: {}{} of {}, {} cores each. Written by dtnnc slurm.\n"
        "# Memory of a rank: {} of the plan, {} more for the program and MPI.\n"
        "#SBATCH --job-name={}\n"
        "#SBATCH --ntasks={}\n",
        name, jobs == 0 ? "" : fmt::format("{} runs, of at most ", jobs),
        count_text(request.ranks, "rank"), count_text(request.threads, "thread"), request.cores,
        bytes_text(double(request.memory), BytesForm::enough),
        bytes_text(double(plan::kBesidePlan)), name, request.ranks);
    const auto line = [&](const std::string& option) { text += "#SBATCH --" + option + "\n"; };
    if (jobs > 0) {
        line(fmt::format("array=0-{}{}", jobs - 1,
                         command.at_once > 0 ? fmt::format("%{}", command.at_once) : ""));
    }
    if (command.nodes > 0) {
        line(fmt::format("nodes={}", command.nodes));
        line(fmt::format("ntasks-per-node={}",
                         request.ranks / command.nodes + (request.ranks % command.nodes > 0)));
    }
    line(fmt::format("cpus-per-task={}", request.cores));
    if (request.devices) {
        // All of a node's are seen by its ranks, of which each takes the one of its number: what
        // sees its own alone cannot reach the others' memory.
        line("gpus-per-task=1");
        line("gpu-bind=none");
    }
    // A rank's threads are one to a core; the second threads of cores would only slow them.
    line("threads-per-core=1");
    line(fmt::format("mem-per-cpu={}M",
                     (plan::asked_mebibytes(request.memory) + request.cores - 1) / request.cores));
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
{job}
# Slurm's signal comes to this shell alone, {time_before} before the time limit; srun hands USR1 to every
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
    scontrol requeue "{job_id}" || echo "the job could not be requeued; submit it again to go on" >&2
fi
exit "$code"
)sh";

constexpr const char* kNoRequeue = R"sh(
if [ "$code" -eq 75 ]; then
    echo "stopped after a checkpoint; submit the job again to go on" >&2
fi
exit "$code"
)sh";

/// The lines that say which run the job is of.
std::string one_job(const SlurmRun& run) {
    return fmt::format("plan={}\nrun={}\nexport OMP_NUM_THREADS={}\n", shell_quoted(run.plan),
                       shell_quoted(run.folder), run.request.threads);
}

std::string job_of_array(const std::vector<SlurmRun>& runs) {
    std::string text =
        "# Slurm gives each job of the array its number.\n"
        "case \"${SLURM_ARRAY_TASK_ID:?submit it by sbatch}\" in\n";
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const SlurmRun& run = runs[i];
        text +=
            fmt::format("{})\n    plan={}\n    run={}\n    ranks={} cores={} threads={}\n    ;;\n",
                        i, shell_quoted(run.plan), shell_quoted(run.folder), run.request.ranks,
                        run.request.cores, run.request.threads);
    }
    return text +
           "*)\n    echo \"the sweep has no plan $SLURM_ARRAY_TASK_ID\" >&2\n    exit 2\n    ;;\n"
           "esac\nexport OMP_NUM_THREADS=$threads\n";
}

}  // namespace

std::string plain_name(const std::string& text) {
    std::string name = text.substr(0, 100);
    for (char& c : name) {
        const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
        if (!kept) c = '_';
    }
    return name.empty() ? "dtnn" : name;
}

std::string slurm_script(const std::string& name, const std::string& here,
                         const std::vector<SlurmRun>& runs, bool array,
                         const SlurmCommand& command) {
    const SlurmRequest most = largest(runs);
    std::string text = header(plain_name(name), most, array ? runs.size() : 0, command);
    const auto number = [&](int value, const char* variable) {
        return array ? fmt::format("\"${}\"", variable) : fmt::to_string(value);
    };
    text += fmt::format(
        fmt::runtime(kStart), fmt::arg("folder", shell_quoted(here)),
        fmt::arg("program", shell_quoted(runner())),
        fmt::arg("job", array ? job_of_array(runs) : one_job(runs.front())),
        fmt::arg("before", command.signal_before),
        fmt::arg("time_before", limit_text(command.signal_before)),
        fmt::arg("ranks", number(most.ranks, "ranks")),
        fmt::arg("cores", number(most.cores, "cores")), fmt::arg("restarts", command.restarts),
        fmt::arg("setup", command.setup.empty() ? "" : command.setup + "\n"),
        fmt::arg("mpi", most.ranks > 1 && !command.mpi.empty() ? " --mpi=" + command.mpi : ""));
    if (!command.requeue) return text + kNoRequeue;
    // An array's own number would mean all of its jobs.
    return text +
           fmt::format(fmt::runtime(kRequeue),
                       fmt::arg("idle_requeues", std::max(1, command.idle_requeues)),
                       fmt::arg("job_id", array ? "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
                                                : "$SLURM_JOB_ID"));
}

}  // namespace dtnn::tools
