#pragma once
/// The CUDA API played by the host: our own kernels run as loops, the reference answers for cuDNN
/// and cuBLAS (kernels/cuda), through the same device layer as on a device.
///
/// - Work is done as late as it may be: when the host waits for it, and then only what that needs,
///   streams against each other in an order of its own. Whoever reads or writes too early gets
///   NaN.
/// - Memory of the device can be touched by work alone; any other access ends the program.
/// - Every read and write of a stream is compared with those of other streams that no event puts
///   before it or behind it: what overlaps, and is written by one of them, is a race.
/// - The rules of graph capture are those of CUDA: nothing is allocated, released or waited for by
///   the host; events of before are not waited for; what was forked is joined.
/// - Calls can be made to fail, and waits to be left out.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/cuda/api.hpp"
#include "tests/gpu/host_network.hpp"

namespace dtnn::runtime::cuda {

/// The faults that are to happen, by the number of the call, from 0; -1: none.
struct HostFaults {
    std::int64_t failing_call = -1;  ///< of all calls
    std::int64_t lost_wait = -1;     ///< of those of wait(); does nothing
};

/// The record of what was seen; it outlives the API.
struct HostReport {
    std::vector<std::string> findings;  ///< races, broken rules, and at the end what was kept
    std::vector<std::string> calls;     ///< all, by name
    std::int64_t waits = 0;
    std::int64_t kernels = 0;          ///< that were done
    std::int64_t launches = 0;         ///< of graphs
    std::int64_t kernel_launches = 0;  ///< that kernels put on a stream, or captured
    std::int64_t exchanges = 0;        ///< that were put on a stream, or captured
    int ids = 0;
};

/// The network is for runs of several ranks.
std::unique_ptr<Api> make_host_api(HostReport& report, const HostFaults& faults = {},
                                   std::shared_ptr<HostNetwork> network = nullptr);

}  // namespace dtnn::runtime::cuda
