#include "tools/dtnnc/draw/graph_columns.hpp"

#include <algorithm>
#include <cmath>

namespace dtnn::tools {

std::set<Ends> column_breaks(const std::vector<Ends>& arrows,
                             const std::vector<std::string>& blocks) {
    // Up to so many nodes one under the other fit a page; a column is about six times as wide as a
    // node is high, so that so many columns make a picture about as wide as it is high.
    constexpr std::size_t kShort = 20;
    constexpr double kRowsPerColumn = 6;
    const std::size_t nodes = blocks.size();
    std::vector<std::size_t> rank(nodes);
    // By node: the first and the last of the nodes from which arrows lead across its upper edge.
    std::vector<std::size_t> first(nodes, nodes), last(nodes, 0);
    std::vector<Ends> sorted = arrows;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [from, to] : sorted) {
        if (from >= to || to >= nodes) return {};
        rank[to] = std::max(rank[to], rank[from] + 1);
        for (std::size_t i = from + 1; i <= to; ++i) {
            first[i] = std::min(first[i], from);
            last[i] = std::max(last[i], from);
        }
    }
    const std::size_t rows = rank.empty() ? 0 : *std::max_element(rank.begin(), rank.end()) + 1;
    if (rows <= kShort) return {};
    const double columns = std::max(2.0, std::round(std::sqrt(double(rows) / kRowsPerColumn)));
    const auto height = std::size_t(std::ceil(double(rows) / columns));

    std::set<Ends> breaks;
    std::size_t top = 0;
    for (std::size_t i = 1; i < nodes; ++i) {
        if (rank[i] < top + height || first[i] != last[i]) continue;
        const std::size_t from = first[i];
        if (from >= nodes || (!blocks[from].empty() && blocks[from] == blocks[i])) continue;
        // A column of a few nodes is none.
        if (rows - rank[i] < height / 3) break;
        for (const Ends& arrow : sorted)
            if (arrow.first == from && arrow.second >= i) breaks.insert(arrow);
        top = rank[i];
    }
    return breaks;
}

std::vector<Ends> column_order(const std::set<Ends>& breaks) {
    std::vector<std::size_t> before = {0}, heads;
    std::vector<Ends> order;
    const auto join = [&] {
        for (const std::size_t from : before)
            for (const std::size_t to : heads)
                order.emplace_back(from, to);
        before = std::move(heads);
        heads.clear();
    };
    std::size_t foot = 0;
    for (const Ends& arrow : breaks) {
        if (arrow.first != foot && !heads.empty()) join();
        foot = arrow.first;
        heads.push_back(arrow.second);
    }
    join();
    return order;
}

}  // namespace dtnn::tools
