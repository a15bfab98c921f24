#pragma once
/// How the processors of a machine lie, as hwloc finds it.

#include <string>
#include <vector>

namespace dtnn::runtime {

/// The processors of each core that this process may run on, as the system numbers them; cores that
/// share caches and memory are beside each other.
struct Topology {
    std::vector<std::vector<int>> cores;
    std::string problem;  ///< why there are none; empty: there are
};

/// Takes milliseconds, tens on large machines.
Topology find_topology();

}  // namespace dtnn::runtime
