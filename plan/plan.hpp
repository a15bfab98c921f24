#pragma once
/// The execution plan: everything a run will do, and the only thing that compiler and runtime both
/// know.
///
/// A plan is plain data. It carries no pointers and no machine code, so it is safe to read from
/// anyone; `audit.hpp` checks what a run relies on. All sizes and offsets are bytes, all shapes are
/// logical (batch, channels, height, width).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/tensor/attributes.hpp"
#include "base/tensor/tensor_type.hpp"
#include "plan/dataset.hpp"
#include "plan/enums.hpp"
#include "plan/forecast/kernel_class.hpp"

namespace dtnn::plan {

inline constexpr std::int64_t kAlignment = 64;

/// Where something was written: a spec file (as the user named it), line and column from one.
/// An empty file is "nowhere" (a value that the compiler made up).
struct Place {
    std::string file;
    int line = 0;
    int column = 0;
    bool operator==(const Place&) const = default;
};

struct Target {
    std::string device = "cpu";
    DType dtype = DType::f32;
    Compute compute = Compute::full;
    Numerics numerics = Numerics::fast;
    std::string isa;  ///< what the machine must at least have: "baseline", "avx2", "avx512", ...
    int threads = 1;  ///< workspaces are laid out for this many threads; a run may use fewer
    int data_workers = 1;      ///< threads that prepare batches
    bool pin_threads = false;  ///< each thread that computes stays on a processor of its own
    int ranks = 1;             ///< processes the figures are for; see Parallel::any_ranks
};

/// What computes: "cpu avx512", "cuda".
std::string processor_of(const Target& target);
/// What it computes with: "f64", "f32, products in tf32", "f32, values in bf16".
std::string numbers_of(const Target& target);
/// Whether the plan's arena is in memory that the host cannot read and write.
bool has_own_memory(const Target& target);

/// A region of the arena. Persistent buffers live through the whole run and overlap nothing;
/// transient ones belong to one program and live from the start of `first_step` to the end of
/// `last_step` (numbered over prologue + steps). Where the device has memory of its own, one buffer
/// is room for the inputs of a run while the run before reads its own: as long as the stretch of
/// all inputs, and laid out like it.
struct Buffer {
    std::string name;
    BufferRole role = BufferRole::transient;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;  ///< what is used; the planner may leave a gap after it, never share it
    int program = -1;        ///< index into Plan::programs; -1: persistent
    int first_step = 0;
    int last_step = 0;
};

/// A typed view of a buffer. Several tensors may view one buffer (in-place results, flattened
/// views).
struct Tensor : TensorType {
    std::string name;
    int buffer = -1;          ///< index into Plan::buffers
    std::int64_t offset = 0;  ///< bytes from the start of the buffer
    /// A stretch of as many equal parts as Target::ranks, of which a rank's steps see its own:
    /// `dims` are of one part, and that of rank r begins at `offset` + r times its bytes.
    bool by_rank = false;
};

struct Refusal {
    std::string kernel;
    std::string reason;
    double seconds = 0;  ///< that it was measured to take; 0: it was not measured
};

/// The kernels before the chosen one in the catalogue's order, and those behind it that were
/// measured, and why not.
struct Refusals {
    std::vector<Refusal> kernels;
    double seconds = 0;  ///< that the chosen one was measured to take; 0: it was not measured
};

struct Step {
    std::string name;    ///< unique in its program: the layer and the operator
    std::string op;      ///< the kernel-level operator, as in the catalogue
    std::string kernel;  ///< the chosen kernel's name
    KernelClass kernel_class = KernelClass::memory;  ///< whose rate it runs at
    int refusals = -1;                               ///< index into Plan::refusals, -1: none
    std::vector<int> sources;                        ///< indices into Program::tensors
    std::vector<int> destinations;                   ///< indices into Program::tensors
    int workspace = -1;                              ///< index into Plan::buffers, -1: none
    Attributes attributes;
    std::int64_t flops = 0;
    std::int64_t bytes = 0;  ///< least memory traffic: every operand read or written once
    int layer = -1;          ///< index into Plan::layers, -1: no layer (loss, update, metric)
    /// Forward steps: the layers that the step executes after fusion, rising indices into
    /// Plan::layers. A layer is in at most one step of a program; in none when it does nothing (as
    /// dropout at inference) or is another's double.
    std::vector<int> layers;
    StepPhase phase = StepPhase::forward;
    Place place;
};

/// One exchange between the ranks of a stretch of memory:
///     all_reduce      every element becomes its sum over all ranks
///     reduce_scatter  the stretch is as many equal parts as Target::ranks; a rank's own part (see
///                     Tensor::by_rank) becomes the sum over all ranks, what the others then hold
///                     means nothing; gaps between its tensors are zero, the start clears them
///     all_gather      likewise of parts: all ranks have all parts, each as its own rank has it
/// The step `start` (operator "<kind>_start", kernel "communicator") begins it, the step `wait`
/// ("<kind>_wait") ends it; between them nothing else touches the stretch. All ranks run a
/// program's collectives in the order of their starts, which is their order here. Both steps have
/// the integer attribute "collective", the index into Program::collectives.
struct Collective {
    std::string name;  ///< unique in its program: "gradients_1", "stem/batch_norm_1.statistics"
    CollectiveKind kind = CollectiveKind::all_reduce;
    int buffer = -1;          ///< index into Plan::buffers
    std::int64_t offset = 0;  ///< bytes from the start of the buffer, a multiple of kAlignment
    std::int64_t bytes = 0;   ///< whole elements; gaps between tensors are exchanged with them
    DType dtype = DType::f32;
    int start = -1;               ///< index into Program::steps
    int wait = -1;                ///< likewise, behind `start`
    std::vector<int> parameters;  ///< indices into Plan::parameters: whose gradients these are
    double seconds = 0;  ///< predicted for Target::ranks ranks on Plan::machine; 0: one rank
    Compression compression = Compression::full;
    double density = 0;  ///< of top_k: the part of the elements that travels
    int residual = -1;   ///< of top_k: what was not sent yet, an index into Plan::buffers
    int scratch = -1;    ///< memory of the exchange's own, an index into Plan::buffers; -1: none
};

struct Output {
    std::string name;  ///< "loss", "categorical_accuracy", "predictions"
    int tensor = -1;
};

/// A tensor that the runtime fills before each batch.
struct Input {
    InputRole role = InputRole::feature;
    int index = 0;  ///< which of the features or targets; 0 for other roles
    int tensor = -1;
};

/// A straight list of steps for one batch size. The prologue runs once before the first batch of a
/// pass over data (inference weights folded with batch norm); the steps run for every batch.
struct Program {
    std::string name;  ///< unique, for people: "train", "train_tail", "evaluate_tail_2"
    ProgramKind kind = ProgramKind::train;
    ProgramPhase phase = ProgramPhase::training;
    std::int64_t batch = 0;
    std::vector<Tensor> tensors;
    std::vector<Step> prologue;
    std::vector<Step> steps;
    std::vector<Collective> collectives;  ///< of `steps`, in the order of their starts
    std::vector<Output> outputs;
    std::vector<Input> inputs;
};

/// How a parameter's or a state's first value is made. Random kinds draw element i (logical index)
/// from Philox keyed by (seed, "initialise", stream), so the value depends neither on layout nor on
/// threads.
struct Initializer {
    std::string kind = "zeros";  ///< one of initializer.hpp
    std::int64_t fan_in = 0;
    std::int64_t fan_out = 0;
    std::int64_t stream = 0;
    /// The kind's numbers, all of them real: {"mean": 0.0, "deviation": 0.05}.
    Attributes numbers = {};
};

/// A value that persists: weights, biases, moving statistics (not trainable), optimizer state.
struct Parameter {
    std::string name;  ///< "conv2d_1.weights": layer name, dot, role
    std::string role;  ///< weights, bias, gamma, beta, running_mean, running_variance, or the
                       ///< optimizer's slot
    ParameterKind kind = ParameterKind::weight;
    bool trainable = false;
    bool optimizer_state = false;  ///< kept in checkpoints, never in exported weights
    DType dtype = DType::f32;
    Dims dims;  ///< as users and weight files know it (a dense layer's weights are [in, out])
    /// The physical arrangement: view the logical elements as `physical_dims`, row-major, stored in
    /// `order`. Differs from `dims` only where flatten was absorbed (dense weights [C,H,W,units]
    /// stored H,W,C,units).
    Dims physical_dims;
    Order order;
    int buffer = -1;
    std::int64_t offset = 0;  ///< bytes from the start of the buffer
    /// Each rank has values of its own; a checkpoint holds those of all. False: the same on all
    /// ranks between two updates (moving statistics with local batches apart).
    bool by_rank = false;
    Initializer initializer;
    int layer = -1;
    Place place;
};

/// A weight that training leaves as it is, because the job says so.
inline bool is_frozen(const Parameter& parameter) {
    return parameter.kind == ParameterKind::weight && !parameter.trainable;
}

/// The attribute of a layer that names the one whose parameters it has in place of its own.
inline constexpr const char* kShare = "share";

struct Layer {
    int index = 0;  ///< as shown in the layer table, from 0
    std::string name;
    std::string type;
    Dims output_shape;            ///< without the batch
    Axes output_axes;             ///< what its axes are
    Dims weights_shape;           ///< empty: none
    std::int64_t parameters = 0;  ///< elements, moving statistics included
    std::int64_t trainable = 0;
    Attributes attributes;           ///< as the user wrote them or their defaults
    std::vector<std::string> from;   ///< names of the layers it reads; "input" is the model's input
    std::int64_t forward_flops = 0;  ///< per sample
    Place place;
};

struct ResolvedValue {
    std::string path;   ///< "training.batch_size"
    std::string value;  ///< as JSON text
    OriginKind origin = OriginKind::fallback;
    Place place;  ///< for files; for the command line, `file` holds the argument's text
    /// What another value means, and why: a clause. Of fields of layers nothing is said here
    /// (diff/layer_meanings.hpp); what nothing is said of is taken to change the mathematics.
    Meaning meaning = Meaning::mathematics;
    std::string reason = {};
};

/// What is measured besides the loss. The runtime reads a program's output once a batch and joins
/// the batches by the metric's type, exactly over all samples (runtime/train/metrics.hpp).
struct Metric {
    std::string name;  ///< in the history, unique: "top_5_accuracy"
    std::string type;  ///< "top_k_accuracy"
    Attributes attributes;
    std::string output;  ///< of programs that train or evaluate; several metrics may share one
    bool operator==(const Metric&) const = default;
};

/// Fields of the optimizer, and `frozen`, for the parameters whose names match.
struct ParameterGroup {
    std::string pattern;  ///< with `*` and `?`: "*.bias", "stage_1/*"
    Attributes attributes;
    bool operator==(const ParameterGroup&) const = default;
};

/// When a checkpoint is written; zero: not for that reason.
struct CheckpointRule {
    std::int64_t every_steps = 0;
    double every_seconds = 0;
    std::int64_t every_epochs = 0;
    std::int64_t keep = 2;  ///< the last so many are kept
    bool operator==(const CheckpointRule&) const = default;
};

/// Its members, with their documents: training.def.
struct Training {
#define TRAINING_MEMBER(type, name, ...) type name = __VA_ARGS__;
#include "plan/training.def"
#undef TRAINING_MEMBER
};

/// How the training is shared between ranks (docs/parallel.md). The data is: each rank has all
/// weights, takes its part of every global batch (plan/rules/parallel.hpp), and the gradients are
/// added up. Every gradient is weighted by the batch's share (InputRole::batch_weight) before, so
/// the sum is the gradient of the global batch's mean loss, whatever the ranks' parts are. With
/// `local_steps` each rank moves its own weights instead, and these are averaged now and then.
struct Parallel {
    bool data = false;      ///< false: one rank only, and the programs have no collectives
    bool any_ranks = true;  ///< false: exactly Target::ranks
    ReductionMode reduction = ReductionMode::overlapped;
    BatchStatistics batch_statistics = BatchStatistics::local;
    RateScaling learning_rate_scaling = RateScaling::none;
    std::int64_t bucket_bytes = 0;  ///< most bytes of gradients in one exchange, as chosen
    double timeout_seconds = 300;   ///< a rank that waits longer for the others ends the job
    OptimizerState optimizer = OptimizerState::replicated;
    Compression compression = Compression::full;  ///< of gradients
    double density = 0;                           ///< of top_k
    std::int64_t local_steps = 0;  ///< updates between two averages of the weights; 0: none
    WeightAverage average = WeightAverage::avg;
    Participation participation = Participation::all;
    std::int64_t min_avail = 0;  ///< ranks with data that an average takes at least
    bool private_data = false;   ///< each rank has a dataset of its own (`${rank}` in its paths)
    bool operator==(const Parallel&) const = default;
};

/// A machine as its spec describes it (kind: machine); what is not known is zero. Rates are those
/// that a run reaches, as `dtnnc calibrate` measures them, not the peak.
/// The devices of a machine's nodes. Rates are those that kernels reach on one of them.
struct Gpus {
    std::string model;               ///< "H100 SXM"; for people
    int count = 0;                   ///< of a node; 0: it has none, or none is known
    std::int64_t memory_bytes = 0;   ///< of one
    std::int64_t library_bytes = 0;  ///< of it, what driver and libraries take for themselves
    double f32_rate = 0;             ///< flop/s of products and convolutions, by what they compute
    double f64_rate = 0;             ///< with (Target::dtype, Target::compute)
    double tf32_rate = 0;
    double bf16_rate = 0;         ///< of values of 16 bits, fp16 too
    double memory_bandwidth = 0;  ///< bytes/s of its own memory
    double host_bandwidth = 0;    ///< bytes/s of copies from the host
    double step_overhead = 0;     ///< seconds that a step of a captured program takes at least
    double latency = 0;           ///< seconds, alpha, between devices of a node
    double bandwidth = 0;         ///< bytes/s, 1/beta, of one device, likewise
    bool operator==(const Gpus&) const = default;
};

struct Machine {
    std::string name;  ///< empty: none was named
    int nodes = 1;
    int cores = 0;                     ///< of a node
    std::int64_t memory_bytes = 0;     ///< of a node
    std::string isa;                   ///< as in Target; empty: not said
    double product_rate = 0;           ///< flop/s of matrix products, one core, f32
    double convolution_rate = 0;       ///< flop/s of convolutions, one core, f32
    double memory_bandwidth = 0;       ///< bytes/s that one core reads and writes
    double node_memory_bandwidth = 0;  ///< likewise all cores of a node together
    double thread_efficiency = 0;      ///< what a second thread adds, of what the first does
    double step_overhead = 0;          ///< seconds that a step of a program takes at least
    double decode_rate = 0;            ///< samples/s a data worker prepares, of 32x32x3 pixels
    double network_latency = 0;        ///< seconds, alpha, between nodes
    double network_bandwidth = 0;      ///< bytes/s, 1/beta, of one rank, between nodes
    double local_latency = 0;          ///< likewise between ranks of one node
    double local_bandwidth = 0;
    /// Rates of classes of kernels, one core, f32, flop/s or bytes/s (plan/forecast/rates.def).
    Attributes kernels;
    double compute_error = 0;   ///< by what share its calibration's steps differ from the forecast
    double exchange_error = 0;  ///< likewise of exchanges
    Gpus gpus;
    Attributes slurm;  ///< of its batch scripts, texts: "setup", "constraint", "qos"
    bool operator==(const Machine&) const = default;
};

/// Parameters that ranks update in parts: one stretch of memory, as many equal parts as
/// Target::ranks, each at a multiple of kAlignment. The optimizer's state is of the rank's own
/// part.
struct Shard {
    std::string name;             ///< of its gradients' exchange
    std::vector<int> parameters;  ///< weights, indices into Plan::parameters, in the order of
                                  ///< their offsets in their one buffer
    std::int64_t part = 0;        ///< elements of one part
    std::vector<int> states;      ///< indices into Plan::parameters: dims {part}, by_rank; or one
                                  ///< number, the same on all ranks
    bool operator==(const Shard&) const = default;
};

/// Memory of one rank, in bytes, as the summary shows it. `arena` is what the runtime allocates for
/// tensors; `staging` is what the data pipeline adds (batches prepared ahead), what metrics keep of
/// a pass, and what rank 0 gathers for a checkpoint.
struct Memory {
    std::int64_t parameters = 0;
    std::int64_t optimizer = 0;
    std::int64_t inputs = 0;
    std::int64_t transient = 0;  ///< activations, gradients and workspaces, after sharing
    std::int64_t arena = 0;
    std::int64_t staging = 0;
    std::int64_t samples = 0;  ///< what the dataset keeps in memory
};

struct Plan {
    // Defined in plan.cpp, because what they do to all these lists takes seconds to compile.
    Plan();
    Plan(const Plan&);
    Plan(Plan&&) noexcept;
    Plan& operator=(const Plan&);
    Plan& operator=(Plan&&) noexcept;
    ~Plan();

