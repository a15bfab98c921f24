#pragma once
/// The field tables of the spec kinds. Operators' tables are in the operator registry.

#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

/// A kind of spec: its name, what `dtnnc explain` says about it, and its fields.
struct KindInfo {
    std::string_view name;    ///< "job", as in `kind: job`
    std::string_view folder;  ///< the folder of its specs: "jobs"
    std::string_view doc;
    std::string_view example;
    const FieldTable* fields;
};

const std::vector<KindInfo>& all_kinds();  ///< job, model, dataset, training
const KindInfo* find_kind(std::string_view name);

const FieldTable& job_table();
const FieldTable& model_table();
const FieldTable& dataset_table();
const FieldTable& training_table();

/// The fields of `input` in a model.
const FieldTable& input_table();
/// What every layer takes besides its operator's fields: `name` and `from`.
const FieldTable& layer_table();
/// `branches`, which add and concat take besides.
const FieldTable& branches_table();
/// The declaration of a block, of one of its parameters.
const FieldTable& block_table();
const FieldTable& block_parameter_table();
/// The entries `repeat` and `if` of a list of layers.
const FieldTable& repeat_table();
const FieldTable& if_table();

/// The dataset fields that a dataset type takes besides kind, name, extends and type.
std::vector<std::string_view> fields_of_dataset_type(std::string_view type);

/// Optimizers by name; null when there is none.
const FieldTable* optimizer_table(std::string_view name);
std::string_view optimizer_doc(std::string_view name);
std::vector<std::string_view> optimizer_names();

}  // namespace dtnn::compiler
