#pragma once
/// The closed sets of a plan: each an enum and, beside it, the words that stand for its values in
/// plans, specs and messages. These words are written and read here and nowhere else.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace dtnn::plan {

/// `names`: the words of an enum, in the order of its values, which count from 0.
template <class Enum>
struct EnumNames;

template <class Enum>
concept NamedEnum = requires {
    EnumNames<Enum>::names;
};

template <NamedEnum Enum>
constexpr const char* name_of(Enum value) {
    return EnumNames<Enum>::names[std::size_t(value)];
}

/// Sets `value` to the one of this name; false, and nothing is set, when there is none.
template <NamedEnum Enum>
constexpr bool parse_name(std::string_view name, Enum& value) {
    for (std::size_t i = 0; i < std::size(EnumNames<Enum>::names); ++i)
        if (name == EnumNames<Enum>::names[i]) {
            value = static_cast<Enum>(i);
            return true;
        }
    return false;
}

enum class DType { f32, f64, i32, i64, u8, bf16, fp16 };
template <>
struct EnumNames<DType> {
    static constexpr const char* names[] = {"f32", "f64", "i32", "i64", "u8", "bf16", "fp16"};
};
/// What values of the type may be stored in: 16 bits.
constexpr bool is_reduced(DType dtype) {
    return dtype == DType::bf16 || dtype == DType::fp16;
}
/// The type of what stands beside values of this type and is never rounded to 16 bits: parameters,
/// their gradients, statistics.
constexpr DType wide_of(DType dtype) {
    return is_reduced(dtype) ? DType::f32 : dtype;
}

/// What is rounded, beside the dtype that parameters, losses and updates have.
///     full           nothing more
///     tf32           the factors of convolutions and products, while they are multiplied: devices
///     bf16_products  the same: processors
///     bf16           the values between layers and their gradients, and the weights that they are
///     fp16           multiplied with; sums are taken in f32: devices
enum class Compute : std::uint8_t { full, tf32, bf16_products, bf16, fp16 };
template <>
struct EnumNames<Compute> {
    static constexpr const char* names[] = {"full", "tf32", "bf16_products", "bf16", "fp16"};
};

/// How numbers of a plan for a CPU behave where that costs time.
///     fast     subnormal numbers, operands and results alike, are 0: they decay out of momenta and
///              running means after some thousand steps, and a processor works on each for a
///              hundred cycles or more
///     strict   IEEE 754 to the letter; kernels whose rounding differs from a plain sum's by more
///              than its order are not chosen
enum class Numerics : std::uint8_t { fast, strict };
template <>
struct EnumNames<Numerics> {
    static constexpr const char* names[] = {"fast", "strict"};
};

/// The role of a region of the arena. Parameters, states and inputs are persistent: they live
/// through the whole run.
enum class BufferRole { parameter, state, input, transient, workspace, ahead };
template <>
struct EnumNames<BufferRole> {
    static constexpr const char* names[] = {"parameter", "state",     "input",
                                            "transient", "workspace", "ahead"};
};

/// What a program computes. Programs of one kind differ in their batch only.
///     train        a batch, and an update by its gradients and those that were added up before
///     accumulate   a batch whose gradients a later one's update takes
///     evaluate     loss and metrics of a batch
///     predict      predictions of a batch
///     synchronise  the average of the weights that ranks move on their own (Parallel::local_steps)
enum class ProgramKind { train, accumulate, evaluate, predict, synchronise };
template <>
struct EnumNames<ProgramKind> {
    static constexpr const char* names[] = {"train", "accumulate", "evaluate", "predict",
                                            "synchronise"};
};

/// What batch norm, dropout and the like mean in a program.
enum class ProgramPhase { training, inference };
template <>
struct EnumNames<ProgramPhase> {
    static constexpr const char* names[] = {"training", "inference"};
};

/// The part of a training step that a step of a program belongs to.
/// recompute: of forward once more, in backward, for want of memory.
enum class StepPhase : std::uint8_t { forward, backward, update, metric, communication, recompute };
template <>
struct EnumNames<StepPhase> {
    static constexpr const char* names[] = {"forward", "backward",      "update",
                                            "metric",  "communication", "recompute"};
};

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
/// Numbers are of the plan's dtype.
enum class InputRole : std::uint8_t {
    feature,
    target,
    learning_rate,
    update,
    batch_weight,
    position,
    share
};
template <>
struct EnumNames<InputRole> {
    static constexpr const char* names[] = {"feature",      "target",   "learning_rate", "update",
                                            "batch_weight", "position", "share"};
};

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
template <>
struct EnumNames<ParameterKind> {
    static constexpr const char* names[] = {"weight",       "moving_statistic", "optimizer_state",
                                            "gradient_sum", "average",          "residual"};
};

