#include "plan/rules/exchange_model.hpp"

#include <algorithm>
#include <bit>

namespace dtnn::plan {

Link link_of(const Machine& machine) {
    const auto known = [](double network, double local, double unknown) {
        return network > 0 ? network : local > 0 ? local : unknown;
    };
    return {known(machine.network_latency, machine.local_latency, kUnknownLatency),
            known(machine.network_bandwidth, machine.local_bandwidth, kUnknownBandwidth)};
}

double all_reduce_seconds(const Link& link, int ranks, std::int64_t bytes) {
    if (ranks < 2) return 0;
    const int rounds = std::bit_width(unsigned(ranks) - 1);  // ceil(log2 ranks)
    return 2 * rounds * link.latency + all_reduce_wire_bytes(ranks, bytes) / link.bandwidth;
}

double all_reduce_wire_bytes(int ranks, std::int64_t bytes) {
    return 2 * (1 - 1.0 / std::max(ranks, 1)) * double(bytes);
}

namespace {

double share_of_all_reduce(CollectiveKind kind) {
    return kind == CollectiveKind::all_reduce ? 1 : 0.5;
}

}  // namespace

double exchange_seconds(const Link& link, CollectiveKind kind, int ranks, std::int64_t bytes) {
    return share_of_all_reduce(kind) * all_reduce_seconds(link, ranks, bytes);
}

double exchange_wire_bytes(CollectiveKind kind, int ranks, std::int64_t bytes) {
    return share_of_all_reduce(kind) * all_reduce_wire_bytes(ranks, bytes);
}

std::int64_t bucket_bytes(const Link& link, std::int64_t gradients) {
    const double wanted = link.latency / 0.05 * link.bandwidth;
    const double most = double(gradients) / 4;
    return std::max(kLeastBucketBytes, std::int64_t(std::min(wanted, most)));
}

}  // namespace dtnn::plan
