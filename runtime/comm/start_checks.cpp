#include "runtime/comm/start_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/rules/memory_need.hpp"
#include "runtime/comm/mpi_choice.hpp"

namespace dtnn::runtime {
namespace {

/// Ranks of one host.
using Ranks = std::vector<int>;

class Checks {
  public:
    Checks(const Needs& needs, const std::vector<Surroundings>& ranks)
        : needs_(needs), ranks_(ranks) {
        for (int rank = 0; rank < size(); ++rank)
            hosts_[of(rank).host].push_back(rank);
    }

    std::vector<Finding> all() {
        memory();
        if (!cores()) granted_processors();
        threads();
        tasks();
        return std::move(found_);
    }

  private:
    int size() const { return int(ranks_.size()); }
    const Surroundings& of(int rank) const { return ranks_[std::size_t(rank)]; }
    int running(int rank) const { return needs_.running[std::size_t(rank)]; }
    int running(const Ranks& ranks) const {
        return std::accumulate(ranks.begin(), ranks.end(), 0,
                               [this](int sum, int rank) { return sum + running(rank); });
    }

    bool slurm(int rank) const { return of(rank).variables.contains("SLURM_JOB_ID"); }
    /// A positive whole number, or the first one where there are several ("2(x3),1").
    std::optional<std::int64_t> number(int rank, const char* variable) const {
        const auto entry = of(rank).variables.find(variable);
        if (entry == of(rank).variables.end()) return std::nullopt;
        std::int64_t value = 0;
        const std::string& text = entry->second;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || value <= 0) return std::nullopt;
        return value;
    }

    /// "rank 1 (node17)", "ranks 0, 1 (node17)", "this process"
    std::string name(const Ranks& ranks) const {
        if (size() == 1) return "this process";
        const Ranks first(ranks.begin(), ranks.begin() + std::min<std::ptrdiff_t>(
                                                             4, std::ptrdiff_t(ranks.size())));
        return fmt::format("rank{} {}{} ({})", ranks.size() == 1 ? "" : "s", fmt::join(first, ", "),
                           first.size() < ranks.size() ? " ..." : "", of(ranks.front()).host);
    }
    const char* has(const Ranks& ranks) const { return ranks.size() == 1 ? "has" : "have"; }

    void memory();
    bool cores();
    std::vector<Ranks> sharing(const Ranks& host) const;
    std::string more_cores(const Ranks& ranks, std::size_t cores) const;
    void granted_processors();
    void threads();
    void tasks();