/// What an exchange between ranks does with its stretch of memory: plan::Collective.
enum class CollectiveKind : std::uint8_t { all_reduce, reduce_scatter, all_gather };
template <>
struct EnumNames<CollectiveKind> {
    static constexpr const char* names[] = {"all_reduce", "reduce_scatter", "all_gather"};
};

/// Gradient compression: how the numbers of an exchange travel (docs/parallel.md).
///     full   as they are in memory
///     bf16   rounded to 16 bits; sums are taken in the dtype and rounded once more
///     fp16   likewise, in blocks that have a power of two in common
///     top_k  the largest, each with its place; what is not sent is kept for the next time
enum class Compression : std::uint8_t { full, bf16, fp16, top_k };
template <>
struct EnumNames<Compression> {
    static constexpr const char* names[] = {"full", "bf16", "fp16", "top_k"};
};

/// Whose kernels are chosen wherever they can do a problem: nobody's before others', or BLIS's.
enum class KernelPreference : std::uint8_t { none, blis };
template <>
struct EnumNames<KernelPreference> {
    static constexpr const char* names[] = {"none", "blis"};
};

/// When ranks wait for the sums of their gradients: as late as can be, while backward goes on, or
/// at once.
enum class ReductionMode : std::uint8_t { overlapped, blocking };
template <>
struct EnumNames<ReductionMode> {
    static constexpr const char* names[] = {"overlapped", "blocking"};
};

/// Whose batches batch norm takes its statistics of, in training: the rank's own, or all ranks'.
enum class BatchStatistics : std::uint8_t { local, synchronised };
template <>
struct EnumNames<BatchStatistics> {
    static constexpr const char* names[] = {"local", "synchronised"};
};

/// What learning rates are multiplied by: nothing, the ranks, their square root.
enum class RateScaling : std::uint8_t { none, linear, square_root };
template <>
struct EnumNames<RateScaling> {
    static constexpr const char* names[] = {"none", "linear", "square_root"};
};

/// Whether every rank has the optimizer's whole state or its part of it.
enum class OptimizerState : std::uint8_t { replicated, sharded };
template <>
struct EnumNames<OptimizerState> {
    static constexpr const char* names[] = {"replicated", "sharded"};
};

/// How ranks weigh in the average of the weights that they moved on their own: all alike, by their
/// samples, by the inverse of these.
enum class WeightAverage : std::uint8_t { avg, wavg, invwavg };
template <>
struct EnumNames<WeightAverage> {
    static constexpr const char* names[] = {"avg", "wavg", "invwavg"};
};

/// When an epoch of local steps ends: with the first rank that is out of data, or with the last.
enum class Participation : std::uint8_t { all, avail2all };
template <>
struct EnumNames<Participation> {
    static constexpr const char* names[] = {"all", "avail2all"};
};

/// What the elements of a feature are (plan::Feature). Of inputs: classes or values.
///     classes  integers, each one of `classes`; of a target the program's tensor is i32
///     multiple any number of `classes`: the target is [N, classes] of 0 and 1
///     values   real numbers; of a target `classes` of them: [N, classes]
///     input    of a target: the sample itself, as it enters the network, so that programs have no
///              target; `classes` numbers, or as many a pixel, where predictions are images
enum class LabelKind { classes, multiple, values, input };
template <>
struct EnumNames<LabelKind> {
    static constexpr const char* names[] = {"classes", "multiple", "values", "input"};
};

/// What the numbers of the program "predict" are.
///     scores             in no certain range: the largest counts
///     probabilities      between 0 and 1
///     log_probabilities  their natural logarithms
///     logits             probabilities are their sigmoids
///     values             real numbers, where the dataset's labels or its samples are such
enum class Prediction { scores, probabilities, log_probabilities, logits, values };
template <>
struct EnumNames<Prediction> {
    static constexpr const char* names[] = {"scores", "probabilities", "log_probabilities",
                                            "logits", "values"};
};

/// Where a value of the resolved specs came from. data: it was found in the dataset's files.
enum class OriginKind { file, fallback, command_line, data };
template <>
struct EnumNames<OriginKind> {
    static constexpr const char* names[] = {"file", "default", "command line", "data"};
};

}  // namespace dtnn::plan
