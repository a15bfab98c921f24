#pragma once
/// Which processor each thread of a rank stays on. Decides only: nothing is read from the system
/// here, and nothing bound.

#include <string>
#include <vector>

#include "runtime/base/surroundings.hpp"
#include "runtime/base/topology.hpp"

namespace dtnn::runtime {

struct Pinning {
    std::vector<int> processors;  ///< by thread; empty: threads stay where the system puts them
    std::string problem;          ///< why there are none, in lower case
    bool operator==(const Pinning&) const = default;
};

/// For rank `rank`, whose machine is `topology`. Ranks of a host with the same mask take its cores
/// after each other, in their order. A thread gets a core of its own; the second processors of
/// cores are taken where there are fewer cores than threads. `ranks` and `threads` are by rank.
Pinning choose_processors(const Topology& topology, const std::vector<Surroundings>& ranks,
                          const std::vector<int>& threads, std::size_t rank);

}  // namespace dtnn::runtime
