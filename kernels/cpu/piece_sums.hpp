#pragma once
/// Sums that are made piece by piece (ThreadTeam::for_sums), added up.

#include <cstdint>

#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Adds to `count` numbers of the first piece those of the others, each `distance` behind those of
/// the piece before, in the order of the pieces.
template <class T>
void add_up_pieces(T* sums, std::int64_t count, std::int64_t pieces, std::int64_t distance,
                   ThreadTeam& team) {
    if (pieces <= 1) return;
    constexpr std::int64_t kWorth = 65536;  ///< additions, of a thread
    const std::int64_t share = kWorth / pieces, grain = share < 64 ? 64 : share / 16 * 16;
    team.for_pieces(count, grain, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t piece = 1; piece < pieces; ++piece) {
            const T* const others = sums + piece * distance;
#pragma GCC ivdep
            for (std::int64_t i = begin; i < end; ++i)
                sums[i] += others[i];
        }
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
