#include "runtime/comm/missing_ranks.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace dtnn::runtime {
namespace {

/// Never 0. All ranks run the same program, and so hash alike.
std::uint64_t hash_of(std::string_view text) {
    return std::hash<std::string_view>()(text) | 1U;
}

}  // namespace

void Begun::add(const Position& position) {
    entries_[std::size_t(position.number) % entries_.size()] = {position.number,
                                                                hash_of(position.what)};
}

std::uint64_t Begun::at(std::int64_t number) const {
    const Entry& entry = entries_[std::size_t(number) % entries_.size()];
    return entry.number == number ? entry.hash : 0;
}

Missing find_missing(int rank, const Standing& mine, std::uint64_t begun,
                     const std::vector<Standing>& standings) {
    Missing missing;
    const auto of = [&](int other) -> const Standing& { return standings[std::size_t(other)]; };
    const auto silent = [&](int other) { return of(other).newest.number < 0; };
    const auto look_at = [&](int other, std::int64_t number) {
        if (other == rank) return;
        if (silent(other)) {
            missing.silent.push_back(other);
        } else if (of(other).newest.number < number) {
            missing.behind.push_back(other);
        } else if (number == mine.waits_in && of(other).begun != 0 && of(other).begun != begun) {
            missing.other.push_back(other);
        }
    };
    if (mine.waits_for >= 0) {
        look_at(mine.waits_for, mine.waits_in);
        // It has come to the operation, and waits for another one itself.
        if (missing.silent.empty() && missing.behind.empty() && missing.other.empty() &&
            of(mine.waits_for).waits_for != rank)
            missing.behind.push_back(mine.waits_for);
    } else {
        for (int other = 0; other < int(standings.size()); ++other)
            look_at(other, mine.waits_in);
    }
    // A rank that is behind because it waits is not missing: those that it waits for are.
    std::vector<bool> seen(standings.size(), false);
    std::vector<int> unseen = missing.behind, causes;
    while (!unseen.empty()) {
        const int one = unseen.back();
        unseen.pop_back();
        if (seen[std::size_t(one)] || one == rank) continue;
        seen[std::size_t(one)] = true;
        if (silent(one)) {
            missing.silent.push_back(one);
        } else if (of(one).waits_for >= 0) {
            unseen.push_back(of(one).waits_for);
        } else if (of(one).waits_for == kAll) {
            for (int other = 0; other < int(standings.size()); ++other)
                if (other != rank && (silent(other) || of(other).newest.number < of(one).waits_in))
                    unseen.push_back(other);
        } else {
            causes.push_back(one);
        }
    }
    // Ranks that wait for each other, all of them.
    if (!causes.empty() || !missing.silent.empty()) missing.behind = causes;
    for (std::vector<int>* list : {&missing.silent, &missing.behind, &missing.other}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    return missing;
}

}  // namespace dtnn::runtime
