#include "runtime/comm/started_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace dtnn::runtime {
namespace {

std::optional<int> number(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stop != end || value < 0) return std::nullopt;
    return value;
}

constexpr const char* kStepTasks = "SLURM_STEP_NUM_TASKS";

constexpr const char* kPmixRank = "PMIX_RANK";

/// The variables that a launcher leaves in the environment: this process's rank, how many there
/// are, and one that tells it from others with the same two.
struct Launcher {
    const char* rank;
    const char* ranks;
    const char* name;
    std::vector<Mpi> meets;  ///< whose ranks can meet by it, the likeliest first
    const char* sign = nullptr;
};

/// The first whose variables are there counts: Open MPI's mpiexec sets PMIX_RANK, too, and a step
/// of srun's leaves its own to an mpiexec that is called in it. Hydra's PMI serves MPICH alone;
/// that of Slurm and others also an Open MPI that is built for it. PMIx is Open MPI's way, and that
/// of an MPICH which is built for it (Debian's is not); in the environment it says nothing of how
/// many ranks there are, but Slurm does. The last ones are known so that their ranks do not each
/// train alone.
const std::vector<Launcher>& launchers() {
    static const std::vector<Launcher> known = {
        {"PMI_RANK", "PMI_SIZE", "MPICH's mpiexec", {Mpi::mpich}, "HYDI_CONTROL_FD"},
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec", {Mpi::openmpi}},
        {"PMI_RANK", "PMI_SIZE", "a launcher by PMI", {Mpi::mpich, Mpi::openmpi}},
        {kPmixRank, kStepTasks, "srun by PMIx", {Mpi::openmpi, Mpi::mpich}},
        {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MVAPICH's mpirun_rsh", {}},
        {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "jsrun", {}},
        {"PALS_RANKID", "PALS_SIZE", "PALS", {}},
    };
    return known;
}

bool has_started_this(const Launcher& launcher) {
    return std::getenv(launcher.rank) != nullptr &&
           (launcher.sign == nullptr || std::getenv(launcher.sign) != nullptr);
}

/// Whether the PMIx server is Slurm's, so that Slurm's variables speak of the same ranks.
bool of_srun() {
    const char* space = std::getenv("PMIX_NAMESPACE");
    return space != nullptr && std::strncmp(space, "slurm.", 6) == 0 &&
           std::getenv(kStepTasks) != nullptr;
}

/// "PMI_RANK=4"
std::string text_of(const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? fmt::format("no {}", variable) : fmt::format("{}={}", variable, text);
}

}  // namespace

StartedRanks started_ranks() {
    StartedRanks found;
    const auto refuse = [&found](std::string problem) {
        found.rank = 0;
        found.ranks = 1;
        found.launcher.clear();
        found.problem = std::move(problem);
        return found;
    };
    for (const Launcher& launcher : launchers()) {
        if (!has_started_this(launcher)) continue;
        const auto rank = number(launcher.rank), ranks = number(launcher.ranks);
        if (launcher.rank == kPmixRank && !of_srun())
            return refuse(
                fmt::format("{}={} says that a launcher has started this process as one "
                            "of several ranks, but not of how many",
                            launcher.rank, std::getenv(launcher.rank)));
        if (!rank || !ranks || *ranks < 1 || *rank >= *ranks)
            return refuse(
                fmt::format("{} of {}, which the launcher has left in the environment, "
                            "are no rank of a number of ranks",
                            text_of(launcher.rank), text_of(launcher.ranks)));
        if (*ranks == 1) return found;
        if (launcher.meets.empty())
            return refuse(fmt::format(
                "this process was started by {}, by which ranks cannot meet here", launcher.name));
        found.rank = *rank;
        found.ranks = *ranks;
        found.launcher = launcher.name;
        found.meets = launcher.meets;
        found.srun = std::getenv(kStepTasks) != nullptr;
        return found;
    }
    // In a batch script SLURM_NTASKS is that of the job; only a task of srun has the step's.
    if (number("SLURM_PROCID") && number(kStepTasks).value_or(1) > 1)
        return refuse(fmt::format("srun has started {} tasks without the means to meet (PMI)",
                                  number(kStepTasks).value_or(0)));
    return found;
}

int local_rank() {
    for (const char* variable : {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"})
        if (const auto rank = number(variable)) return *rank;
    return 0;
}

std::string started_name() {
    const StartedRanks started = started_ranks();
    if (started.ranks <= 1) return {};
    char host[HOST_NAME_MAX + 1] = {};
    if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "unknown host");
    return fmt::format("rank {} ({}, process {})", started.rank, host, getpid());
}

}  // namespace dtnn::runtime
