#include "runtime/comm/start_checks.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/base/surroundings.hpp"

namespace start_checks_test {

using namespace dtnn::runtime;

namespace {

constexpr std::int64_t kGiB = 1 << 30;

using Variables = std::map<std::string, std::string>;

Surroundings on(const std::string& host, std::vector<int> cores, Variables variables = {}) {
    Surroundings found;
    found.host = host;
    found.cores = std::move(cores);
    found.host_cores = 8;
    found.memory = 8 * kGiB;
    found.variables = std::move(variables);
    return found;
}

Surroundings granted(Surroundings found, const std::string& group, double cores) {
    found.group = group;
    found.group_cores = cores;
    return found;
}

Surroundings bounded(Surroundings found, std::int64_t memory) {
    found.group_memory = memory;
    return found;
}

Surroundings small(Surroundings found) {
    found.host_cores = int(found.cores.size());
    return found;
}

struct Case {
    std::string name;
    int threads = 1;  ///< of the plan and of each rank
    std::int64_t memory = 0;
    std::vector<Surroundings> ranks;
    std::vector<Finding> expected;
};

const Variables kSlurm = {{"SLURM_JOB_ID", "7"}};

Variables slurm(Variables more) {
    more.insert(kSlurm.begin(), kSlurm.end());
    return more;
}

std::vector<Case> cases() {
    return {
        {"enough", 2, kGiB, {on("a", {0, 1, 2})}, {}},
        {"enough for each", 2, kGiB, {on("a", {0, 1}), on("a", {2, 3}), on("b", {0, 1})}, {}},
        {"enough together", 1, kGiB, {on("a", {0, 1}), on("a", {0, 1})}, {}},
        {"unknown cores are no finding", 4, 0, {on("a", {})}, {}},
        {"one process bound to one core",
         2,
         0,
         {on("a", {3})},
         {{false, "this process may run on 1 core, and has 2 threads",
           "let it run on more (taskset --cpu-list), or compile with --threads 1"}}},
        {"one process on a small machine",
         4,
         0,
         {small(on("a", {0, 1}))},
         {{false, "this process may run on 2 cores, and has 4 threads",
           "compile with --threads 2"}}},
        {"two ranks bound to the same core",
         1,
         0,
         {on("a", {3}), on("a", {3}), on("b", {3})},
         {{false, "ranks 0, 1 (a) may run on 1 core together, and have 2 threads together",
           "give each rank cores of its own: mpiexec --bind-to core:1, or --bind-to none"}}},
        {"masks that overlap by a third one",
         1,
         0,
         {on("a", {0, 1}), on("a", {2}), on("a", {1, 2}), on("a", {2})},
         {{false, "ranks 0, 1, 2, 3 (a) may run on 3 cores together, and have 4 threads together",
           "give each rank cores of its own: mpiexec --bind-to core:1, or --bind-to none"}}},
        {"Slurm binds tasks to one core",
         4,
         0,
         {on("a", {0}, kSlurm), on("a", {1}, kSlurm)},
         {{false, "rank 0 (a) may run on 1 core, and has 4 threads",
           "start the ranks with srun --cpus-per-task=4 --cpu-bind=cores"}}},
        {"too many ranks on a machine",
         2,
         0,
         {small(on("a", {0, 1})), small(on("a", {0, 1}))},
         {{false, "ranks 0, 1 (a) may run on 2 cores together, and have 4 threads together",
           "start fewer ranks on a host, or compile with --threads 1"}}},
        {"the control group of one rank",
         4,
         0,
         {granted(on("a", {0, 1, 2, 3}), "/job", 1.5)},
         {{false, "this process has 4 threads, and the control group /job grants 1.5 processors",
           "grant more, or compile with --threads 1"}}},
        {"ranks of one control group share it",
         2,
         0,
         {granted(on("a", {0, 1}), "/job", 2), granted(on("a", {2, 3}), "/job", 2)},
         {{false, "ranks 0, 1 (a) have 4 threads, and the control group /job grants 2 processors",
           "grant more, or compile with --threads 1"}}},
        {"of two control groups each has its own",
         2,
         0,
         {granted(on("a", {0, 1}), "/one", 2), granted(on("a", {2, 3}), "/two", 2)},
         {}},
        {"Slurm was asked for fewer processors",
         2,
         0,
         {on("a", {0, 1}, slurm({{"SLURM_CPUS_PER_TASK", "1"}}))},
         {{false, "this process has 2 threads, and Slurm was asked for 1 processor of a task",
           "ask for --cpus-per-task=2, of sbatch and of srun"}}},
        {"one process where Slurm has several tasks",
         1,
         0,
         {on("a", {0}, slurm({{"SLURM_NTASKS", "4"}}))},
         {{false, "Slurm has allocated 4 tasks, and this process is the only rank",
           "start the ranks with srun --mpi=pmi2"}}},
        {"more ranks than tasks",
         1,
         0,
         {on("a", {0}, slurm({{"SLURM_NTASKS", "1"}})), on("a", {1})},
         {{false, "there are 2 ranks, and Slurm was asked for 1 task", "ask for --ntasks=2"}}},
        {"more ranks on a node than tasks",
         1,
         0,
         {on("a", {0}, slurm({{"SLURM_NTASKS", "2"}, {"SLURM_NTASKS_PER_NODE", "1"}})),
          on("a", {1}, slurm({{"SLURM_NTASKS_PER_NODE", "1"}}))},
         {{false, "2 ranks are on a, and Slurm was asked for 1 task a node",
           "ask for --ntasks-per-node=2"}}},
        {"Slurm was asked for less memory",
         1,
         kGiB,
         {on("a", {0}, slurm({{"SLURM_MEM_PER_NODE", "1500"}})), on("a", {1})},
         {{false,
           "ranks 0, 1 (a) have 2.00 GiB of memory by the plan, and Slurm was asked for 1.46 GiB",
           "ask for --mem=3072M, as `dtnnc slurm` does"}}},
        {"Slurm was asked for less memory by processor",
         2,
         2 * kGiB,
         {on("a", {0, 1}, slurm({{"SLURM_MEM_PER_CPU", "1000"}, {"SLURM_CPUS_PER_TASK", "2"}}))},
         {{false,
           "this process has 2.00 GiB of memory by the plan, and Slurm was asked for 1.95 GiB",
           "ask for --mem=2560M, as `dtnnc slurm` does"}}},
        {"all memory of a node is none that lacks",
         1,
         kGiB,
         {on("a", {0}, slurm({{"SLURM_MEM_PER_NODE", "0"}}))},
         {}},
        {"the machine has less memory",
         1,
         5 * kGiB,
         {on("b", {0}), on("a", {0}), on("a", {1})},
         {{true,
           "ranks 1, 2 (a) have 10.00 GiB of memory to allocate, and the machine has 8.00 GiB",
           "start fewer ranks on a host, compile with a smaller training.batch_size, or take a "
           "machine with more"}}},
        {"the control group grants less memory",
         1,
         kGiB,
         {on("a", {0}), bounded(on("a", {1}), kGiB / 2)},
         {{true,
           "rank 1 (a) has 1.00 GiB of memory to allocate, and its control group grants 512.00 MiB",
           "grant it more, or compile with a smaller training.batch_size"}}},
    };
}

}  // namespace

TEST_CASE("what is found of facts") {
    for (const Case& one : cases()) {
        CAPTURE(one.name);
        Needs needs;
        needs.threads = one.threads;
        needs.memory = needs.allocated = one.memory;
        needs.shared = true;
        needs.running.assign(one.ranks.size(), one.threads);
        const std::vector<Finding> found = check_start(needs, one.ranks);
        REQUIRE(found.size() == one.expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            CHECK(found[i].refused == one.expected[i].refused);
            CHECK(found[i].fact == one.expected[i].fact);
            CHECK(found[i].remedy == one.expected[i].remedy);
        }
    }
}

TEST_CASE("remedies are words of the MPI by which the ranks meet") {
    Needs needs;
    needs.shared = true;
    needs.mpi = &flavour_of(Mpi::openmpi);
    needs.running = {1, 1};
    const auto bound = check_start(needs, {on("a", {3}), on("a", {3})});
    REQUIRE(bound.size() == 1);
    CHECK(bound[0].remedy ==
          "give each rank cores of its own: mpiexec --bind-to core --map-by slot:PE=1, or "
          "--bind-to none");
    needs.running = {1};
    const auto alone = check_start(needs, {on("a", {3}, {{"SLURM_NTASKS", "2"}})});
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].remedy == "start the ranks with srun --mpi=pmix");
}

