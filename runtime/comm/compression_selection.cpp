#include "runtime/comm/compression_selection.hpp"

#include <array>
#include <utility>

namespace dtnn::runtime {
namespace {

/// The bits of a key, from the highest on, that the rounds look at.
struct Digit {
    int shift;
    int bits;
};
constexpr std::array<Digit, plan::kSelectionRounds> kDigits = {{{23, 8}, {15, 8}, {7, 8}, {0, 7}}};
static_assert((1 << kDigits[0].bits) == plan::kSelectionBins);

}  // namespace

std::int64_t Deal::owned(int rank) const {
    std::int64_t count = 0;
    for_blocks(rank, [&](std::int64_t first, std::int64_t last) { count += last - first; });
    return count;
}

void Selection::count(const float* numbers, std::int64_t count, std::int32_t* bins) const {
    const Digit digit = kDigits[std::size_t(round_)];
    const std::uint32_t mask = (1U << digit.bits) - 1;
    if (round_ == 0) {
        for (std::int64_t i = 0; i < count; ++i)
            ++bins[key_of(numbers[i]) >> digit.shift];
        return;
    }
    const int before = digit.shift + digit.bits;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t key = key_of(numbers[i]);
        if (key >> before == prefix_) ++bins[(key >> digit.shift) & mask];
    }
}

void Selection::narrow(std::span<const std::int32_t> bins) {
    const Digit digit = kDigits[std::size_t(round_)];
    std::uint32_t bin = (1U << digit.bits) - 1;
    while (bin > 0 && left_ > bins[bin])
        left_ -= bins[bin--];
    prefix_ = prefix_ << digit.bits | bin;
    ++round_;
}

Selected count_selected(const Deal& deal, int rank, const float* numbers, std::uint32_t threshold) {
    Selected counts;
    deal.for_blocks(rank, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            counts.above += key_of(numbers[i]) > threshold;
            counts.at += key_of(numbers[i]) == threshold;
        }
    });
    return counts;
}

Entry* take_selected(const Deal& deal, int rank, const float* numbers, std::uint32_t threshold,
                     std::int64_t& at, Entry* to) {
    deal.for_blocks(rank, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const std::uint32_t key = key_of(numbers[i]);
            if (key < threshold || (key == threshold && at == 0)) continue;
            if (key == threshold) --at;
            *to++ = {std::uint32_t(i), numbers[i]};
        }
    });
    return to;
}

void select_own(const Deal& deal, const float* gradient, float* residual, std::int64_t count,
                Entry* entries, std::int64_t* ends, std::int32_t* bins) {
    for (std::int64_t i = 0; i < deal.elements; ++i)
        residual[i] += gradient[i];
    Selection selection(count);
    for (int round = 0; round < plan::kSelectionRounds; ++round) {
        std::fill_n(bins, plan::kSelectionBins, 0);
        selection.count(residual, deal.elements, bins);
        selection.narrow({bins, std::size_t(plan::kSelectionBins)});
    }
    std::int64_t at = selection.at_threshold();
    Entry* to = entries;
    for (int rank = 0; rank < deal.ranks; ++rank) {
        to = take_selected(deal, rank, residual, selection.threshold(), at, to);
        ends[rank] = to - entries;
    }
}

void add_entries(std::span<const Entry> entries, float* sum) {
    for (const Entry& entry : entries)
        sum[entry.index] += entry.value;
}

void take_result(const Deal& deal, std::span<const Entry> result, std::span<const Entry> own,
                 float* data, float* residual) {
    std::fill_n(data, deal.elements, 0.0F);
    for (const Entry& entry : result)
        data[entry.index] = entry.value;
    const auto order = [&](const Entry& entry) {
        return std::pair(deal.owner(entry.index), entry.index);
    };
    auto next = own.begin();
    for (const Entry& entry : result) {
        while (next != own.end() && order(*next) < order(entry))
            ++next;
        if (next != own.end() && next->index == entry.index) residual[entry.index] = 0;
    }
}

}  // namespace dtnn::runtime
