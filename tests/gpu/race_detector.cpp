#include "tests/gpu/race_detector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dtnn::runtime::cuda {
namespace {

bool conflict(const Access& a, const Access& b) {
    if (!a.writes && !b.writes) return false;
    return a.first < b.first + b.bytes && b.first < a.first + a.bytes;
}

}  // namespace

void Clock::advance(std::size_t stream) {
    if (stream >= counts_.size()) counts_.resize(stream + 1);
    ++counts_[stream];
}

void Clock::join(const Clock& other) {
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i)
        counts_[i] = std::max(counts_[i], other.counts_[i]);
}

std::string RaceDetector::add(std::size_t stream, const Clock& clock, std::string name,
                              std::vector<Access> accesses) {
    std::string race;
    for (std::size_t other = 0; other < streams_.size() && race.empty(); ++other) {
        if (other == stream) continue;
        for (const Operation& before : streams_[other]) {
            if (before.number <= clock.of(other)) continue;
            const bool met = std::any_of(accesses.begin(), accesses.end(), [&](const Access& mine) {
                return std::any_of(before.accesses.begin(), before.accesses.end(),
                                   [&](const Access& its) { return conflict(mine, its); });
            });
            if (!met) continue;
            race = fmt::format(
                "{} on stream {} and {} on stream {} use the same bytes, and nothing "
                "puts one before the other",
                before.name, other, name, stream);
            break;
        }
    }
    if (stream >= streams_.size()) streams_.resize(stream + 1);
    streams_[stream].push_back({clock.of(stream), std::move(name), std::move(accesses)});
    return race;
}

void RaceDetector::forget(const Clock& done) {
    for (std::size_t stream = 0; stream < streams_.size(); ++stream)
        std::erase_if(streams_[stream], [&](const Operation& operation) {
            return operation.number <= done.of(stream);
        });
}

}  // namespace dtnn::runtime::cuda
