#include "plan/rules/compression.hpp"

#include <algorithm>
#include <bit>

namespace dtnn::plan {

namespace {

std::int64_t blocks_of(std::int64_t elements) {
    return elements / kCompressionBlock + (elements % kCompressionBlock > 0);
}

/// Bytes that ranks count in to select.
double count_bytes() {
    return double(kSelectionRounds * kSelectionBins) * 4;
}

std::int64_t elements_of(const Collective& collective) {
    return collective.bytes / size_of(collective.dtype);
}

}  // namespace

std::int64_t compression_scratch_bytes(Compression compression, std::int64_t elements,
                                       double density) {
    if (compression == Compression::full) return 0;
    if (compression == Compression::top_k)
        return 3 * kEntryBytes * selected_of(elements, density) + 4 * kSelectionBins;
    // Twice the larger half: of two ranks, one has that as its part.
    const std::int64_t half = std::min(elements, (blocks_of(elements) + 1) / 2 * kCompressionBlock);
    const bool fp16 = compression == Compression::fp16;
    return packed_bytes(fp16, elements) + 2 * packed_bytes(fp16, half);
}

bool depends_on_buckets(const Parallel& parallel) {
    return parallel.data && (parallel.compression == Compression::fp16 ||
                             parallel.compression == Compression::top_k);
}

double wire_bytes_of(const Collective& collective, int ranks) {
    const std::int64_t elements = elements_of(collective);
    if (collective.compression == Compression::full)
        return exchange_wire_bytes(collective.kind, ranks, collective.bytes);
    if (collective.compression == Compression::top_k)
        return all_reduce_wire_bytes(
            ranks,
            selected_of(elements, collective.density) * kEntryBytes + std::int64_t(count_bytes()));
    return all_reduce_wire_bytes(
        ranks, packed_bytes(collective.compression == Compression::fp16, elements));
}

double wire_seconds_of(const Link& link, const Collective& collective, int ranks) {
    if (collective.compression == Compression::full)
        return exchange_seconds(link, collective.kind, ranks, collective.bytes);
    if (ranks < 2) return 0;
    const double bytes = wire_bytes_of(collective, ranks) / link.bandwidth;
    // Every rank sends every other a message, twice, one after the other: each costs its latency,
    // as in an all-to-all by pairs (Thakur, Rabenseifner, Gropp 2005, 4.3).
    const double rounds = std::bit_width(unsigned(ranks) - 1);
    double latencies = 2.0 * (ranks - 1);
    // All-reduces of counts, then an all-gather of how many each rank has selected.
    if (collective.compression == Compression::top_k)
        latencies += (2 * kSelectionRounds + 1) * rounds;
    return latencies * link.latency + bytes;
}

}  // namespace dtnn::plan
