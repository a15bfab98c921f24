#include "runtime/base/surroundings.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

#include "runtime/base/text_bytes.hpp"

namespace dtnn::runtime {

const std::vector<std::string> kWatchedVariables = {
    "OMP_NUM_THREADS",       "SLURM_JOB_ID",       "SLURM_CPUS_PER_TASK", "SLURM_NTASKS",
    "SLURM_NTASKS_PER_NODE", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU"};

namespace {

/// The cores of the mask, however many the machine has.
std::vector<int> allowed_cores() {
    for (int most = 1024; most <= 1 << 20; most *= 4) {
        const std::size_t bytes = CPU_ALLOC_SIZE(std::size_t(most));
        const auto release = [](cpu_set_t* set) { CPU_FREE(set); };
        const std::unique_ptr<cpu_set_t, decltype(release)> set(CPU_ALLOC(std::size_t(most)),
                                                                release);
        if (set == nullptr) return {};
        CPU_ZERO_S(bytes, set.get());
        if (sched_getaffinity(0, bytes, set.get()) != 0) continue;
        std::vector<int> cores;
        for (int core = 0; core < most; ++core)
            if (CPU_ISSET_S(std::size_t(core), bytes, set.get())) cores.push_back(core);
        return cores;
    }
    return {};
}

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::optional<std::int64_t> number_in(const std::string& text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value <= 0) return std::nullopt;
    return value;
}

/// The path of the control group for `controller` in version 1, or in version 2 (empty name).
std::optional<std::string> group_path(const std::string& controller) {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        std::istringstream names(line.substr(first + 1, second - first - 1));
        if (controller.empty() && second == first + 1) return line.substr(second + 1);
        for (std::string name; std::getline(names, name, ',');)
            if (!controller.empty() && name == controller) return line.substr(second + 1);
    }
    return std::nullopt;
}

/// Calls `look(folder)` for the group's folder and those above it: all of them bound what is below.
template <typename Look>
void each_folder(const std::string& root, std::string path, Look&& look) {
    while (true) {
        look(root + (path == "/" ? "" : path));
        const std::size_t slash = path.find_last_of('/');
        if (path.size() <= 1 || slash == std::string::npos) return;
        path = slash == 0 ? "/" : path.substr(0, slash);
    }
}

void find_group_bounds(Surroundings& found) {
    const auto cores = [&](const std::string& folder, double bound) {
        if (found.group_cores > 0 && found.group_cores <= bound) return;
        found.group_cores = bound;
        found.group = folder;
    };
    const auto memory = [&](std::int64_t bytes) {
        // Version 1 writes the largest number for "no bound".
        if (bytes >= std::int64_t(1) << 60) return;
        found.group_memory = found.group_memory == 0 ? bytes : std::min(found.group_memory, bytes);
    };
    if (const auto path = group_path("")) {
        each_folder("/sys/fs/cgroup", *path, [&](const std::string& folder) {
            std::istringstream line(first_line(folder + "/cpu.max"));
            std::string quota, period;
            line >> quota >> period;
            const auto granted = number_in(quota), of = number_in(period);
            if (granted && of) cores(folder, double(*granted) / double(*of));
            if (const auto bytes = number_in(first_line(folder + "/memory.max"))) memory(*bytes);
        });
    }
    if (const auto path = group_path("cpu")) {
        each_folder("/sys/fs/cgroup/cpu", *path, [&](const std::string& folder) {
            const auto granted = number_in(first_line(folder + "/cpu.cfs_quota_us"));
            const auto of = number_in(first_line(folder + "/cpu.cfs_period_us"));
            if (granted && of) cores(folder, double(*granted) / double(*of));
        });
    }
    if (const auto path = group_path("memory")) {
        each_folder("/sys/fs/cgroup/memory", *path, [&](const std::string& folder) {
            if (const auto bytes = number_in(first_line(folder + "/memory.limit_in_bytes")))
                memory(*bytes);
        });
    }
}

}  // namespace

Surroundings find_surroundings() {
    Surroundings found;
    utsname names{};
    found.host = ::uname(&names) == 0 ? names.nodename : "unknown host";
    found.cores = allowed_cores();
    found.host_cores = int(::sysconf(_SC_NPROCESSORS_ONLN));
    struct sysinfo system {};
    if (::sysinfo(&system) == 0)
        found.memory =
            std::int64_t((system.totalram + system.totalswap)) * std::int64_t(system.mem_unit);
    find_group_bounds(found);
    for (const std::string& name : kWatchedVariables) {
        const char* value = std::getenv(name.c_str());
        if (value != nullptr && *value != '\0') found.variables[name] = value;
    }
    return found;
}

std::vector<std::byte> bytes_of(const Surroundings& surroundings) {
    std::vector<std::byte> bytes;
    const auto add = [&bytes](const std::string& word) { append_text(bytes, word); };
    add(surroundings.host);
    add(fmt::format("{}", fmt::join(surroundings.cores, " ")));
    add(std::to_string(surroundings.host_cores));
    add(surroundings.group);
    add(fmt::format("{}", surroundings.group_cores));
    add(std::to_string(surroundings.memory));
    add(std::to_string(surroundings.group_memory));
    for (const auto& [name, value] : surroundings.variables) {
        add(name);
        add(value);
    }
    return bytes;
}

Surroundings surroundings_of(const std::vector<std::byte>& bytes) {
    const std::vector<std::string> words = texts_of(bytes);
    Surroundings found;
    if (words.size() < 7) return found;
    found.host = words[0];
    std::istringstream cores(words[1]);
    for (int core = 0; cores >> core;)
        found.cores.push_back(core);
    found.host_cores = std::atoi(words[2].c_str());
    found.group = words[3];
    found.group_cores = std::strtod(words[4].c_str(), nullptr);
    found.memory = std::atoll(words[5].c_str());
    found.group_memory = std::atoll(words[6].c_str());
    for (std::size_t i = 7; i + 1 < words.size(); i += 2)
        found.variables[words[i]] = words[i + 1];
    return found;
}

}  // namespace dtnn::runtime
