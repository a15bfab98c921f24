#include "runtime/comm/started_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

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

}  // namespace

StartedRanks started_ranks() {
    StartedRanks found;
    const auto rank = number("PMI_RANK"), ranks = number("PMI_SIZE");
    if (rank && ranks && *ranks >= 1 && *rank < *ranks) {
        found.rank = *rank;
        found.ranks = *ranks;
        found.launcher = "PMI";
        return found;
    }
    if (number("OMPI_COMM_WORLD_SIZE").value_or(1) > 1) {
        found.problem =
            "this process was started by Open MPI's mpiexec, whose ranks cannot meet "
            "here: this program is built for MPICH";
        found.remedy =
            "start it with MPICH's mpiexec (Debian: mpiexec.mpich of the package mpich), "
            "or with dtnn-run --ranks N";
        return found;
    }
    // In a batch script SLURM_NTASKS is that of the job; only a task of srun has the step's.
    if (number("SLURM_PROCID") && number("SLURM_STEP_NUM_TASKS").value_or(1) > 1) {
        found.problem = fmt::format("srun has started {} tasks without the means to meet (PMI)",
                                    number("SLURM_STEP_NUM_TASKS").value_or(0));
        found.remedy = "start them with srun --mpi=pmi2";
    }
    return found;
}

std::string started_name() {
    const StartedRanks started = started_ranks();
    if (started.ranks <= 1) return {};
    char host[HOST_NAME_MAX + 1] = {};
    if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "unknown host");
    return fmt::format("rank {} ({}, process {})", started.rank, host, getpid());
}

}  // namespace dtnn::runtime
