#pragma once
/// A type of dataset as specs know it: its fields, its document, and what its fields must fulfil
/// together. What compiler and runtime both ask about one: plan/dataset_types.hpp.

#include "compiler/frontend/datasets/dataset_checks.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "plan/dataset_types.hpp"

namespace dtnn::compiler {

/// Each type's file has one of these: its fields, its document, and what its fields must fulfil
/// together.
#define DATASET_TYPE(name, ...) ComponentInfo name##_type();
#include "plan/dataset_types.def"
#undef DATASET_TYPE

}  // namespace dtnn::compiler
