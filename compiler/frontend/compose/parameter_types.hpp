#pragma once
/// The values to which --set, or a model that extends it, may set a parameter of a model: those of
/// the type that its declaration shows.

#include "compiler/frontend/yaml/source_tree.hpp"
#include "compiler/support/diagnostics.hpp"

namespace dtnn::compiler {

/// Whether `value` may take the place of what is declared; a diagnostic at the value (at `fallback`
/// where the value has no place) if not. Expressions are taken for what they will be.
bool keeps_type(const SourceEntry& declared, const SourceNode& value, const Span& fallback,
                Diagnostics& diagnostics);

/// An integer for a real parameter, which stays real in every expression: its text gets ".0".
bool is_integer_for_real(const SourceEntry& declared, const SourceNode& value);

/// Checks what `over` gives for parameters that `base` declares; both are maps of models. Integers
/// for real parameters are made real, refused values are taken out.
void check_parameters(const SourceNode& base, SourceNode& over, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
