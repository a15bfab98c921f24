#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "runtime/base/run_error.hpp"
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
        for (const char* name : {"PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID",
                                 "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS"})
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

TEST_CASE("variables that make no sense start no ranks") {
    for (const char* rank : {"4", "-1", "x", ""}) {
        const Environment environment(Variables{{"PMI_RANK", rank}, {"PMI_SIZE", "4"}});
        CHECK(started_ranks().ranks == 1);
    }
}

TEST_CASE("launchers whose ranks cannot meet are refused") {
    {
        const Environment environment(Variables{{"OMPI_COMM_WORLD_SIZE", "2"}});
        expect_error(Exit::usage, {"Open MPI"}, [] { make_communicator(); });
    }
    {
        const Environment environment(
            Variables{{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}});
        expect_error(Exit::usage, {"--mpi=pmi2"}, [] { make_communicator(); });
    }
    {
        // A batch script of a job of two tasks is not one of them.
        const Environment environment(Variables{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}});
        CHECK(make_communicator()->ranks() == 1);
    }
}

}  // namespace starting_test