    const Needs& needs_;
    const std::vector<Surroundings>& ranks_;
    std::map<std::string, Ranks> hosts_;
    std::vector<Finding> found_;
};

void Checks::memory() {
    for (const auto& [host, ranks] : hosts_) {
        const auto many = std::int64_t(ranks.size());
        const Surroundings& first = of(ranks.front());
        const std::string fewer =
            fmt::format("{}compile with a smaller training.batch_size, or take a machine with more",
                        many > 1 ? "start fewer ranks on a host, " : "");
        if (first.memory > 0 && many * needs_.allocated > first.memory) {
            const auto [need, there] =
                unlike_bytes_text(double(many * needs_.allocated), double(first.memory));
            found_.push_back({true,
                              fmt::format("{} {} {} of memory to allocate, and the machine has {}",
                                          name(ranks), has(ranks), need, there),
                              fewer});
            return;
        }
        for (const int rank : ranks) {
            const std::int64_t limit = of(rank).group_memory;
            if (limit == 0 || needs_.allocated <= limit) continue;
            const auto [need, granted] = unlike_bytes_text(double(needs_.allocated), double(limit));
            found_.push_back(
                {true,
                 fmt::format("{} has {} of memory to allocate, and its control group grants {}",
                             name({rank}), need, granted),
                 slurm(rank) ? fmt::format("ask Slurm for more: --mem={}M",
                                           many * plan::asked_mebibytes(needs_.memory))
                             : "grant it more, or compile with a smaller training.batch_size"});
            return;
        }
        const auto node = number(ranks.front(), "SLURM_MEM_PER_NODE");
        const auto processor = number(ranks.front(), "SLURM_MEM_PER_CPU");
        const std::int64_t tasks = many * number(ranks.front(), "SLURM_CPUS_PER_TASK").value_or(1);
        const std::int64_t asked = node.value_or(processor.value_or(0) * tasks) << 20;
        if (asked == 0 || many * needs_.memory <= asked) continue;
        const auto [need, granted] = unlike_bytes_text(double(many * needs_.memory), double(asked));
        found_.push_back({false,
                          fmt::format("{} {} {} of memory by the plan, and Slurm was asked for {}",
                                      name(ranks), has(ranks), need, granted),
                          fmt::format("ask for --mem={}M, as `dtnnc slurm` does",
                                      many * plan::asked_mebibytes(needs_.memory))});
        return;
    }
}

/// Groups the ranks of the host whose masks overlap, straight or by those of others.
std::vector<Ranks> Checks::sharing(const Ranks& host) const {
    std::vector<Ranks> groups;
    std::vector<std::set<int>> cores;
    for (const int rank : host) {
        Ranks group = {rank};
        std::set<int> all(of(rank).cores.begin(), of(rank).cores.end());
        for (std::size_t i = groups.size(); i-- > 0;) {
            const bool overlap = std::any_of(cores[i].begin(), cores[i].end(),
                                             [&all](int core) { return all.contains(core); });
            if (!overlap) continue;
            group.insert(group.end(), groups[i].begin(), groups[i].end());
            all.insert(cores[i].begin(), cores[i].end());
            groups.erase(groups.begin() + std::ptrdiff_t(i));
            cores.erase(cores.begin() + std::ptrdiff_t(i));
        }
        std::sort(group.begin(), group.end());
        groups.push_back(std::move(group));
        cores.push_back(std::move(all));
    }
    return groups;
}

std::string Checks::more_cores(const Ranks& ranks, std::size_t cores) const {
    const int rank = ranks.front(), wanted = running(rank);
    const bool bound = int(cores) < of(rank).host_cores;
    if (bound && slurm(rank))
        return fmt::format("start the ranks with srun --cpus-per-task={} --cpu-bind=cores", wanted);
    if (bound && size() > 1)
        return fmt::format("give each rank cores of its own: mpiexec {}{}, or --bind-to none",
                           needs_.mpi->own_cores, wanted);
    if (bound)
        return fmt::format("let it run on more (taskset --cpu-list), or compile with --threads {}",
                           cores);
    const auto each = int(cores / ranks.size());
    std::string less =
        each >= 1 && each < wanted ? fmt::format("compile with --threads {}", each) : "";
    if (ranks.size() == 1) return less;
    return fmt::format("start fewer ranks on a host{}{}", less.empty() ? "" : ", or ", less);
}

bool Checks::cores() {
    Ranks worst;
    std::size_t its_cores = 0;
    int missing = 0;
    for (const auto& [host, ranks] : hosts_) {
        for (const Ranks& group : sharing(ranks)) {
            std::set<int> all;
            for (const int rank : group)
                all.insert(of(rank).cores.begin(), of(rank).cores.end());
            const int without = running(group) - int(all.size());
            if (all.empty() || without <= missing) continue;
            missing = without;
            worst = group;
            its_cores = all.size();
        }
    }
    if (missing == 0) return false;
    const bool together = worst.size() > 1;
    found_.push_back(
        {false,
         fmt::format("{} may run on {}{}{}, and {} {}{}", name(worst),
                     count_text(std::int64_t(its_cores), "core"), together ? " together" : "",
                     needs_.machine_cores > int(its_cores)
                         ? fmt::format(" (a node of the plan's machine `{}` has {})",
                                       needs_.machine, needs_.machine_cores)
                         : "",
                     has(worst), count_text(running(worst), "thread"), together ? " together" : ""),
         more_cores(worst, its_cores)});
    return true;
}

void Checks::granted_processors() {
    for (const auto& [host, ranks] : hosts_) {
        std::map<std::string, Ranks> groups;
        for (const int rank : ranks)
            if (of(rank).group_cores > 0) groups[of(rank).group].push_back(rank);
        for (const auto& [path, group] : groups) {
            const double granted = of(group.front()).group_cores;
            if (running(group) <= granted + 0.01) continue;
            found_.push_back(
                {false,
                 fmt::format("{} {} {}, and the control group {} grants {:.3g} processors",
                             name(group), has(group), count_text(running(group), "thread"), path,
                             granted),
                 fmt::format("grant more, or compile with --threads {}",
                             std::max(1, int(granted / double(group.size()))))});
            return;
        }
    }
    for (int rank = 0; rank < size(); ++rank) {
        const auto asked = number(rank, "SLURM_CPUS_PER_TASK");
        if (!asked || running(rank) <= *asked) continue;
        found_.push_back(
            {false,
             fmt::format("{} has {}, and Slurm was asked for {} of a task", name({rank}),
                         count_text(running(rank), "thread"), count_text(*asked, "processor")),
             fmt::format("ask for --cpus-per-task={}, of sbatch and of srun", running(rank))});
        return;
    }
}

void Checks::threads() {
    for (int rank = 0; rank < size(); ++rank) {
        if (running(rank) >= needs_.threads) continue;
        const auto variable = of(rank).variables.find("OMP_NUM_THREADS");
        found_.push_back(
            {false,
             fmt::format("{} runs with {}{}, and the plan is laid out for {}", name({rank}),
                         count_text(running(rank), "thread"),
                         variable == of(rank).variables.end()
                             ? ""
                             : fmt::format(" by OMP_NUM_THREADS={}", variable->second),
                         needs_.threads),
             fmt::format("unset OMP_NUM_THREADS, or compile with --threads {}", running(rank))});
        break;
    }
    for (int rank = 1; rank < size(); ++rank) {
        if (running(rank) == running(0)) continue;
        found_.push_back(
            {false,
             fmt::format("{} has {}, {} has {}; the slowest rank sets the pace, and "
                         "another division gives other bits",
                         name({rank}), count_text(running(rank), "thread"), name({0}), running(0)),
             "set OMP_NUM_THREADS alike on all hosts, or nowhere"});
        break;
    }
}

void Checks::tasks() {
    const auto asked = number(0, "SLURM_NTASKS");
    if (asked && *asked > 1 && size() == 1 && needs_.shared) {
        found_.push_back({false,
                          fmt::format("Slurm has allocated {} tasks, and this process is the only "
                                      "rank",
                                      *asked),
                          fmt::format("start the ranks with srun --mpi={}", needs_.mpi->srun)});
        return;
    }
    if (asked && size() > *asked) {
        found_.push_back({false,
                          fmt::format("there are {} ranks, and Slurm was asked for {}", size(),
                                      count_text(*asked, "task")),
                          fmt::format("ask for --ntasks={}", size())});
        return;
    }
    for (const auto& [host, ranks] : hosts_) {
        const auto most = number(ranks.front(), "SLURM_NTASKS_PER_NODE");
        if (!most || int(ranks.size()) <= *most) continue;
        found_.push_back({false,
                          fmt::format("{} ranks are on {}, and Slurm was asked for {} a node",
                                      ranks.size(), host, count_text(*most, "task")),
                          fmt::format("ask for --ntasks-per-node={}", ranks.size())});
        return;
    }
}

}  // namespace

Needs needs_of(const plan::Plan& plan, std::vector<int> running) {
    Needs needs;
    needs.threads = plan.target.threads;
    needs.memory = plan::memory_need(plan).host;
    needs.allocated = needs.memory - plan.memory.samples;
    needs.shared = plan.parallel.data;
    needs.machine = plan.machine.name;
    needs.machine_cores = plan.machine.cores;
    needs.running = std::move(running);
    needs.mpi = &likely_mpi();
    return needs;
}

std::vector<Finding> check_start(const Needs& needs, const std::vector<Surroundings>& ranks) {
    return Checks(needs, ranks).all();
}

}  // namespace dtnn::runtime
