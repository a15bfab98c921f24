#include "runtime/train/epoch_sums.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "plan/rules/history_points.hpp"

namespace dtnn::runtime {

EpochSums::EpochSums(Session& session, std::int64_t batches)
    : session_(session),
      mine_(session.plan(), PassKind::training),
      batches_(batches),
      steps_of_point_(plan::steps_of_point(session.plan().training, batches)),
      points_(std::size_t(plan::points_of_epoch(session.plan().training, batches))) {
    mine_.reset();
}

void EpochSums::PointSums::add(const PointSums& other) {
    loss.sum += other.loss.sum;
    loss.weight += other.loss.weight;
    step = std::max(step, other.step);
}

void EpochSums::reset() {
    mine_.reset();
    std::fill(points_.begin(), points_.end(), PointSums());
}

void EpochSums::add(const BatchOutputs& batch, std::int64_t samples, std::int64_t number,
                    std::int64_t step) {
    mine_.add(batch, samples);
    points_[std::size_t(number / steps_of_point_)].add({mine_.last_loss(), step});
}

std::vector<EpochSums::Point> EpochSums::points() const {
    std::vector<PointSums> all(points_.size());
    for (const std::vector<std::byte>& one : session_.communicator().all_gather(
             std::as_bytes(std::span(points_)), "the losses of an epoch's points")) {
        std::vector<PointSums> points(points_.size());
        std::memcpy(points.data(), one.data(),
                    std::min(one.size(), std::span(points).size_bytes()));
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i].add(points[i]);
    }
    std::vector<Point> result;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!(all[i].loss.weight > 0)) continue;
        const std::int64_t end = std::min(batches_, std::int64_t(i + 1) * steps_of_point_);
        result.push_back({end, all[i].step, all[i].loss.sum / all[i].loss.weight});
    }
    return result;
}

/// Points of another number of ranks are of other batches: each goes to the one at its place.
void EpochSums::add_points(std::span<const std::byte> saved) {
    std::vector<PointSums> points(saved.size() / sizeof(PointSums));
    if (points.empty() || points_.empty()) return;
    std::memcpy(points.data(), saved.data(), std::span(points).size_bytes());
    for (std::size_t i = 0; i < points.size(); ++i)
        points_[i * points_.size() / points.size()].add(points[i]);
}

void EpochSums::save(TrainingState& state) {
    mine_.collect_counts(session_.communicator());
    state.sums.clear();
    std::vector<std::byte> mine = mine_.save_sums();
    const auto points = std::as_bytes(std::span(points_));
    mine.insert(mine.end(), points.begin(), points.end());
    for (const std::vector<std::byte>& one :
         session_.communicator().all_gather(mine, "the sums of the metrics"))
        state.sums.insert(state.sums.end(), one.begin(), one.end());
    if (session_.rank() == 0) state.counts = mine_.save_counts();
}

void EpochSums::restore(const TrainingState& state) {
    if (state.sums.empty()) return;
    reset();
    const std::span<const std::byte> sums = state.sums;
    const auto saved = std::size_t(std::max(1, state.ranks));
    const std::size_t size = sums.size() / saved;
    const bool as_many = state.ranks == session_.ranks();
    const std::size_t metrics = std::min(size, mine_.save_sums().size());
    for (std::size_t rank = 0; rank < saved; ++rank) {
        if (as_many ? int(rank) != session_.rank() : session_.rank() != 0) continue;
        mine_.add_sums(sums.subspan(rank * size, metrics));
        add_points(sums.subspan(rank * size + metrics, size - metrics));
    }
    if (session_.rank() == 0) mine_.add_counts(state.counts);
}

}  // namespace dtnn::runtime
