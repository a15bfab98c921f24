#include "runtime/comm/started_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/comm/mpi_flavour.hpp"

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

/// How ranks of a launcher find each other.
enum class Meeting { pmi, open_mpi, pmix, none };

/// The variables that a launcher leaves in the environment: this process's rank, and how many there
/// are.
struct Launcher {
    const char* rank;
    const char* ranks;
    const char* name;
    Meeting how;
};

/// The first whose rank is there counts: Open MPI's mpiexec sets PMIX_RANK, too. PMIx itself says
/// in the environment nothing of how many ranks there are; Slurm does. The last ones are known so
/// that their ranks do not each train alone.
constexpr Launcher kLaunchers[] = {
    {"PMI_RANK", "PMI_SIZE", "PMI", Meeting::pmi},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec", Meeting::open_mpi},
    {"PMIX_RANK", kStepTasks, "srun by PMIx", Meeting::pmix},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MVAPICH's mpirun_rsh", Meeting::none},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "jsrun", Meeting::none},
    {"PALS_RANKID", "PALS_SIZE", "PALS", Meeting::none},
};

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
        found.remedy = how_to_start_ranks();
        return found;
    };
    for (const Launcher& launcher : kLaunchers) {
        if (std::getenv(launcher.rank) == nullptr) continue;
        const auto rank = number(launcher.rank), ranks = number(launcher.ranks);
        if (launcher.how == Meeting::pmix && !of_srun())
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
        if (launcher.how == Meeting::none ||
            (launcher.how == Meeting::open_mpi && !mpi_flavour().meets_by_open_mpi))
            return refuse(
                fmt::format("this process was started by {}, whose ranks cannot meet "
                            "here: this program is built for {}",
                            launcher.name, mpi_flavour().name));
        found.rank = *rank;
        found.ranks = *ranks;
        found.launcher = launcher.name;
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
