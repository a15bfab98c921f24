#pragma once
/// The time of an exchange between ranks: the alpha-beta model of a network. A message of b bytes
/// takes alpha + b * beta seconds.

#include <cstdint>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// The network of a machine that says nothing about it: 10 Gbit/s Ethernet.
inline constexpr double kUnknownLatency = 20e-6;     ///< seconds
inline constexpr double kUnknownBandwidth = 1.25e9;  ///< bytes/s

struct Link {
    double latency = kUnknownLatency;      ///< seconds, alpha
    double bandwidth = kUnknownBandwidth;  ///< bytes/s, 1/beta
};
/// Between nodes; between ranks of one node where nothing is known about that; unknown when that is
/// not known either. Latency and bandwidth each for itself.
Link link_of(const Machine& machine);

/// The time of an all-reduce of so many bytes over the ranks: 2 ceil(log2 ranks) alpha +
/// 2 (ranks - 1)/ranks bytes beta; 0 for one rank. Reduce-scatter by recursive halving and
/// all-gather by recursive doubling (Rabenseifner); what MPICH does with long messages. The
/// arithmetic is left out. Thakur, Rabenseifner, Gropp, "Optimization of collective communication
/// operations in MPICH", 2005, 4.5.
double all_reduce_seconds(const Link& link, int ranks, std::int64_t bytes);

/// The bytes that each rank sends in it (and receives): 2 (ranks - 1)/ranks bytes.
double all_reduce_wire_bytes(int ranks, std::int64_t bytes);

/// The same of an exchange of that kind of plan::Collective: reduce-scatter and all-gather are each
/// a half of an all-reduce.
double exchange_seconds(const Link& link, CollectiveKind kind, int ranks, std::int64_t bytes);
double exchange_wire_bytes(CollectiveKind kind, int ranks, std::int64_t bytes);

/// The most bytes of gradients in one exchange, of `gradients` bytes in all. So many that the
/// latency is a twentieth of the transfer (alpha / 0.05 / beta), because smaller buckets cost more
/// than they hide; a quarter of all gradients at most, so that there is something to overlap; but
/// not less than kLeastBucketBytes. Independent of the number of ranks: both sides of the
/// comparison grow with it, the latency as its logarithm.
std::int64_t bucket_bytes(const Link& link, std::int64_t gradients);
inline constexpr std::int64_t kLeastBucketBytes = std::int64_t{256} << 10;

}  // namespace dtnn::plan
