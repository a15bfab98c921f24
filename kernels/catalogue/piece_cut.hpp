#pragma once
/// How a kernel's work is cut along two axes into pieces for threads.

#include <cstdint>

#include "kernels/thread_team.hpp"

namespace dtnn::kernels {

/// Sets `slices` and `parts` to the cut of least cost, of all whose pieces are as many for every
/// thread and at most ThreadTeam::kPieces for each. cost(slices, parts, pieces of a thread) is
/// negative where a cut cannot be; where none can, they are left.
template <class Cost>
void choose_cut(int threads, const Cost& cost, std::int64_t& slices, std::int64_t& parts) {
    double least = -1;
    const auto consider = [&](std::int64_t s, std::int64_t p, std::int64_t each) {
        const double found = cost(s, p, each);
        if (found < 0 || (least >= 0 && found >= least)) return;
        least = found, slices = s, parts = p;
    };
    for (std::int64_t each = 1; each <= ThreadTeam::kPieces; ++each) {
        const std::int64_t pieces = each * threads;
        for (std::int64_t divisor = 1; divisor * divisor <= pieces; ++divisor) {
            if (pieces % divisor != 0) continue;
            consider(pieces / divisor, divisor, each);
            consider(divisor, pieces / divisor, each);
        }
    }
}

}  // namespace dtnn::kernels
