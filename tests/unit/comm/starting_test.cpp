#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/run_error.hpp"
#include "runtime/comm/mpi_choice.hpp"
#include "runtime/comm/mpi_flavour.hpp"
#include "runtime/comm/open.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "tests/unit/runtime/expect_error.hpp"

namespace starting_test {

using namespace dtnn::runtime;

namespace {

using Variables = std::map<std::string, std::string>;

/// The variables that launchers set, these only, for as long as this lives.
class Environment {
  public:
    explicit Environment(const Variables& values) {
        for (const char* name :
             {"PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
              "PMIX_NAMESPACE", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "SLURM_PROCID",
              "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "MPI_LOCALRANKID",
              "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "HYDI_CONTROL_FD", "DTNN_MPI"})
            unsetenv(name);
        for (const auto& [name, value] : values)
            setenv(name.c_str(), value.c_str(), 1);
        names_ = values;
    }
    ~Environment() {
        for (const auto& [name, value] : names_)
            unsetenv(name.c_str());
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    Variables names_;
};

}  // namespace

TEST_CASE("a process by itself is one rank") {
    const Environment environment(Variables{});
    CHECK(started_ranks().ranks == 1);
    CHECK(started_name().empty());
    CHECK(make_communicator()->ranks() == 1);
    end_job(1);
}

TEST_CASE("ranks are known by the launcher's variables") {
    const Environment environment(Variables{{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}});
    CHECK(started_ranks().rank == 3);
    CHECK(started_ranks().ranks == 4);
    CHECK(started_name().rfind("rank 3 (", 0) == 0);
}

TEST_CASE("a rank's number on its machine is the launcher's") {
    {
        const Environment environment(Variables{});
        CHECK(local_rank() == 0);
    }
    for (const char* variable :
         {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}) {
        const Environment environment(Variables{{variable, "3"}});
        CHECK(local_rank() == 3);
    }
}

TEST_CASE("variables that make no sense are refused") {
    for (const char* rank : {"4", "-1", "x", ""}) {
        const Environment environment(Variables{{"PMI_RANK", rank}, {"PMI_SIZE", "4"}});
        CHECK(started_ranks().ranks == 1);
        expect_error(Exit::usage, {"PMI_SIZE=4"}, [] { make_communicator(); });
    }
}

TEST_CASE("ranks of srun by PMIx are known by Slurm's number of tasks") {
    const Variables task = {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "slurm.pmix.7.0"}};
    {
        Variables step = task;
        step.insert({"SLURM_STEP_NUM_TASKS", "2"});
        const Environment environment(step);
        CHECK(started_ranks().rank == 1);
        CHECK(started_ranks().ranks == 2);
        CHECK(started_ranks().launcher == "srun by PMIx");
    }
    {
        const Environment environment(Variables{{"PMIX_RANK", "0"},
                                                {"PMIX_NAMESPACE", "slurm.pmix.7.0"},
                                                {"SLURM_STEP_NUM_TASKS", "1"}});
        CHECK(started_ranks().ranks == 1);
        CHECK(make_communicator()->ranks() == 1);
    }
}

TEST_CASE("whose ranks can meet depends on the launcher") {
    const Variables hydra = {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"HYDI_CONTROL_FD", "7"}};
    const Variables slurm = {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"SLURM_STEP_NUM_TASKS", "2"}};
    // In a step of one task.
    const Variables open_mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                                {"OMPI_COMM_WORLD_SIZE", "2"},
                                {"PMIX_RANK", "1"},
                                {"PMI_RANK", "0"},
                                {"PMI_SIZE", "1"}};
    const Variables pmix = {
        {"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "slurm.pmix.7.0"}, {"SLURM_STEP_NUM_TASKS", "2"}};
    using Meets = std::vector<Mpi>;
    for (const auto& [variables, meets] :
         {std::pair(hydra, Meets{Mpi::mpich}), std::pair(slurm, Meets{Mpi::mpich, Mpi::openmpi}),
          std::pair(open_mpi, Meets{Mpi::openmpi}),
          std::pair(pmix, Meets{Mpi::openmpi, Mpi::mpich})}) {
        const Environment environment(variables);
        CHECK(started_ranks().rank == 1);
        CHECK(started_ranks().ranks == 2);
        CHECK(started_ranks().meets == meets);
    }
}

TEST_CASE("an MPI that is asked for and does not meet by the launcher is refused") {
    Variables variables = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
    variables["DTNN_MPI"] = "mpich";
    const Environment environment(variables);
    CHECK(likely_mpi().mpi == Mpi::mpich);
    expect_error(Exit::usage, {"DTNN_MPI=mpich", "Open MPI's mpiexec"},
                 [] { make_communicator(); });
}

TEST_CASE("DTNN_MPI is the word of an MPI") {
    const Environment environment(Variables{{"DTNN_MPI", "lam"}});
    expect_error(Exit::usage, {"DTNN_MPI is `lam`", "mpich or openmpi"}, [] { asked_mpi(); });
}

TEST_CASE("an mpiexec is known by what it says of its version") {
    CHECK(flavour_of_launcher("mpiexec (OpenRTE) 4.1.4\n").mpi == Mpi::openmpi);
    CHECK(flavour_of_launcher("mpirun (Open MPI) 5.0.3\n").mpi == Mpi::openmpi);
    CHECK(flavour_of_launcher("HYDRA build details:\n").mpi == Mpi::mpich);
    CHECK(flavour_of_launcher("Intel(R) MPI Library for Linux* OS").mpi == Mpi::mpich);
}

TEST_CASE("flavours are found by what they are") {
    for (const MpiFlavour& flavour : mpi_flavours())
        CHECK(&flavour_of(flavour.mpi) == &flavour);
}

TEST_CASE("launchers whose ranks cannot meet, or do not say how many they are, are refused") {
    {
        // A PMIx server that is not Slurm's has set it, even in a batch script of one task.
        const Environment environment(Variables{{"PMIX_RANK", "0"},
                                                {"PMIX_NAMESPACE", "prterun-node1-42@1"},
                                                {"SLURM_STEP_NUM_TASKS", "1"}});
        expect_error(Exit::usage, {"PMIX_RANK=0", "not of how many"}, [] { make_communicator(); });
    }
    {
        const Environment environment(
            Variables{{"JSM_NAMESPACE_RANK", "0"}, {"JSM_NAMESPACE_SIZE", "2"}});
        expect_error(Exit::usage, {"jsrun"}, [] { make_communicator(); });
    }
    {
        const Environment environment(
            Variables{{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}});
        expect_error(Exit::usage, {"--mpi=pmi"}, [] { make_communicator(); });
    }
    {
        // A batch script of a job of two tasks is not one of them.
        const Environment environment(Variables{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}});
        CHECK(make_communicator()->ranks() == 1);
    }
}

}  // namespace starting_test
