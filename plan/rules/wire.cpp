#include "plan/rules/wire.hpp"

#include <algorithm>
#include <bit>

namespace dtnn::plan {

namespace {

std::int64_t blocks_of(std::int64_t elements) {
    return elements / kWireBlock + (elements % kWireBlock > 0);
}

/// Bytes that ranks count in to select.
double count_bytes() {
    return double(kSelectionRounds * kSelectionBins) * 4;
}

std::int64_t elements_of(const Collective& collective) {
    return collective.bytes / size_of(collective.dtype);
}

}  // namespace

bool is_wire(const std::string& wire) {
    return wire == "full" || wire == "bf16" || wire == "fp16" || wire == "top_k";
}

std::int64_t wire_scratch_bytes(const std::string& wire, std::int64_t elements, double density) {
    if (wire == "full") return 0;
    if (wire == "top_k")
        return 3 * kEntryBytes * selected_of(elements, density) + 4 * kSelectionBins;
    // Twice the larger half: of two ranks, one has that as its part.
    const std::int64_t half = std::min(elements, (blocks_of(elements) + 1) / 2 * kWireBlock);
    return packed_bytes(wire == "fp16", elements) + 2 * packed_bytes(wire == "fp16", half);
}

bool depends_on_buckets(const Parallel& parallel) {
    return parallel.data && (parallel.wire == "fp16" || parallel.wire == "top_k");
}

double wire_bytes_of(const Collective& collective, int ranks) {
    const std::int64_t elements = elements_of(collective);
    if (collective.wire == "full")
        return exchange_wire_bytes(collective.kind, ranks, collective.bytes);
    if (collective.wire == "top_k")
        return all_reduce_wire_bytes(ranks,
                                     selected_of(elements, collective.density) * kEntryBytes +
                                         static_cast<std::int64_t>(count_bytes()));
    return all_reduce_wire_bytes(ranks, packed_bytes(collective.wire == "fp16", elements));
}

double wire_seconds_of(const Link& link, const Collective& collective, int ranks) {
    if (collective.wire == "full")
        return exchange_seconds(link, collective.kind, ranks, collective.bytes);
    if (ranks < 2) return 0;
    const double bytes = wire_bytes_of(collective, ranks) / link.bandwidth;
    // Every rank sends every other a message, twice; they follow each other without a wait, so that
    // each costs its latency once and then only what its sending does.
    const double rounds = std::bit_width(static_cast<unsigned>(ranks) - 1);
    double latencies = 2 * rounds;
    // All-reduces of counts, then an all-gather of how many each rank has selected.
    if (collective.wire == "top_k") latencies += (2 * kSelectionRounds + 1) * rounds;
    return latencies * link.latency + bytes;
}

}  // namespace dtnn::plan
