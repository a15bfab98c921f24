#pragma once
/// The memory of the data pipeline besides the arena: the compiler books it, the runtime checks
/// that the plan has booked enough, both by this formula.

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Batches that are prepared ahead of the one that is trained on.
inline constexpr std::int64_t kStagedBatches = 2;

/// Whether training batches are mixed: their labels are rows of numbers ("targets"), even where the
/// dataset has classes.
bool mixes_samples(const Dataset& dataset);
/// Whether it is the augmentation that does, which is no step of a sample by itself.
bool mixes_samples(const Component& augmentation);

/// Bytes of a sample that is ready for the network: its inputs, labels (i32) where the dataset has
/// classes, targets where it has none or training mixes samples.
struct StagedSample {
    std::vector<std::int64_t> inputs;
    std::int64_t labels = 0;
    std::int64_t targets = 0;
    std::int64_t bytes() const;
};
StagedSample staged_sample(const Plan& plan);

/// The pixels of the largest sample on its way through the transforms, as far as the plan says it:
/// extents that differ from sample to sample count with the largest that a transform or the network
/// makes of them.
std::int64_t largest_sample(const Dataset& dataset);

/// The lists of the samples that are trained on, validated and tested, and of an epoch's order
/// (runtime/data/sampler.hpp).
std::int64_t order_bytes(const Dataset& dataset);

/// A worker's stack, as far as it uses it, and what else a thread costs.
inline constexpr std::int64_t kWorkerBytes = 128 * 1024;

/// The samples that are ready for the network: kStagedBatches batches and, where samples are mixed,
/// one for every worker, the partner of a sample that is of another batch.
std::int64_t staged_samples(const Plan& plan);

/// A part of the arena.
struct Stretch {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};
/// From the first of the plan's inputs to the end of the last, at a multiple of kAlignment; nothing
/// without inputs.
Stretch input_stretch(const Plan& plan);

/// The staged samples, the orders, those of passes in lanes, and for every worker kWorkerBytes, the
/// sample it has loaded and the one that a transform writes (32-bit floats), and the labels of
/// their pixels; and inputs that are no images as the source gives them.
std::int64_t staging_bytes(const Plan& plan);

/// The bytes that rank 0 gathers for a checkpoint: states that ranks have in parts, whole, of those
/// that each rank has of its own the others', and what batches carry on all ranks.
std::int64_t gathered_bytes(const Plan& plan);

/// What a training batch leaves to the next (InputRole::carried_state), as tensors of the program
/// for whole batches.
std::vector<const Tensor*> carried_states(const Plan& plan);

}  // namespace dtnn::plan