    std::string generator;  ///< "dtnnc 0.2.0"
    std::string name;       ///< the job's
    std::string model;      ///< the model's
    Target target;
    Training training;
    Dataset dataset;
    Parallel parallel;
    Machine machine;
    Memory memory;
    Prediction prediction = Prediction::scores;  ///< what the program "predict" gives
    std::vector<Layer> layers;
    std::vector<Parameter> parameters;
    std::vector<Buffer> buffers;
    std::vector<Shard> shards;       ///< where the optimizer is sharded
    std::vector<Refusals> refusals;  ///< each list once, however many steps it is true of
    std::vector<Program> programs;
    std::vector<std::string> passes;    ///< in the order they ran; a disabled one is marked "-name"
    std::vector<ResolvedValue> values;  ///< the resolved specs, with the origin of every value
    std::string resolved_spec;          ///< the same as one YAML document, for people
};

/// Whether the first input is channels, height and width of real numbers. All other inputs are
/// arrays, which no transform changes.
bool has_image(const Dataset& dataset);
/// The input of that name; the first where none has it.
const Feature& input_of(const Dataset& dataset, std::string_view name);

/// Null: the program is not fed it.
const Input* find_input(const Program& program, InputRole role, int index = 0);

/// Of a program that generates: how many steps of each text it takes at once, by its first feature.
std::int64_t steps_at_once(const Program& program);

/// Null: none. Of a kind the first, which is the one for whole batches.
const Program* find_program(const Plan& plan, ProgramKind kind);
const Program* find_program(const Plan& plan, const std::string& name);

}  // namespace dtnn::plan
