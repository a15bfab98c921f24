#pragma once
/// Specs after composition and validation: typed, complete (defaults filled in), every value with
/// its place.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/expression/expression.hpp"
#include "compiler/frontend/spec_kind.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/ops/shared_form.hpp"
#include "compiler/support/diagnostics.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

/// One layer of the expanded model.
struct LayerSpec {
    std::string type;  ///< an operator that is a layer
    /// Given, or made: type_index ("conv2d_2"), below the blocks and named repeats that it is in
    /// ("stage_1/basic_2/conv2d_2"); unique in the model.
    std::string name;
    Attributes fields;  ///< checked against the operator's table, defaults filled in
    std::vector<ParameterRule> parameters;  ///< beside those of its operator
    std::string formula;                    ///< the model's operator that it is a use of, if any
    Attributes formula_values;              ///< the parameters of that use
    std::map<std::string, Span> spans;      ///< of the fields the user wrote
    std::vector<int> sources;  ///< indices into the model's layers; -1, -2 ...: into its inputs
    std::optional<std::size_t> share;  ///< the layer that `share` names, before this one
    /// Of its parameters those that are another layer's, by role.
    struct SharedParameter {
        std::size_t layer;  ///< which has it as its own
        SharedForm form;
    };
    std::map<std::string, SharedParameter> shared;
    Dims shape;  ///< of its result, without the batch
    Axes axes;   ///< what those of the shape are
    Span span;   ///< of its type, where it is written
};

/// An operator that a model declares by its formula.
struct FormulaSpec {
    struct Name {
        std::string name;
        std::string kind;  ///< for people: "the input", "a real number, 1 by default"
        bool has_slope;    ///< training needs the derivative by it
    };
    std::string name, doc;
    bool is_loss = false;
    std::string text;         ///< as it is written
    std::vector<Name> names;  ///< x, or p and t of a loss; then the parameters
    Expression forward;       ///< over them, in that order
    /// As a spec declares it, without what uses say: "{parameters: {b: {type: real}}, forward:
    /// ...}"
    std::string declaration;
    Span span;  ///< of its name
};

/// What a model reads of each sample.
struct InputSpec {
    std::string name;         ///< for `from`; empty: the only one
    Dims shape = {};          ///< empty after a diagnostic; of images channels, height, width
    Axes axes = {};           ///< what those of the shape are
    std::int64_t values = 0;  ///< how many an integer may have, from 0; 0: real numbers
    Span span = {};           ///< of the shape
    bool integers() const { return values > 0; }
    bool is_image() const { return axes.empty() ? !integers() : axes == image_axes(); }
};

struct ModelSpec {
    std::string name;
    std::vector<InputSpec> inputs = std::vector<InputSpec>(1);  ///< the first is `input`
    /// Blocks, repeats, branches and expressions worked out: every layer after those it reads, the
    /// branches' before the layer that joins them. The last is the model's output.
    std::vector<LayerSpec> layers;
    std::vector<FormulaSpec> operators;  ///< those that are sound
    std::map<std::string, Span> spans;   ///< of the fields the user wrote
    Span span;
    /// Entries of `layers` in the model that this one extends, which its own replace.
    std::size_t replaced_layers = 0;

    const InputSpec& input() const { return inputs.front(); }
    /// The input that a negative source of a layer stands for.
    const InputSpec& input_of(int source) const { return inputs[std::size_t(-1 - source)]; }
};

struct DatasetSpec {
    plan::Dataset dataset;   ///< sizes before the validation split
    Attributes type_fields;  ///< the fields of its type, defaults filled in
    double sample_percentage = 100;
    std::set<std::string, std::less<>> found;  ///< fields that the files said, not the spec
    /// Of the fields the user wrote, by path: "path", "transforms[0]" (a member's name),
    /// "transforms[0].normalize.mean".
    std::map<std::string, Span> spans;
    Span span;
};

struct TrainingSpec {
    std::string name;  ///< empty: none given
    plan::Training training;
    DType dtype = DType::f32;
    plan::Compute compute = plan::Compute::full;
    plan::Numerics numerics = plan::Numerics::fast;
    /// Of all ranks together; 0: not given. In a job whose number of ranks is known
    /// training.batch_size is a rank's share of it.
    std::int64_t global_batch_size = 0;
    /// Of the fields the user wrote, by path: "epochs", "optimizer" (a member's name),
    /// "optimizer.adam.beta1", "schedules[0]", "schedules[0].cosine.epochs", "groups[1].frozen".
    std::map<std::string, Span> spans;
    Span span;
};

/// As a plan has it: formulas of schedules, which a run computes, in postfix.
plan::Training planned_training(const TrainingSpec& spec);

