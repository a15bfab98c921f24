#pragma once
/// The closed sets of a plan: each an enum and, beside it, its words (base/enum_names.hpp).

#include <cstdint>

#include "base/enum_names.hpp"

namespace dtnn::plan {

using dtnn::name_of;
using dtnn::parse_name;

/// What is rounded, beside the dtype that parameters, losses and updates have.
///     full           nothing more
///     tf32           the factors of convolutions and products, while they are multiplied: devices
///     bf16_products  the same: processors
///     bf16           the values between layers and their gradients, and the weights that they are
///     fp16           multiplied with; sums are taken in f32: devices
enum class Compute : std::uint8_t { full, tf32, bf16_products, bf16, fp16 };
constexpr auto names_of(Compute) {
    return std::to_array<const char*>({"full", "tf32", "bf16_products", "bf16", "fp16"});
}

/// How numbers of a plan for a CPU behave where that costs time.
///     fast     subnormal numbers, operands and results alike, are 0: they decay out of momenta and
///              running means after some thousand steps, and a processor works on each for a
///              hundred cycles or more
///     strict   IEEE 754 to the letter; kernels whose rounding differs from a plain sum's by more
///              than its order are not chosen
enum class Numerics : std::uint8_t { fast, strict };
constexpr auto names_of(Numerics) {
    return std::to_array<const char*>({"fast", "strict"});
}

/// The role of a region of the arena. Parameters, states, inputs, what is kept and what is carried
/// are persistent: they live through the whole run.
enum class BufferRole { parameter, state, input, transient, workspace, ahead, kept, carried };
constexpr auto names_of(BufferRole) {
    return std::to_array<const char*>(
        {"parameter", "state", "input", "transient", "workspace", "ahead", "kept", "carried"});
}

/// What a program computes. Programs of one kind differ in their batch only.
///     train        a batch, and an update by its gradients and those that were added up before
///     accumulate   a batch whose gradients a later one's update takes
///     evaluate     loss and metrics of a batch
///     predict      predictions of a batch
///     synchronise  the average of the weights that ranks move on their own (Parallel::local_steps)
///     generate     predictions for the next step of each text of a batch, by what is kept of those
///                  before
enum class ProgramKind { train, accumulate, evaluate, predict, synchronise, generate };
constexpr auto names_of(ProgramKind) {
    return std::to_array<const char*>(
        {"train", "accumulate", "evaluate", "predict", "synchronise", "generate"});
}

/// What batch norm, dropout and the like mean in a program.
enum class ProgramPhase { training, inference };
constexpr auto names_of(ProgramPhase) {
    return std::to_array<const char*>({"training", "inference"});
}

/// The part of a training step that a step of a program belongs to.
/// recompute: of forward once more, in backward, for want of memory.
enum class StepPhase : std::uint8_t { forward, backward, update, metric, communication, recompute };
constexpr auto names_of(StepPhase) {
    return std::to_array<const char*>(
        {"forward", "backward", "update", "metric", "communication", "recompute"});
}

/// What a program is fed before each batch.
///     feature        an array of each sample, which the network reads
///     target         what the network is to give for each sample: classes (i32), or numbers
///     learning_rate  one number
///     update         i64: updates before this one
///     batch_weight   one number: the batch's share of the samples that one update adds up, over
///                    all ranks; only with accumulation or Parallel::data
///     position       i64, two: the epoch, from 0, and the place of the batch's first sample in the
///                    epoch's order
///     share          one number: what of an average of weights is this rank's
///     text_step      i64: of a program that generates, the step's place in its text, from 0
///     kept_steps     what the steps before have left in place, for those behind; zeros before the
///                    first step
///     carried_state  what the batch before has left in place, sample by sample, for this one;
///                    zeros before the first of an epoch or a pass
/// Numbers are of the plan's dtype.
enum class InputRole : std::uint8_t {
    feature,
    target,
    learning_rate,
    update,
    batch_weight,
    position,
    share,
    text_step,
    kept_steps,
    carried_state
};
constexpr auto names_of(InputRole) {
    return std::to_array<const char*>({"feature", "target", "learning_rate", "update",
                                       "batch_weight", "position", "share", "text_step",
                                       "kept_steps", "carried_state"});
}
/// Whether the program itself writes it, in place, for its next run: nobody feeds it.
constexpr bool stays_in_place(InputRole role) {
    return role == InputRole::kept_steps || role == InputRole::carried_state;
}

/// What a value is that persists.
///     weight            weights, biases and the like, trainable or frozen
///     moving_statistic  of batches, moved by forward steps, never trained
///     optimizer_state   a slot of the optimizer, beside one weight or a part of several
///     gradient_sum      gradients of the batches so far whose update is to come
///     average           the moving average of a weight, which evaluation reads in its place
///     residual          what a rank's compressed gradients have not sent yet
/// All but the first two are Parameter::optimizer_state.
enum class ParameterKind : std::uint8_t {
    weight,
    moving_statistic,
    optimizer_state,
    gradient_sum,
    average,
    residual
};
constexpr auto names_of(ParameterKind) {
    return std::to_array<const char*>(
        {"weight", "moving_statistic", "optimizer_state", "gradient_sum", "average", "residual"});
}

/// What an exchange between ranks does with its stretch of memory: plan::Collective.
enum class CollectiveKind : std::uint8_t { all_reduce, reduce_scatter, all_gather };
constexpr auto names_of(CollectiveKind) {
    return std::to_array<const char*>({"all_reduce", "reduce_scatter", "all_gather"});
}

/// Gradient compression: how the numbers of an exchange travel (docs/parallel.md).
///     full   as they are in memory
///     bf16   rounded to 16 bits; sums are taken in the dtype and rounded once more
///     fp16   likewise, in blocks that have a power of two in common
///     top_k  the largest, each with its place; what is not sent is kept for the next time
enum class Compression : std::uint8_t { full, bf16, fp16, top_k };
constexpr auto names_of(Compression) {
    return std::to_array<const char*>({"full", "bf16", "fp16", "top_k"});
}

/// Whose kernels are chosen wherever they can do a problem: nobody's before others', or BLIS's.
enum class KernelPreference : std::uint8_t { none, blis };
constexpr auto names_of(KernelPreference) {
    return std::to_array<const char*>({"none", "blis"});
}

/// When ranks wait for the sums of their gradients: as late as can be, while backward goes on, or
/// at once.
enum class ReductionMode : std::uint8_t { overlapped, blocking };
constexpr auto names_of(ReductionMode) {
    return std::to_array<const char*>({"overlapped", "blocking"});
}

/// Whose batches batch norm takes its statistics of, in training: the rank's own, or all ranks'.
enum class BatchStatistics : std::uint8_t { local, synchronised };
constexpr auto names_of(BatchStatistics) {
    return std::to_array<const char*>({"local", "synchronised"});
}

/// What learning rates are multiplied by: nothing, the ranks, their square root.
enum class RateScaling : std::uint8_t { none, linear, square_root };
constexpr auto names_of(RateScaling) {
    return std::to_array<const char*>({"none", "linear", "square_root"});
}

/// Whether every rank has the optimizer's whole state or its part of it.
enum class OptimizerState : std::uint8_t { replicated, sharded };
constexpr auto names_of(OptimizerState) {
    return std::to_array<const char*>({"replicated", "sharded"});
}

/// How ranks weigh in the average of the weights that they moved on their own: all alike, by their
/// samples, by the inverse of these.
enum class WeightAverage : std::uint8_t { avg, wavg, invwavg };
constexpr auto names_of(WeightAverage) {
    return std::to_array<const char*>({"avg", "wavg", "invwavg"});
}

/// When an epoch of local steps ends: with the first rank that is out of data, or with the last.
enum class Participation : std::uint8_t { all, avail2all };
constexpr auto names_of(Participation) {
    return std::to_array<const char*>({"all", "avail2all"});
}

/// What the elements of a feature are (plan::Feature). Of inputs: classes or values.
///     classes  integers, each one of `classes`; of a target the program's tensor is i32
///     multiple any number of `classes`: the target is [N, classes] of 0 and 1
///     values   real numbers; of a target `classes` of them: [N, classes]
///     input    of a target: the sample itself, as it enters the network, so that programs have no
///              target; `classes` numbers, or as many a pixel, where predictions are images
///     sequence of a target: integers as of classes, some of them for each sample, which are not
///              those of its steps: rules/label_sequences.hpp
enum class LabelKind { classes, multiple, values, input, sequence };
constexpr auto names_of(LabelKind) {
    return std::to_array<const char*>({"classes", "multiple", "values", "input", "sequence"});
}
/// Whether the elements are integers, each one of `classes`.
constexpr bool are_integers(LabelKind kind) {
    return kind == LabelKind::classes || kind == LabelKind::sequence;
}

/// What the numbers of the program "predict" are.
///     scores             in no certain range: the largest counts
///     probabilities      between 0 and 1
///     log_probabilities  their natural logarithms
///     logits             probabilities are their sigmoids
///     values             real numbers, where the dataset's labels or its samples are such
enum class Prediction { scores, probabilities, log_probabilities, logits, values };
constexpr auto names_of(Prediction) {
    return std::to_array<const char*>(
        {"scores", "probabilities", "log_probabilities", "logits", "values"});
}

/// Where a value of the resolved specs came from. data: it was found in the dataset's files.
enum class OriginKind { file, fallback, command_line, data };
constexpr auto names_of(OriginKind) {
    return std::to_array<const char*>({"file", "default", "command line", "data"});
}

/// Which values of a measure are better, of schedules that watch one: the measure says it itself
/// (`auto`), less, or more.
enum class Direction : std::uint8_t { automatic, minimize, maximize };
constexpr auto names_of(Direction) {
    return std::to_array<const char*>({"auto", "minimize", "maximize"});
}

/// How a learning rate rises and falls in one_cycle.
enum class CycleShape : std::uint8_t { cosine, linear };
constexpr auto names_of(CycleShape) {
    return std::to_array<const char*>({"cosine", "linear"});
}

/// What another value of a setting means for what is trained.
///     mathematics   another function is trained, or it is trained in another way
///     performance   the same values but for rounding; time and memory may differ
///     names         what is called otherwise, in files and reports; the same bits
///     unread        files decide that no plan holds: whoever can read both settles it
enum class Meaning : std::uint8_t { mathematics, performance, unread, names };
constexpr auto names_of(Meaning) {
    return std::to_array<const char*>({"mathematics", "performance", "unread", "names"});
}

}  // namespace dtnn::plan
