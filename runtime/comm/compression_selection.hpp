#pragma once
/// top_k: which numbers travel, and what is kept of those that do not (error feedback).
///
/// In every exchange a rank adds its gradients to what it still owes (the residual) and sends the k
/// largest. Whoever owns their places adds up what comes in the order of the ranks; the k largest
/// of all sums are the result, on all ranks; everything else is zero. A rank owes what it has not
/// sent, and what it has sent that is not in the result. So nothing is lost: the result and all
/// ranks' residuals add up to their gradients and the residuals before.
///
/// After Li and Hoefler, "Near-optimal sparse allreduce for distributed deep learning" (Ok-Topk),
/// PPoPP 2022, with two changes. Both selections are exact in every exchange, by counting the bits
/// of the numbers, where theirs reuse a threshold for some steps: the messages cannot grow, and a
/// resumed run has no threshold to remember. And places are dealt out to the ranks in small blocks
/// in turn, where theirs move the borders of whole regions now and then: layers of large gradients
/// fall evenly on the ranks by themselves.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "plan/rules/compression.hpp"

namespace dtnn::runtime {

/// A number and its place, as they travel.
struct Entry {
    std::uint32_t index = 0;
    float value = 0;
    bool operator==(const Entry&) const = default;
};
static_assert(sizeof(Entry) == plan::kEntryBytes);

/// Orders numbers by their size without the sign; NaNs are the largest, so that they travel.
inline std::uint32_t key_of(float x) {
    return std::bit_cast<std::uint32_t>(x) & 0x7fffffffU;
}

/// The places of a rank: blocks rank, rank + ranks, rank + 2 ranks ...
struct Deal {
    std::int64_t elements = 0;
    int ranks = 1;

    int owner(std::int64_t index) const { return int(index / plan::kCompressionBlock % ranks); }
    std::int64_t owned(int rank) const;
    /// Calls visit(first, last) for each block of the rank, by their places.
    template <typename Visit>
    void for_blocks(int rank, Visit visit) const {
        const std::int64_t stride = plan::kCompressionBlock * ranks;
        for (std::int64_t at = plan::kCompressionBlock * rank; at < elements; at += stride)
            visit(at, std::min(elements, at + plan::kCompressionBlock));
    }
};

/// The k largest of numbers that may lie on several ranks, found in rounds: everyone counts, the
/// counts are added up, everyone narrows.
class Selection {
  public:
    /// Selects so many numbers; there are at least as many.
    explicit Selection(std::int64_t wanted) : left_(wanted) {}

    /// Adds to `bins` (kSelectionBins of them) how the numbers lie that may be the last to be
    /// selected.
    void count(const float* numbers, std::int64_t count, std::int32_t* bins) const;
    /// Takes the counts of all numbers. After kSelectionRounds of them the selection is made.
    void narrow(std::span<const std::int32_t> bins);

    /// The key of the last that is selected, and how many that have it are.
    std::uint32_t threshold() const { return prefix_; }
    std::int64_t at_threshold() const { return left_; }

  private:
    int round_ = 0;
    std::uint32_t prefix_ = 0;
    std::int64_t left_;
};

/// How many of a rank's places hold numbers above the threshold, and at it.
struct Selected {
    std::int32_t above = 0;
    std::int32_t at = 0;
};
Selected count_selected(const Deal& deal, int rank, const float* numbers, std::uint32_t threshold);

/// Writes the rank's selected numbers, by their places, to `to`: those above the threshold and the
/// first `at` of those at it, which it takes off. Returns behind the last.
Entry* take_selected(const Deal& deal, int rank, const float* numbers, std::uint32_t threshold,
                     std::int64_t& at, Entry* to);

/// residual += gradient; then selects `count` of it. `entries` are grouped by owner, and
/// `ends[rank]` is behind the last of a rank. `bins` are kSelectionBins.
void select_own(const Deal& deal, const float* gradient, float* residual, std::int64_t count,
                Entry* entries, std::int64_t* ends, std::int32_t* bins);

/// sum[index] += value for each.
void add_entries(std::span<const Entry> entries, float* sum);

/// `data` becomes the result, all else of it zero, and `residual` forgets what of `own` is in it.
/// Both lists are grouped by owner, and by place within.
void take_result(const Deal& deal, std::span<const Entry> result, std::span<const Entry> own,
                 float* data, float* residual);

}  // namespace dtnn::runtime
