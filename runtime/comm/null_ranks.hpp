#pragma once
/// A rank without others, for dry runs of jobs of any size: nothing is exchanged, everything is
/// written down.

#include <array>
#include <memory>
#include <vector>

#include "base/enum_names.hpp"
#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

enum class OperationKind {
    all_reduce_start,
    all_reduce_wait,
    reduce_scatter_start,
    reduce_scatter_wait,
    all_gather_parts_start,
    all_gather_parts_wait,
    all_gather,
    gather,
    broadcast,
    barrier
};
constexpr auto names_of(OperationKind) {
    return std::to_array<const char*>({"all_reduce start", "all_reduce wait",
                                       "reduce_scatter start", "reduce_scatter wait",
                                       "all_gather_parts start", "all_gather_parts wait",
                                       "all_gather", "gather", "broadcast", "barrier"});
}

struct RecordedOperation {
    OperationKind kind = OperationKind::barrier;
    std::string name;
    std::int64_t bytes = 0;
    bool operator==(const RecordedOperation&) const = default;
};

/// Exchanges leave the memory as it is; all_gather gives this rank's bytes for every rank;
/// broadcast and barrier return at once.
class NullRank : public Communicator {
  public:
    /// In the order they were called. An exchange stands twice: where it starts, and where it is
    /// waited for.
    virtual const std::vector<RecordedOperation>& record() const = 0;
    /// Exchanges that were started twice without a wait, or waited for without a start.
    virtual const std::vector<std::string>& faults() const = 0;
    virtual void clear() = 0;
};

std::unique_ptr<NullRank> make_null(int rank, int ranks);

}  // namespace dtnn::runtime