/// How ranks share the training: the job's `parallel`, and what --ranks makes of it.
struct ParallelSpec {
    plan::Parallel parallel;  ///< bucket_bytes 0: chosen by the compiler
    bool given = false;       ///< the job has the field
    std::string data;         ///< as it is written: "auto", "none", "4"; empty: not given
    bool takes_any_ranks() const { return data == "auto"; }
    std::map<std::string, Span> spans;  ///< of the fields the user wrote: "data", "bucket_size"
    Span span;
};

struct MachineSpec {
    plan::Machine machine;  ///< without a name: the job names none
    std::string
        processor;  ///< as the system names it; empty: not given. It decides, and is not in plans
    std::map<std::string, Span>
        spans;  ///< of the fields the user wrote: "cores", "network.latency"
    Span span;
};

struct JobSpec {
    std::string name;
    std::string file;  ///< the job's (or model's) own file, as the user named it
    ModelSpec model;
    DatasetSpec dataset;
    TrainingSpec training;
    ParallelSpec parallel;
    MachineSpec machine;
    int ranks = 1;                   ///< that the figures are for
    int threads = 0;                 ///< 0: decided by the compiler's caller
    int data_workers = 1;            ///< threads that prepare batches
    bool pin_threads = false;        ///< each thread that computes stays on a core of its own
    std::int64_t memory_budget = 0;  ///< bytes per rank, 0: none
    plan::KernelPreference prefer = plan::KernelPreference::none;
    std::int64_t prompts = 0;           ///< texts that are generated at once; 0: none are
    std::map<std::string, Span> spans;  ///< of the job's own fields that the user wrote,
                                        ///< "kernels.prefer" too
    bool model_alone = false;  ///< loaded from a model file: the dataset was made to fit it
    std::vector<plan::ResolvedValue> values;
    std::string resolved_text;  ///< one YAML document
};

/// Why a dataset's files could not be looked at, and what can be done.
struct DataFault {
    std::string fact, help;
};
/// Looks into the files of a dataset for what its spec leaves out: sizes and classes of 0, an empty
/// stored shape, no names. Fills them in, or returns why it cannot. The compiler reads no samples
/// by itself.
using FindData = std::function<std::optional<DataFault>(plan::Dataset&)>;

struct LoadOptions {
    std::vector<std::string> spec_path;  ///< searched after the file's own folder, in order
    std::vector<std::string> settings;   ///< "training.batch_size=128", from --set
    /// Texts of files that need not be on disk, by the names they are referred to by.
    std::map<std::string, std::string> texts = {};
    int ranks = 0;                        ///< from --ranks; 0: not given
    FindData find_data = {};              ///< null: specs must say everything
    std::vector<std::string> allow = {};  ///< lints that are not said: "no-shuffle", from --allow
    bool lint = false;                    ///< load_job warns of what is odd, as check_spec does
};

/// Reads, composes and validates a job (or a model alone, which then gets the default dataset and
/// training, so that it can be summarised and checked). Never throws for a user's mistake: see
/// `diagnostics`. The result is only meaningful when `diagnostics` has no errors.
JobSpec load_job(const std::string& path, const LoadOptions& options, Diagnostics& diagnostics);

/// What a file was found to be, of the parts those that its kind has.
struct CheckedSpec {
    std::optional<SpecKind> kind;  ///< nothing: it could not be read
    DatasetSpec dataset;
    TrainingSpec training;
    MachineSpec machine;
};

/// Checks one file: a job or a model as load_job and build_graph see it, a dataset, a training or a
/// machine on its own. What it returns is only meaningful when `diagnostics` has no errors.
CheckedSpec check_spec(const std::string& path, const LoadOptions& options,
                       Diagnostics& diagnostics);

/// "4GiB", "512MiB", "1.5GB" or plain bytes; nothing when it is none of these.
std::optional<std::int64_t> parse_memory_size(std::string_view text);

/// Ranks of the fullest node, when they are spread evenly over the machine's.
int ranks_per_node(const plan::Machine& machine, int ranks);

/// That the machine's nodes have a core for each of these threads; `span` is where their number
/// comes from, nowhere when it is the command line.
void check_cores(const JobSpec& job, int threads, const Span& span, Diagnostics& diagnostics);

/// That a finished plan runs on the job's machine: its instruction set, and the memory of a node.
void check_machine(const JobSpec& job, const plan::Plan& plan, Diagnostics& diagnostics);

struct Graph;

/// The forward graph: input "source" [batch, C, H, W] of `dtype`, layers in order, parameters with
/// initializers, output "predictions"; its layer table; shape errors are diagnostics with both
/// places. The loss and the metrics are added by passes/attach_loss.
Graph build_graph(const JobSpec& job, std::int64_t batch, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
