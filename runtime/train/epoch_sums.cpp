#include "runtime/train/epoch_sums.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace dtnn::runtime {

EpochSums::EpochSums(Session& session)
    : session_(session), mine_(session.plan(), PassKind::training) {
    mine_.reset();
}

void EpochSums::save(TrainingState& state) {
    mine_.collect_counts(session_.communicator());
    state.sums.clear();
    for (const std::vector<std::byte>& one :
         session_.communicator().all_gather(mine_.save_sums(), "the sums of the metrics"))
        state.sums.insert(state.sums.end(), one.begin(), one.end());
    if (session_.rank() == 0) state.counts = mine_.save_counts();
}

void EpochSums::restore(const TrainingState& state) {
    if (state.sums.empty()) return;
    mine_.reset();
    const std::span<const std::byte> sums = state.sums;
    const auto saved = std::size_t(std::max(1, state.ranks));
    const std::size_t size = sums.size() / saved;
    const bool as_many = state.ranks == session_.ranks();
    for (std::size_t rank = 0; rank < saved; ++rank)
        if (as_many ? int(rank) == session_.rank() : session_.rank() == 0)
            mine_.add_sums(sums.subspan(rank * size, size));
    if (session_.rank() == 0) mine_.add_counts(state.counts);
}

}  // namespace dtnn::runtime
