#pragma once
/// Composed trees to spec structs: every field checked against its table, every name against what
/// exists. Models and what is shared: validation.cpp; validation_dataset.cpp,
/// validation_training.cpp, validation_job.cpp, validation_carried.cpp, validation_parallel.cpp,
/// validation_machine.cpp.

#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

/// These report every mistake and return what is sound.
ModelSpec read_model(const SourceNode& tree, const std::string& default_name,
                     Diagnostics& diagnostics);
/// `find`: asked for what the spec leaves out of the counts, classes and shape of its files.
/// `inputs`: what the job's model reads; nothing without one.
DatasetSpec read_dataset(const SourceNode& tree, const std::string& default_name,
                         const FindData& find, Diagnostics& diagnostics,
                         const std::vector<InputSpec>& inputs = {});
TrainingSpec read_training(const SourceNode& tree, Diagnostics& diagnostics);
MachineSpec read_machine(const SourceNode& tree, const std::string& default_name,
                         Diagnostics& diagnostics);
ParallelSpec read_parallel(const SourceNode& node, Diagnostics& diagnostics);

/// `synchronise` of `parallel` (null: not given).
void read_synchronise(const SourceNode* node, ParallelSpec& spec, Diagnostics& diagnostics);
/// What cannot be together with ranks that move weights of their own; `${rank}` in the dataset's
/// paths, which says that each rank has data of its own. After the ranks are settled.
void settle_local_steps(JobSpec& job, Diagnostics& diagnostics);

/// Not both `batch_size` and `global_batch_size`.
void check_batch_fields(const TrainingSpec& training, Diagnostics& diagnostics);

/// The job's ranks from `parallel` and --ranks (0: not given), and from a global batch the batch of
/// a rank. Reports what contradicts itself.
void settle_ranks(JobSpec& job, int ranks_option, Diagnostics& diagnostics);

/// Silences the lints of `allow`. Before anything that may warn.
void read_allowed(const FieldValues& fields, const std::string& what, Diagnostics& diagnostics);

/// Training samples of an epoch: without those of the validation, then under- or over-sampled.
std::int64_t samples_of_epoch(const JobSpec& job);

/// That a dataset's `lengths` are of samples that the model reads step by step, all as many.
void check_sample_lengths(const JobSpec& job, Diagnostics& diagnostics);

/// Names of jobs, models and datasets become parts of file names.
void check_spec_name(const FieldValues& fields, const std::string& what, Diagnostics& diagnostics);

/// The extents of an image; else a diagnostic.
bool check_image_extents(const Dims& shape, const Span& span, const std::string& what,
                         Diagnostics& diagnostics);
/// These, not too large.
void check_sample_shape(const Dims& shape, const Span& span, const std::string& what,
                        Diagnostics& diagnostics);

/// That each schedule has an effect, and does not undo that of another of its kind.
void check_schedules(const TrainingSpec& training, Diagnostics& diagnostics);

/// That what schedules watch is computed, by a job with this dataset (null: of a training by
/// itself, whose dataset is not known).
void check_watched(const TrainingSpec& training, const DatasetSpec* dataset,
                   Diagnostics& diagnostics);

/// Between the parts of a job: a batch of one rank that is larger than its samples becomes one of
/// all of them.
void check_samples(JobSpec& job, Diagnostics& diagnostics);
/// An epoch that should end after more steps than it has would end where it does anyway.
void check_steps(const JobSpec& job, Diagnostics& diagnostics);
void check_shapes(const JobSpec& job, Diagnostics& diagnostics);
/// Where samples are their own labels, the form of these follows from what the model gives: images,
/// or rows of all numbers.
void settle_target(JobSpec& job);
/// Whether the model reads what datasets give of themselves: one array of real numbers.
bool reads_plainly(const ModelSpec& model);
/// Text is generated where the classes of a step are those of the next token.
void check_generation(const JobSpec& job, Diagnostics& diagnostics);
/// What inputs that have names, are of integers or are no images ask of the dataset.
void check_inputs(const JobSpec& job, Diagnostics& diagnostics);

/// Where batches carry states (`carry_state`): that samples can follow one another, and layers have
/// states that can be carried; samples then come in lanes in place of being shuffled.
void settle_carried_state(JobSpec& job, Diagnostics& diagnostics);

/// The place of a whole spec: where it was referred to, else its first field.
Span span_of(const SourceNode& tree);
/// Where a field was written, else `other`.
Span span_or(const std::map<std::string, Span>& spans, const std::string& name, const Span& other);
/// Values that the compiler put into the tree (a name made of the file's) count as defaults.
void forget_made(std::map<std::string, Span>& spans);

/// Reads the members of a field of type variant_list; notes their places under
/// "FIELD[0]" and "FIELD[0].MEMBER.FIELD".
ReadComponents read_member_list(const SourceNode& node, const Field& field, const std::string& what,
                                std::map<std::string, Span>& spans, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
