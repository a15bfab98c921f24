#include "runtime/train/epoch_steps.hpp"

#include <algorithm>

#include "plan/rules/parallel.hpp"

namespace dtnn::runtime {

EpochSteps::EpochSteps(Session& session)
    : session_(session),
      plan_(session.plan()),
      extent_(extent_of(plan_, session.ranks())),
      local_(session.local_steps()) {}

bool EpochSteps::between_updates(std::int64_t step) const {
    // Between two synchronisations, the ranks' weights differ.
    if (local_ != nullptr) return step == 0 || !local_->shares(step).empty();
    return step % extent_.accumulation == 0 || step == extent_.batches;
}

plan::Part EpochSteps::part(std::int64_t step) const {
    if (local_ != nullptr) return local_->part(session_.rank(), step);
    return plan::part_of(plan_.dataset.train_samples, plan_.training.batch_size, step,
                         session_.rank(), session_.ranks());
}

Pass EpochSteps::pass(std::span<const std::int64_t> order, std::int64_t epoch,
                      std::int64_t step) const {
    Pass pass = {.split = Split::train,
                 .order = order,
                 .batch = plan_.training.batch_size,
                 .first_batch = step,
                 .last_batch = extent_.batches,
                 .epoch = epoch,
                 .rank = session_.rank(),
                 .ranks = session_.ranks()};
    if (!plan_.parallel.private_data) return pass;
    pass.rank = 0, pass.ranks = 1;
    // Whole batches.
    pass.order = order.first(order.size() - order.size() % std::size_t(pass.batch));
    return pass;
}

std::int64_t EpochSteps::drawing_epoch(std::int64_t epoch) const {
    return plan_.parallel.private_data ? epoch + (std::int64_t(session_.rank()) << 32) : epoch;
}

std::int64_t EpochSteps::samples_before(std::int64_t step) const {
    if (local_ != nullptr) return local_->samples_before(step);
    return plan::samples_of_steps(plan_.dataset.train_samples, plan_.training.batch_size, 0, step,
                                  session_.ranks());
}

std::int64_t EpochSteps::group_begin(std::int64_t step) const {
    return step / extent_.accumulation * extent_.accumulation;
}

std::int64_t EpochSteps::group_end(std::int64_t step) const {
    return std::min(group_begin(step) + extent_.accumulation, extent_.batches);
}

std::int64_t EpochSteps::group_samples(std::int64_t step) const {
    const std::int64_t first = group_begin(step), last = group_end(step);
    if (local_ != nullptr) return local_->samples_of(session_.rank(), first, last);
    return samples_before(last) - samples_before(first);
}

bool EpochSteps::ends_group(std::int64_t step) const {
    return step + 1 == group_end(step);
}

bool EpochSteps::runs(std::int64_t step) const {
    return local_ == nullptr || part(step).count > 0;
}

bool EpochSteps::updates(std::int64_t step) const {
    return local_ != nullptr ? local_->updates(session_.rank(), step) : ends_group(step);
}

std::int64_t EpochSteps::updates_before(std::int64_t epoch, std::int64_t step,
                                        std::int64_t shared) const {
    return local_ != nullptr ? local_->updates_before(session_.rank(), epoch, step) : shared;
}

bool EpochSteps::synchronise(std::int64_t step) {
    const std::vector<double> shares =
        plan::rounded_shares(local_->shares(step), plan_.target.dtype);
    if (shares.empty()) return false;
    session_.synchronise(shares[std::size_t(session_.rank())]);
    return true;
}

}  // namespace dtnn::runtime