TEST_CASE("threads that OMP_NUM_THREADS takes away, and that differ") {
    Needs needs;
    needs.threads = 4;
    needs.running = {4, 2};
    const auto found =
        check_start(needs, {on("a", {0, 1, 2, 3}), on("b", {0, 1}, {{"OMP_NUM_THREADS", "2"}})});
    REQUIRE(found.size() == 2);
    CHECK(found[0].fact ==
          "rank 1 (b) runs with 2 threads by OMP_NUM_THREADS=2, and the plan is laid out for 4");
    CHECK(found[0].remedy == "unset OMP_NUM_THREADS, or compile with --threads 2");
    CHECK(found[1].fact.starts_with("rank 1 (b) has 2 threads, rank 0 (a) has 4; the slowest"));
}

TEST_CASE("the plan's machine is named where its nodes have more cores") {
    Needs needs;
    needs.threads = 2;
    needs.running = {2};
    needs.machine = "big";
    needs.machine_cores = 64;
    const auto found = check_start(needs, {small(on("a", {0}))});
    REQUIRE(found.size() == 1);
    CHECK(found[0].fact ==
          "this process may run on 1 core (a node of the plan's machine `big` has 64), and has 2 "
          "threads");
}

TEST_CASE("facts travel between ranks as they are") {
    Surroundings sent = granted(bounded(on("a", {0, 5}, kSlurm), 77), "/job", 1.5);
    CHECK(surroundings_of(bytes_of(sent)) == sent);
    CHECK(surroundings_of(bytes_of(Surroundings{})) == Surroundings{});
    CHECK(surroundings_of({}) == Surroundings{});
}

TEST_CASE("the facts of this process") {
    const Surroundings found = find_surroundings();
    cpu_set_t set;
    CPU_ZERO(&set);
    REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
    CHECK(int(found.cores.size()) == CPU_COUNT(&set));
    CHECK(found.host_cores >= int(found.cores.size()));
    CHECK(found.memory > 0);
    CHECK_FALSE(found.host.empty());
}

}  // namespace start_checks_test
