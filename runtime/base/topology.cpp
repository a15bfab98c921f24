#include "runtime/base/topology.hpp"

#include <memory>

#if DTNN_HWLOC
#include <hwloc.h>
#endif

namespace dtnn::runtime {

#if DTNN_HWLOC

namespace {

struct Free {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
    void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};

}  // namespace

Topology find_topology() {
    Topology unknown{{}, "hwloc cannot read the machine's topology"};
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0) return unknown;
    const std::unique_ptr<hwloc_topology, Free> topology(made);
    const std::unique_ptr<hwloc_bitmap_s, Free> allowed(hwloc_bitmap_alloc());
    if (hwloc_topology_load(made) != 0 || !allowed ||
        hwloc_get_cpubind(made, allowed.get(), HWLOC_CPUBIND_PROCESS) != 0)
        return unknown;
    Topology found;
    // In hwloc's order neighbours come after each other. Where it knows no cores, each processor is
    // taken for one.
    const hwloc_obj_type_t type =
        hwloc_get_nbobjs_by_type(made, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    const int count = hwloc_get_nbobjs_by_type(made, type);
    for (int i = 0; i < count; ++i) {
        const hwloc_obj* core = hwloc_get_obj_by_type(made, type, unsigned(i));
        std::vector<int> processors;
        for (int p = hwloc_bitmap_first(core->cpuset); p >= 0;
             p = hwloc_bitmap_next(core->cpuset, p))
            if (hwloc_bitmap_isset(allowed.get(), unsigned(p)) != 0) processors.push_back(p);
        if (!processors.empty()) found.cores.push_back(std::move(processors));
    }
    if (found.cores.empty()) return unknown;
    return found;
}

#else

Topology find_topology() {
    return {{}, "this dtnn-run was built without hwloc (Debian: libhwloc-dev)"};
}

#endif

}  // namespace dtnn::runtime
