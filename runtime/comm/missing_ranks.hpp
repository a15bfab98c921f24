#pragma once
/// Which ranks a rank that waits is waiting for, by what all have said of themselves. Decides only;
/// mpi/rank_inquiry asks them.

#include <array>
#include <cstdint>
#include <vector>

namespace dtnn::runtime {

/// The newest collective that a rank has begun.
struct Position {
    std::int64_t number = 0;
    char what[120] = {};  ///< "all_reduce number 41 `gradients_2`"
};

constexpr int kNobody = -2;  ///< a rank that does not wait
constexpr int kAll = -1;     ///< a rank that waits for all others

/// A rank's answer.
struct Standing {
    Position newest;
    std::int64_t waits_in = 0;  ///< the number of the collective that it waits in
    int waits_for = kNobody;    ///< kNobody, kAll, or one rank
    /// The rank that reports what is missing, or -1.
    int reporter = -1;
    /// The operation that the rank has begun under the number that it was asked for; 0: it does not
    /// remember, or has not come to it.
    std::uint64_t begun = 0;
};

/// The operations that a rank begins, by number, for a while.
class Begun {
  public:
    void add(const Position& position);
    /// 0: not known.
    std::uint64_t at(std::int64_t number) const;

  private:
    struct Entry {
        std::int64_t number = -1;
        std::uint64_t hash = 0;
    };
    std::array<Entry, 64> entries_{};
};

/// The ranks that keep `mine`, which waits, from going on: those that do not answer, and those that
/// are behind without waiting for anybody; where all that are behind wait, those that they wait
/// for. `other` are ranks that have begun another operation under its number.
struct Missing {
    std::vector<int> silent, behind, other;
};
Missing find_missing(int rank, const Standing& mine, std::uint64_t begun,
                     const std::vector<Standing>& standings);

}  // namespace dtnn::runtime
