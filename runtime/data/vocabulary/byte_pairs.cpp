#include "runtime/data/vocabulary/byte_pairs.hpp"

#include <cstddef>
#include <queue>
#include <tuple>

namespace dtnn::runtime {
namespace {

/// A token of a piece, with the places of its neighbours; -1: none.
struct Link {
    std::int32_t token;
    std::ptrdiff_t before, after;
};

/// What two neighbours would become. It is out of date once one of them has become another.
struct Candidate {
    std::int32_t rank;
    std::ptrdiff_t place;  ///< of the left one
    std::int32_t left, right, made;

    bool operator>(const Candidate& other) const {
        return std::tie(rank, place) > std::tie(other.rank, other.place);
    }
};

}  // namespace

void BytePairs::merge(std::vector<std::int32_t>& tokens) const {
    std::vector<Link> links(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i)
        links[i] = {tokens[i], std::ptrdiff_t(i) - 1,
                    i + 1 < tokens.size() ? std::ptrdiff_t(i) + 1 : -1};
    const auto at = [&](std::ptrdiff_t place) -> Link& { return links[std::size_t(place)]; };
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
    const auto consider = [&](std::ptrdiff_t place) {
        if (place < 0 || at(place).after < 0) return;
        const std::int32_t left = at(place).token, right = at(at(place).after).token;
        if (const Merge* merge = find(left, right))
            candidates.push({merge->rank, place, left, right, merge->made});
    };
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
        consider(std::ptrdiff_t(i));
    while (!candidates.empty()) {
        const Candidate best = candidates.top();
        candidates.pop();
        Link& left = at(best.place);
        if (left.token != best.left || left.after < 0 || at(left.after).token != best.right)
            continue;
        Link& right = at(left.after);
        left.token = best.made;
        right.token = -1;
        left.after = right.after;
        if (left.after >= 0) at(left.after).before = best.place;
        consider(left.before);
        consider(best.place);
    }
    tokens.clear();
    for (const Link& link : links)
        if (link.token >= 0) tokens.push_back(link.token);
}

}  // namespace dtnn::runtime
