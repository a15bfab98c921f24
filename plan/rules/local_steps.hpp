#pragma once
/// Training by local steps: each rank moves weights of its own, and now and then all ranks' weights
/// and moving statistics become their weighted mean (a synchronisation; federated averaging,
/// McMahan et al., "Communication-efficient learning of deep networks from decentralized data",
/// 2017). What is due when, and what each rank weighs: pure functions of plan, ranks and the
/// samples that each has, the same for compiler, runtime and forecast.
///
/// A rank's batches of an epoch:
///     a dataset that all ranks share   those that plan/rules/parallel.hpp deals out to it
///     data of its own                  as many whole batches as it has; what is left over, less
///                                      than a batch, is other samples in every epoch
/// An epoch has as many steps as
///     participation "all"              the rank with the fewest batches has
///     participation "avail2all"        the rank with the most; the others are out of data before
///
/// A synchronisation is due after every `local_steps` updates of an epoch, and at its end. Of
/// "avail2all" those ranks contribute to it that have trained since the last one took place, so no
/// batch is lost and none counts twice; a rank without news weighs nothing, and receives the mean
/// like all others. It does not take place when fewer than `min_avail` ranks had samples in the
/// update before it, the one at an epoch's end apart, which always takes place: what is evaluated,
/// kept and saved is one model.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "plan/rules/parallel.hpp"

namespace dtnn::plan {

/// Whether the plan's ranks move weights of their own.
bool moves_locally(const Parallel& parallel);

/// The weights of the ranks in a mean, which add up to 1. n_r are a rank's training samples:
///     avg       1 / (ranks that contribute)
///     wavg      n_r / (sum of n)
///     invwavg   (1 / n_r) / (sum of 1/n)
/// over those that contribute; the others have 0. At least one contributes, with samples.
std::vector<double> average_shares(WeightAverage average, std::span<const std::int64_t> samples,
                                   const std::vector<bool>& contributes);

/// The shares as numbers of the type that still add up to 1: a mean of equal weights taken ten
/// thousand times must not make them larger or smaller. What rounding has taken is given to the
/// largest share.
std::vector<double> rounded_shares(std::vector<double> shares, DType dtype);

/// The training samples of the plan's dataset for one rank: with validation and percentage taken
/// off `train_samples`, which are the source's. Returns those that are ever trained on.
std::int64_t split_dataset(const Training& training, Dataset& dataset);

/// The steps of an epoch where each rank has data of its own, as the plan knows it: of every rank
/// its train_samples.
std::int64_t private_steps(const Plan& plan);

/// In a path of the dataset it stands for the number of a rank, from 0: each has data of its own.
inline constexpr std::string_view kRankInPath = "${rank}";

/// The path of one rank.
std::string path_of_rank(std::string path, int rank);

/// Why so many ranks cannot move weights of their own, in lower case; empty: they can.
std::string refuses_local_steps(const Plan& plan, int ranks);

class LocalSteps {
  public:
    /// With the samples that the plan knows: of a shared dataset a rank's part of it, otherwise
    /// each rank has train_samples of its own.
    LocalSteps(const Plan& plan, int ranks);
    /// Each rank has so many samples of its own.
    LocalSteps(const Plan& plan, std::vector<std::int64_t> samples);

    int ranks() const { return int(samples_.size()); }
    /// The steps of an epoch; zero where a rank has no batch.
    std::int64_t steps() const { return steps_; }
    /// How many of them have samples of the rank: the first ones.
    std::int64_t batches(int rank) const;
    std::int64_t samples(int rank) const { return samples_[std::size_t(rank)]; }

    /// The samples that a rank takes of a step, of its own order of an epoch where it has data of
    /// its own.
    Part part(int rank, std::int64_t step) const;
    /// The samples of all ranks in the first `steps` steps.
    std::int64_t samples_before(std::int64_t steps) const;
    /// The samples of a rank in the steps first <= step < last.
    std::int64_t samples_of(int rank, std::int64_t first, std::int64_t last) const;

    /// Whether the rank's optimizer moves its weights in this step, in which it has samples: at the
    /// end of a group of accumulated batches, and with its last batch.
    bool updates(int rank, std::int64_t step) const;
    /// A rank's own updates in front of a step of epoch `epoch` (from 0).
    std::int64_t updates_before(int rank, std::int64_t epoch, std::int64_t step) const;

    /// Whether a synchronisation is due after so many steps of an epoch.
    bool due(std::int64_t steps) const;
    /// The ranks' weights in it; empty: none takes place.
    std::vector<double> shares(std::int64_t steps) const;
    /// Synchronisations that take place in an epoch.
    std::int64_t count() const;

  private:
    void count_steps(const Plan& plan);
    bool takes_place(std::int64_t steps) const;
    std::int64_t last_before(std::int64_t steps) const;

    bool private_data_;
    bool waits_for_all_;  ///< participation "all"
    WeightAverage average_;
    std::int64_t batch_, accumulation_;
    std::int64_t interval_;  ///< steps between two synchronisations
    std::int64_t min_avail_;
    std::int64_t dataset_ = 0;  ///< samples of an epoch of a shared dataset
    std::int64_t steps_ = 0;
    std::vector<std::int64_t> batches_;  ///< by rank, whatever the steps of an epoch
    std::vector<std::int64_t> samples_;  ///< by rank
};

}  // namespace dtnn::plan
