#include "plan/rules/local_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/saturating.hpp"
#include "plan/rules/validation_part.hpp"

namespace dtnn::plan {

namespace {

double rounded(double value, DType dtype) {
    return dtype == DType::f32 ? double(float(value)) : value;
}

}  // namespace

bool moves_locally(const Parallel& parallel) {
    return parallel.data && parallel.local_steps > 0;
}

std::vector<double> average_shares(WeightAverage average, std::span<const std::int64_t> samples,
                                   const std::vector<bool>& contributes) {
    std::vector<double> shares(samples.size());
    double all = 0;
    for (std::size_t rank = 0; rank < samples.size(); ++rank) {
        if (!contributes[rank]) continue;
        const auto own = double(samples[rank]);
        shares[rank] = average == WeightAverage::wavg      ? own
                       : average == WeightAverage::invwavg ? 1 / own
                                                           : 1;
        all += shares[rank];
    }
    for (double& share : shares)
        share /= all;
    return shares;
}

std::vector<double> rounded_shares(std::vector<double> shares, DType dtype) {
    for (double& share : shares)
        share = rounded(share, dtype);
    const auto largest = std::max_element(shares.begin(), shares.end());
    if (largest == shares.end()) return shares;
    double others = 0;
    for (auto share = shares.begin(); share != shares.end(); ++share)
        if (share != largest) others += *share;
    *largest = rounded(1 - others, dtype);
    return shares;
}

std::int64_t split_dataset(const Training& training, Dataset& dataset) {
    const std::int64_t samples = validation_part(dataset.train_samples, training).count;
    if (!dataset.validation_files)
        dataset.validation_samples = dataset.test_as_validation ? dataset.test_samples : samples;
    dataset.train_samples -= samples;
    const std::int64_t pool = dataset.train_samples;
    const auto percentage = dataset.attributes.find("sample_percentage");
    if (percentage == dataset.attributes.end()) return pool;
    const auto* share = std::get_if<double>(&percentage->second);
    if (share == nullptr) return pool;
    dataset.train_samples = std::max<std::int64_t>(share_of(pool, *share / 100), 1);
    return pool;
}

std::int64_t private_steps(const Plan& plan) {
    return plan.training.whole_epochs ? plan.dataset.train_samples / plan.training.batch_size
                                      : plan.training.steps_per_epoch;
}

std::string path_of_rank(std::string path, int rank) {
    const std::string number = std::to_string(rank);
    for (std::size_t at = path.find(kRankInPath); at != std::string::npos;
         at = path.find(kRankInPath, at + number.size()))
        path.replace(at, kRankInPath.size(), number);
    return path;
}

std::string refuses_local_steps(const Plan& plan, int ranks) {
    if (!moves_locally(plan.parallel) || ranks == 1) return "";
    if (plan.parallel.min_avail > ranks)
        return fmt::format("at least {} ranks with data average their weights, and there are {}",
                           plan.parallel.min_avail, ranks);
    if (!plan.parallel.private_data && LocalSteps(plan, ranks).steps() == 0)
        return fmt::format(
            "every rank takes part in every average, and {} samples in batches of {} leave some of "
            "{} ranks without one",
            plan.dataset.train_samples, plan.training.batch_size, ranks);
    return "";
}

LocalSteps::LocalSteps(const Plan& plan, int ranks)
    : LocalSteps(plan, std::vector<std::int64_t>(std::size_t(ranks), plan.dataset.train_samples)) {
    if (private_data_) return;
    dataset_ = plan.dataset.train_samples;
    const std::int64_t all = steps_of_pass(dataset_, batch_, 1);
    for (int rank = 0; rank < ranks; ++rank)
        batches_[std::size_t(rank)] = all / ranks + (rank < all % ranks);
    count_steps(plan);
    for (int rank = 0; rank < ranks; ++rank)
        samples_[std::size_t(rank)] = samples_of(rank, 0, steps_);
}

LocalSteps::LocalSteps(const Plan& plan, std::vector<std::int64_t> samples)
    : private_data_(plan.parallel.private_data),
      waits_for_all_(plan.parallel.participation == Participation::all),
      average_(plan.parallel.average),
      batch_(plan.training.batch_size),
      accumulation_(std::max<std::int64_t>(1, plan.training.accumulation)),
      interval_(saturating_product(
          {std::max<std::int64_t>(1, plan.parallel.local_steps), accumulation_})),
      min_avail_(plan.parallel.min_avail),
      samples_(std::move(samples)) {
    for (const std::int64_t own : samples_)
        batches_.push_back(own / batch_);
    count_steps(plan);
}

void LocalSteps::count_steps(const Plan& plan) {
    const auto [least, most] = std::minmax_element(batches_.begin(), batches_.end());
    if (least == batches_.end()) return;
    steps_ = waits_for_all_ ? *least : *most;
    steps_ = limited_steps(plan.training, steps_);
}

std::int64_t LocalSteps::batches(int rank) const {
    return std::min(batches_[std::size_t(rank)], steps_);
}

Part LocalSteps::part(int rank, std::int64_t step) const {
    if (step >= batches(rank)) return {private_data_ ? samples(rank) : dataset_, 0};
    return private_data_ ? Part{step * batch_, batch_}
                         : part_of(dataset_, batch_, step, rank, ranks());
}

std::int64_t LocalSteps::samples_of(int rank, std::int64_t first, std::int64_t last) const {
    last = std::min(last, batches(rank));
    if (last <= first) return 0;
    // Only the last batch of all may be smaller.
    return (last - first - 1) * batch_ + part(rank, last - 1).count;
}

std::int64_t LocalSteps::samples_before(std::int64_t steps) const {
    if (!private_data_)
        return samples_of_steps(dataset_, batch_, 0, std::min(steps, steps_), ranks());
    std::int64_t sum = 0;
    for (int rank = 0; rank < ranks(); ++rank)
        sum += std::min(steps, batches(rank)) * batch_;
    return sum;
}

bool LocalSteps::updates(int rank, std::int64_t step) const {
    return (step + 1) % accumulation_ == 0 || step + 1 == batches(rank);
}

std::int64_t LocalSteps::updates_before(int rank, std::int64_t epoch, std::int64_t step) const {
    const auto after = [&](std::int64_t batches_done) {
        const bool all = batches_done == batches(rank);
        return batches_done / accumulation_ + (all && batches_done % accumulation_ > 0);
    };
    return epoch * after(batches(rank)) + after(std::min(step, batches(rank)));
}

bool LocalSteps::due(std::int64_t steps) const {
    return steps > 0 && (steps == steps_ || (steps < steps_ && steps % interval_ == 0));
}

/// Whether a synchronisation that is due takes place.
bool LocalSteps::takes_place(std::int64_t steps) const {
    if (steps == steps_) return true;
    const std::int64_t update = steps - accumulation_;  // where the update before it began
    return std::count_if(batches_.begin(), batches_.end(),
                         [&](std::int64_t own) { return own > update; }) >= min_avail_;
}

/// After how many steps the last one before took place; 0: the epoch has had none.
std::int64_t LocalSteps::last_before(std::int64_t steps) const {
    std::int64_t last = (steps - 1) / interval_ * interval_;
    while (last > 0 && !takes_place(last))
        last -= interval_;
    return last;
}

std::vector<double> LocalSteps::shares(std::int64_t steps) const {
    if (!due(steps) || !takes_place(steps)) return {};
    const std::int64_t last = last_before(steps);
    std::vector<bool> contributes;
    for (const std::int64_t own : batches_)
        contributes.push_back(own > last);
    return average_shares(average_, samples_, contributes);
}

std::int64_t LocalSteps::count() const {
    std::int64_t count = steps_ > 0;
    // Ranks only run out of data: once there are too few of them, there are until the end.
    for (std::int64_t steps = interval_; steps < steps_ && takes_place(steps); steps += interval_)
        ++count;
    return count;
}

}  // namespace dtnn::plan
