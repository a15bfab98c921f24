#pragma once
/// Models as JSON Schema. Private to json_schema.

#include "compiler/frontend/explain/json_schema_fields.hpp"

namespace dtnn::compiler {

/// The definitions that `model` needs, itself included, into `definitions`.
void add_model_definitions(Json& definitions);

/// A loss by its formula.
Json loss_schema();

}  // namespace dtnn::compiler
