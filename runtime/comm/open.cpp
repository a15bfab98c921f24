#include "runtime/comm/open.hpp"

#include <unistd.h>

#include "base/files.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/plugin.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/launcher_abort.hpp"
#include "runtime/comm/mpi/library.hpp"
#include "runtime/comm/mpi_choice.hpp"
#include "runtime/comm/started_ranks.hpp"

namespace dtnn::runtime {
namespace {

enum class Stage { apart, joined, parted };
Stage stage = Stage::apart;
void (*abort_job)(int) = nullptr;

}  // namespace

std::unique_ptr<Communicator> make_communicator(double seconds) {
    const StartedRanks started = started_ranks();
    if (!started.problem.empty())
        throw RunError(Exit::usage, started.problem, how_to_start_ranks(likely_mpi()));
    if (started.ranks == 1) return make_self();
    // MPI's libraries print their warnings to standard output, some as they are loaded.
    if (const int error = keep_answers_apart()) throw system_error("use", "standard output", error);
    const Plugin library = open_mpi(started);
    check_plugin(library, mpi::kVersionEntry, mpi::kVersion);
    const auto open = plugin_function<Communicator*(double, void (*)())>(library, mpi::kOpenEntry);
    abort_job = plugin_function<void(int)>(library, mpi::kAbortEntry);
    stage = Stage::joined;
    return std::unique_ptr<Communicator>(open(seconds, [] { stage = Stage::parted; }));
}

void end_job(int code) {
    if (started_ranks().ranks == 1 || stage == Stage::parted) return;
    if (stage == Stage::joined && abort_job != nullptr) {
        let_output_pass();
        abort_job(code);
    }
    abort_by_launcher(code);
}

}  // namespace dtnn::runtime
