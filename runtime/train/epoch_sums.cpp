#include "runtime/train/epoch_sums.hpp"

#include <string>

namespace dtnn::runtime {

EpochSums::EpochSums(Session& session)
    : session_(session), mine_(session.plan(), PassKind::training) {
    mine_.reset();
}

std::vector<std::byte> EpochSums::save() const {
    if (session_.ranks() == 1) return mine_.save();
    std::vector<std::byte> all;
    for (const std::vector<std::byte>& one :
         session_.communicator().all_gather(mine_.save(), "the sums of the metrics"))
        all.insert(all.end(), one.begin(), one.end());
    return all;
}

void EpochSums::restore(std::span<const std::byte> saved, int ranks) {
    if (saved.empty()) return;
    const std::size_t size = saved.size() / std::size_t(ranks);
    const auto of_rank = [&](int rank) { return saved.subspan(std::size_t(rank) * size, size); };
    if (ranks == session_.ranks()) return mine_.restore(of_rank(session_.rank()));
    if (session_.rank() > 0) return;
    mine_.restore(of_rank(0));
    for (int rank = 1; rank < ranks; ++rank)
        mine_.join(of_rank(rank));
}

}  // namespace dtnn::runtime
