#pragma once
/// The settings that must be equal for plans to go on from each other's checkpoints.

#include <string>

#include "plan/plan.hpp"

namespace dtnn::runtime {

/// A checksum that plans share which train alike, and differ in nothing but how ranks share the
/// work: their number and the batch of each, whether exchanges overlap, their sizes and limits, the
/// machine, and whether the optimizer is replicated or sharded. With it a run goes on by another
/// such plan; at_ranks (runtime/train/training_state.hpp) says whether batches and ranks allow it.
std::string training_identity(const plan::Plan& plan);

}  // namespace dtnn::runtime
