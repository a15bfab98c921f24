#pragma once
/// Ranks with datasets of their own: which files are a rank's, how many samples they hold, and what
/// of the plan depends on that.

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Opens the dataset of one rank. The plan becomes that rank's: `${rank}` in the dataset's paths is
/// its number, and the samples of the splits are those that are there, of which the plan has said
/// how many there are at most. Fewer training samples than a batch are a RunError (exit 5).
std::unique_ptr<SampleSource> open_private_data(plan::Plan& plan, int rank);

/// Together, after all have opened theirs: the training samples of every rank, validation taken
/// off. The steps of an epoch in the plan become those that these give
/// (plan/rules/local_steps.hpp).
std::vector<std::int64_t> share_sample_counts(plan::Plan& plan, Communicator& communicator);

}  // namespace dtnn::runtime
