#pragma once
/// The field tables of the spec kinds. Operators' tables are in the operator registry.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/spec_kind.hpp"
#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

/// A kind of spec: its name, what `dtnnc explain` says about it, and its fields.
struct KindInfo {
    SpecKind kind;
    std::string_view name;    ///< "job", as in `kind: job`
    std::string_view folder;  ///< the folder of its specs: "jobs"
    std::string_view doc;
    std::string_view example;
    const FieldTable* fields;
};

const std::vector<KindInfo>& all_kinds();  ///< in the order of SpecKind
const KindInfo* find_kind(std::string_view name);
const KindInfo& info_of(SpecKind kind);
std::string with_article(std::string_view kind);  ///< "an operator", "a job"

/// The row that the path of a resolved value leads to: "training.schedules[0].cosine.epochs",
/// "parallel.wire"; of a model's parameters the row `parameters`. Null for layers' fields.
const Field* field_of_path(std::string_view path);

/// The rows that several kinds have; `reason` is why another name is no other training.
Field kind_field(std::string_view kind, std::string_view doc = "the kind of spec");
Field name_field(std::string_view doc, std::string_view reason);
Field extends_field(std::string_view doc);
Field description_field(std::string_view doc);
/// `allow` of every kind that lints look at: lints that are not said of a spec.
Field allow_field();

const FieldTable& job_table();
const FieldTable& model_table();
const FieldTable& dataset_table();
const FieldTable& training_table();
const FieldTable& machine_table();

/// The map `parallel` of a job; the maps `network` and `local`, and `kernels`, of a machine.
const FieldTable& synchronise_table();  ///< of `parallel`
const FieldTable& parallel_table();
const FieldTable& kernel_wish_table();  ///< `kernels` of a job
const FieldTable& generation_table();   ///< `generation` of a job
const FieldTable& network_table();      ///< of ranks on different nodes
const FieldTable& local_table();        ///< of ranks on one node
const FieldTable& gpus_local_table();   ///< of devices on one node
const FieldTable& kernel_rate_table();
const FieldTable& gpus_table();
const FieldTable& slurm_table();

/// The fields of `input` in a model.
const FieldTable& input_table();
const FieldTable& named_input_table();  ///< of those of `inputs`
/// What every layer takes besides its operator's fields: `name`, `from` and `share`.
const FieldTable& layer_table();
/// `branches`, which add and concat take besides.
const FieldTable& branches_table();
/// The declaration of a block, of one of its parameters.
const FieldTable& block_table();
const FieldTable& operator_table();       ///< of what stands under `operators`
const FieldTable& loss_operator_table();  ///< of what says there that it is a loss
const FieldTable& block_parameter_table();
const FieldTable& operator_parameter_table();
const FieldTable& loss_parameter_table();
/// The entries `repeat` and `if` of a list of layers.
const FieldTable& repeat_table();
const FieldTable& if_table();

/// The fields that every type of dataset has, before and behind those of its type
/// (components.hpp: dataset_types); dataset_table() has all of all types.
const FieldTable& dataset_head_table();
const FieldTable& dataset_tail_table();

/// The maps of fields inside a training: an entry of `groups` (besides, it takes the fields of the
/// optimizer but for its learning rate), `clip`, `average`, `checkpoint`.
const FieldTable& group_table();
const FieldTable& clip_table();
const FieldTable& average_table();
const FieldTable& checkpoint_table();
/// What an entry of `groups` takes besides with this optimizer; without, with any of them.
FieldTable group_optimizer_fields(std::string_view optimizer = {});
/// All that an entry of `groups` takes, with any optimizer.
const FieldTable& any_group_table();

}  // namespace dtnn::compiler
