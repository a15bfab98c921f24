#include "runtime/comm/open.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.hpp"
#include "runtime/base/files.hpp"
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

std::filesystem::path program_folder() {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// The loaded library, which stays loaded to the end: MPI leaves handlers behind.
void* load() {
    std::string looked;
    for (const char* folder : {".", "../lib", "../" DTNN_LIBRARY_FOLDER}) {
        const std::filesystem::path path =
            (program_folder() / folder / kLibrary).lexically_normal();
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored)) {
            looked += (looked.empty() ? "" : ", ") + path.parent_path().string();
            continue;
        }
        if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
        throw RunError(Exit::failed, fmt::format("cannot load {}: {}", path.string(), dlerror()),
                       mpi_flavour().install);
    }
    throw RunError(
        Exit::failed,
        fmt::format("several ranks were started, but {} is in none of {}", kLibrary, looked),
        fmt::format("{} and build again: the library is built where an MPI is found (DTNN_MPI)",
                    mpi_flavour().install));
}

template <typename Function>
Function* entry(void* library, const char* name) {
    if (void* found = dlsym(library, name)) return reinterpret_cast<Function*>(found);
    throw RunError(Exit::failed, fmt::format("{} has no {}", kLibrary, name),
                   "program and library are of different builds: install them together");
}

}  // namespace

std::unique_ptr<Communicator> make_communicator(double seconds) {
    const StartedRanks started = started_ranks();
    if (!started.problem.empty()) throw RunError(Exit::usage, started.problem, started.remedy);
    if (started.ranks == 1) return make_self();
    // MPI's libraries print their warnings to standard output, some as they are loaded.
    if (const int error = keep_answers_apart()) throw system_error("use", "standard output", error);
    void* library = load();
    const int version = entry<int()>(library, mpi::kVersionEntry)();
    if (version != mpi::kVersion)
        throw RunError(Exit::failed,
                       fmt::format("{} has version {} of the interface, this program {}", kLibrary,
                                   version, mpi::kVersion),
                       "program and library are of different builds: install them together");
    const auto open = entry<Communicator*(double, void (*)())>(library, mpi::kOpenEntry);
    abort_job = entry<void(int)>(library, mpi::kAbortEntry);
    stage = Stage::joined;
    return std::unique_ptr<Communicator>(open(seconds, [] { stage = Stage::parted; }));
}

void end_job(int code) {
    if (started_ranks().ranks == 1 || stage == Stage::parted) return;
    if (stage == Stage::joined && abort_job != nullptr) {
        let_output_pass();
        abort_job(code);
    } else {
        abort_by_launcher(code);
    }
}

}  // namespace dtnn::runtime
