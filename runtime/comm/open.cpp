#include "runtime/comm/open.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "base/files.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/plugin.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/comm/launcher_abort.hpp"
#include "runtime/comm/mpi/library.hpp"
#include "runtime/comm/mpi_flavour.hpp"
#include "runtime/comm/started_ranks.hpp"

namespace dtnn::runtime {
namespace {

constexpr const char* kLibrary = "libdtnn_mpi.so";

enum class Stage { apart, joined, parted };
Stage stage = Stage::apart;
void (*abort_job)(int) = nullptr;

Plugin load() {
    Plugin plugin = open_plugin(kLibrary);
    if (plugin.handle != nullptr) return plugin;
    if (!plugin.refused.empty())
        throw RunError(Exit::failed, plugin.refused, mpi_flavour().install);
    throw RunError(
        Exit::failed,
        fmt::format("several ranks were started, but {} is in none of {}", kLibrary, plugin.looked),
        fmt::format("{} and build again: the library is built where an MPI is found (DTNN_MPI)",
                    mpi_flavour().install));
}

}  // namespace

std::unique_ptr<Communicator> make_communicator(double seconds) {
    const StartedRanks started = started_ranks();
    if (!started.problem.empty()) throw RunError(Exit::usage, started.problem, started.remedy);
    if (started.ranks == 1) return make_self();
    // MPI's libraries print their warnings to standard output, some as they are loaded.
    if (const int error = keep_answers_apart()) throw system_error("use", "standard output", error);
    const Plugin library = load();
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
