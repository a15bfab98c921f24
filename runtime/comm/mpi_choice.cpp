#include "runtime/comm/mpi_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

constexpr const char* kVariable = "DTNN_MPI";

const MpiFlavour* open_flavour = nullptr;

bool has(const std::vector<Mpi>& list, Mpi mpi) {
    return std::find(list.begin(), list.end(), mpi) != list.end();
}

/// Those that may serve, the likeliest first.
std::vector<Mpi> candidates(const StartedRanks& started) {
    const MpiFlavour* asked = asked_mpi();
    if (asked == nullptr) return started.meets;
    if (!has(started.meets, asked->mpi))
        throw RunError(
            Exit::usage,
            fmt::format("{}={} asks for {}, and {} has started this process, by which its ranks "
                        "cannot meet",
                        kVariable, asked->word, asked->name, started.launcher),
            fmt::format("unset {}, or {}", kVariable, how_to_start_ranks(*asked)));
    return {asked->mpi};
}

}  // namespace

const MpiFlavour* asked_mpi() {
    const char* text = std::getenv(kVariable);
    if (text == nullptr || *text == '\0') return nullptr;
    std::vector<std::string> words;
    for (const MpiFlavour& flavour : mpi_flavours()) {
        if (text == std::string_view(flavour.word)) return &flavour;
        words.emplace_back(flavour.word);
    }
    throw RunError(Exit::usage,
                   fmt::format("{} is `{}`: it is {}", kVariable, text, fmt::join(words, " or ")),
                   "unset it to have the MPI of the launcher, or the one that is there");
}

const MpiFlavour& likely_mpi() {
    if (open_flavour != nullptr) return *open_flavour;
    if (const MpiFlavour* asked = asked_mpi()) return *asked;
    for (const MpiFlavour& flavour : mpi_flavours())
        if (!find_plugin(flavour.library).path.empty()) return flavour;
    return mpi_flavours().front();
}

std::string how_to_build(const MpiFlavour& flavour) {
    return fmt::format("{} and build {} (CMake's DTNN_MPI), or install the package dtnn-{}",
                       flavour.install, flavour.library, flavour.word);
}

Plugin open_mpi(const StartedRanks& started) {
    const std::vector<Mpi> able = candidates(started);
    std::optional<RunError> refused;
    for (const Mpi mpi : able) {
        const MpiFlavour& flavour = flavour_of(mpi);
        Plugin library = open_plugin(flavour.library);
        if (library.handle != nullptr) {
            open_flavour = &flavour;
            return library;
        }
        if (!library.path.empty() && !refused)
            refused.emplace(Exit::failed, library.refused, flavour.install);
    }
    if (refused) throw RunError(*refused);
    const MpiFlavour& wanted = flavour_of(able.front());
    const std::string looked = find_plugin(wanted.library).looked;
    for (const MpiFlavour& other : mpi_flavours()) {
        if (has(started.meets, other.mpi) || find_plugin(other.library).path.empty()) continue;
        throw RunError(
            Exit::usage,
            fmt::format("{} has started this process, and {} is in none of {}; with {}, which is "
                        "there, each rank would be rank 0 of 1",
                        started.launcher, wanted.library, looked, other.library),
            fmt::format("{}; or {}", how_to_start_ranks(other), how_to_build(wanted)));
    }
    throw RunError(
        Exit::failed,
        fmt::format("several ranks were started, but {} is in none of {}", wanted.library, looked),
        how_to_build(wanted));
}

}  // namespace dtnn::runtime
