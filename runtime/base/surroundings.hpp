#pragma once
/// The part of its machine that a process may use, and what its environment says of that: facts
/// only, see comm/start_checks.hpp for what is made of them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dtnn::runtime {

struct Surroundings {
    std::string host;
    std::vector<int> cores;   ///< that this process may run on (sched_getaffinity); empty: unknown
    int host_cores = 0;       ///< cores of the machine
    std::string group;        ///< the control group that bounds processors; those in it share them
    double group_cores = 0;   ///< processors that it grants; 0: no bound
    std::int64_t memory = 0;  ///< bytes of the machine, swap included; 0: unknown
    std::int64_t group_memory = 0;  ///< that the control group grants; 0: no bound
    /// Those of kWatchedVariables that are set and not empty.
    std::map<std::string, std::string> variables;
    bool operator==(const Surroundings&) const = default;
};

/// OMP_NUM_THREADS and Slurm's. BLIS_NUM_THREADS, OMP_PROC_BIND and GOMP_CPU_AFFINITY are not among
/// them: threads are the program's own, and each product of matrices is told that it has one.
extern const std::vector<std::string> kWatchedVariables;

/// The surroundings of this process. What cannot be read stays unknown.
Surroundings find_surroundings();

/// Bytes to be sent to the other ranks of the job, which run the same program, and back.
std::vector<std::byte> bytes_of(const Surroundings& surroundings);
Surroundings surroundings_of(const std::vector<std::byte>& bytes);

}  // namespace dtnn::runtime
