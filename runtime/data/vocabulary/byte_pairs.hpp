#pragma once
/// Byte-pair encoding (Gage, 1994; Sennrich and others, 2016): of the neighbours in a piece the
/// pair of the lowest rank becomes one token, the leftmost first, until no pair has a rank.

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace dtnn::runtime {

class BytePairs {
  public:
    /// Tokens `left` and `right` become `made`. Of a pair that is added again the first stays.
    void add(std::int32_t left, std::int32_t right, std::int32_t rank, std::int32_t made) {
        merges_.try_emplace(key(left, right), Merge{rank, made});
    }
    /// Replaces tokens by what they become. Takes n log n steps of n tokens.
    void merge(std::vector<std::int32_t>& tokens) const;

  private:
    struct Merge {
        std::int32_t rank, made;
    };
    static std::uint64_t key(std::int32_t left, std::int32_t right) {
        return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right);
    }
    const Merge* find(std::int32_t left, std::int32_t right) const {
        const auto found = merges_.find(key(left, right));
        return found == merges_.end() ? nullptr : &found->second;
    }

    std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace dtnn::runtime
