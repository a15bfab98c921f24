#include "runtime/comm/pinning.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace dtnn::runtime {
namespace {

bool overlap(std::vector<int> a, std::vector<int> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<int> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return !both.empty();
}

/// One processor of every core, then another of every core that has one, and so on.
std::vector<int> in_order(const std::vector<std::vector<int>>& cores) {
    std::vector<int> order;
    for (std::size_t i = 0, before = 0; i == 0 || order.size() > before; ++i) {
        before = order.size();
        for (const std::vector<int>& core : cores)
            if (i < core.size()) order.push_back(core[i]);
    }
    return order;
}

}  // namespace

Pinning choose_processors(const Topology& topology, const std::vector<Surroundings>& ranks,
                          const std::vector<int>& threads, std::size_t rank) {
    if (!topology.problem.empty()) return {{}, topology.problem};
    const Surroundings& mine = ranks[rank];
    std::size_t first = 0, all = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i].host != mine.host) continue;
        if (ranks[i].cores != mine.cores) {
            if (!overlap(ranks[i].cores, mine.cores)) continue;
            return {{},
                    fmt::format("the processors of ranks {} and {} on {} are the same in part",
                                std::min(i, rank), std::max(i, rank), mine.host)};
        }
        if (i < rank) first += std::size_t(threads[i]);
        all += std::size_t(threads[i]);
    }
    const std::vector<int> order = in_order(topology.cores);
    if (all > order.size()) {
        return {{},
                fmt::format("{} threads share {} on {}", all,
                            count_text(std::int64_t(order.size()), "processor"), mine.host)};
    }
    const auto begin = order.begin() + std::ptrdiff_t(first);
    return {{begin, begin + threads[rank]}, ""};
}

}  // namespace dtnn::runtime
